"""Train the score of abstentions from the labelled sets; the same bytes each time and on every machine.

    python -m rag_otel_evaluators.text.abstention_training               # write the weights
    python -m rag_otel_evaluators.text.abstention_training --leave-out   # print how it does on a writer left out

Plain Python: no library whose last digits depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rag_otel_evaluators.text.abstaining import split_by
from rag_otel_evaluators.text.abstention_score import (
    SIZE,
    WEIGHTS,
    AbstentionScore,
    joint_features,
    single_features,
    tokens,
)
from rag_otel_evaluators.text.sentences import sentence_spans

ROOT: Final = Path(__file__).resolve().parents[3]
_SETS: Final = ROOT / "benchmarks" / "contrast" / "abstention_dev"
_PAIRS: Final = ROOT / "examples" / "data" / "contrast_train.jsonl"
_LONG_ANSWERS: Final = ROOT / "examples" / "data" / "ragtruth_qa_dev.jsonl"
_NEW: Final = ("d", "e", "f", "h", "i")
_FACTS: Final = _SETS / "facts.txt"
_LEAST: Final = 3
"""Sentences that a feature must be in."""
_COST: Final = 5.0
_PASSES: Final = 15
_ANSWER_WEIGHT: Final = 0.3
"""What an ordinary answer counts beside a labelled sentence."""

Example = tuple[str, int, float]
"""A sentence, 1 where it abstains, what it counts."""


def labelled(name: str) -> list[tuple[str, str]]:
    """(sentence, kind) of a set; of whole texts those whose label holds for the sentence."""
    found: list[tuple[str, str]] = []
    for line in (_SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "sentences" in row:
            found += [(sentence["text"], sentence["kind"]) for sentence in row["sentences"]]
            continue
        spans = list(sentence_spans(row["text"], 0, len(row["text"])))
        if row["label"] == "answers" or (row["label"] == "abstains" and len(spans) == 1):
            kind = "abstains" if row["label"] == "abstains" else "claims"
            found += [(row["text"][start:end], kind) for start, end in spans]
    return found


def answers() -> list[Example]:
    """Ordinary answers, nearly all of which claim something, labelled by the rules.

    They keep what is learned near the rules on the answers that the embedded judge is trained on.
    """
    pairs = [json.loads(line) for line in _PAIRS.read_text(encoding="utf-8").splitlines()]
    texts = [
        row[key] for row in pairs if not row["origin"].startswith("writer") for key in ("faithful", "unfaithful")
    ]  # the pairs of those writers came when the score had been measured
    for line in _LONG_ANSWERS.read_text(encoding="utf-8").splitlines():
        response = json.loads(line)["response"]
        texts += [response[start:end] for start, end in sentence_spans(response, 0, len(response))]
    return [(text, int(bool(split_by(text, None))), _ANSWER_WEIGHT) for text in texts]


def examples(names: Iterable[str]) -> list[Example]:
    """The sentences of the sets, the facts and the ordinary answers."""
    found = [(text, int(kind == "abstains"), 1.0) for name in names for text, kind in labelled(name)]
    facts = [(text, 0, 1.0) for text in _FACTS.read_text(encoding="utf-8").splitlines()]
    return [*found, *facts, *answers()]


def train(rows: Sequence[Example]) -> tuple[bytes, float]:
    """(table, scale): a support vector machine with squared hinge loss.

    Dual coordinate descent (Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, 2008).
    """
    counted = [_features(text) for text, _, _ in rows]
    seen = Counter(feature for features in counted for feature in set(features))
    norms = [len(features) ** -0.5 for features in counted]
    kept = [[feature for feature in features if seen[feature] >= _LEAST] for features in counted]
    weights = [0.0] * SIZE
    alphas = [0.0] * len(rows)
    squares = [
        sum(count * count for count in Counter(features).values()) * norm * norm
        for features, norm in zip(kept, norms, strict=True)
    ]
    order = list(range(len(rows)))
    shuffled = random.Random(1)
    for _ in range(_PASSES):
        shuffled.shuffle(order)
        for at in order:
            _, label, counts = rows[at]
            side = 1.0 if label else -1.0
            slack = 1 / (2 * _COST * counts)
            margin = sum([weights[feature] for feature in kept[at]]) * norms[at]
            alpha = max(0.0, alphas[at] - (side * margin - 1 + alphas[at] * slack) / (squares[at] + slack))
            step = (alpha - alphas[at]) * side * norms[at]
            if step:
                alphas[at] = alpha
                for feature in kept[at]:
                    weights[feature] += step
    scale = max(map(abs, weights)) / 127
    packed = bytes(round(weight / scale) & 255 for weight in weights)
    return packed, scale


def _features(text: str) -> list[int]:
    words = tokens(text)
    return [*single_features(words), *joint_features(text, words)]


def leave_out() -> list[list[str]]:
    """Each new set with the score learned from the others: precision and recall of the rules, and of both."""
    pooled: Counter[str] = Counter()
    rows = []
    for name in _NEW:
        weights, scale = train(examples(other for other in ("a", "b", *_NEW) if other != name))
        found = _counts(labelled(name), AbstentionScore(weights, scale=scale))
        pooled += found
        rows.append(_line(name, found))
    return [*rows, _line("all", pooled)]


def _counts(sentences: Sequence[tuple[str, str]], score: AbstentionScore) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, kind in sentences:
        counts["abstains"] += kind == "abstains"
        for who, clauses in (("rules", split_by(text, None)), ("both", split_by(text, score))):
            found = any(abstains for abstains, _, _ in clauses)
            counts[f"{who} found"] += found
            counts[f"{who} right"] += found and kind == "abstains"
            counts[f"{who} silenced"] += found and kind == "claims"
    return counts


def _line(name: str, counts: Counter[str]) -> list[str]:
    figures = [name]
    for who in ("rules", "both"):
        right = counts[f"{who} right"]
        figures += [f"{right / counts[f'{who} found']:.3f}", f"{right / counts['abstains']:.3f}"]
        figures.append(str(counts[f"{who} silenced"]))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leave-out", action="store_true", help="measure on each new set, learned from the others")
    if parser.parse_args().leave_out:
        print("set  rules: precision recall silenced  with the score: precision recall silenced")
        for line in leave_out():
            print("  ".join(line))
        return
    write(Path(__file__).with_name(WEIGHTS))


def write(path: Path) -> None:
    """Learn from all sets and write the weights."""
    packed, scale = train(examples(("a", "b", *_NEW)))
    path.write_bytes(json.dumps({"scale": scale}).encode() + b"\n" + lzma.compress(packed, preset=9))


if __name__ == "__main__":
    main()
