"""Learn the score of abstentions from labelled sentences: `python benchmarks/training/train_abstentions.py`.

    ... --leave-out    print precision and recall by sentence on each set, learned from the others

The same bytes each time and on every machine: plain Python, no library whose last digits depend on it.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rag_otel_evaluators.text.abstaining import ABSTAINS_FROM, SIZE, WEIGHTS, features_of, may_abstain, tokens_of
from rag_otel_evaluators.text.sentences import sentence_spans

ROOT: Final = Path(__file__).resolve().parents[2]
_SETS: Final = ROOT / "benchmarks" / "contrast" / "abstention_dev"
_ANSWERS: Final = ROOT / "examples" / "data" / "ragtruth_qa_dev.jsonl"
_LEARNED: Final = ("a", "b", "d", "e", "f", "h", "i")
"""Not c, g and j: they were only measured."""
_COST: Final = 5.0
_PASSES: Final = 15
_PAIRS: Final = ROOT / "benchmarks" / "contrast" / "pairs.jsonl"
_SOURCE_WORDS: Final = (
    "passage",
    "document",
    "text",
    "context",
    "kontext",
    "source",
    "quelle",
    "fuente",
    "文",
    "资料",
    "信息",
)
_FACT_COUNTS: Final = 1.0
_PLAIN_COUNTS: Final = 4.0
"""What an abstention that everybody says counts."""
_ANSWER_COUNTS: Final = 0.3
"""What a sentence of an ordinary answer counts beside a labelled one."""

Example = tuple[str, int, float]
"""A sentence, 1 where it abstains, what it counts."""


def labelled(name: str) -> list[tuple[str, int]]:
    """(sentence, 1 where it abstains) of a set; of whole texts those whose label holds for the sentence."""
    found: list[tuple[str, int]] = []
    for line in (_SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "sentences" in row:
            found += [(sentence["text"], int(sentence["kind"] == "abstains")) for sentence in row["sentences"]]
            continue
        spans = list(sentence_spans(row["text"]))
        if row["label"] == "answers" or (row["label"] == "abstains" and len(spans) == 1):
            found += [(row["text"][start:end], int(row["label"] == "abstains")) for start, end in spans]
    return found


def examples(names: Iterable[str]) -> list[Example]:
    """The sentences of the sets, facts in the words of abstentions, plain abstentions, and ordinary answers."""
    found = [(text, label, 1.0) for name in names for text, label in labelled(name)]
    found += [(text, 0, 1.0) for text in (_SETS / "facts.txt").read_text(encoding="utf-8").splitlines()]
    found += [(text, 1, _PLAIN_COUNTS) for text in (_SETS / "plain.txt").read_text(encoding="utf-8").splitlines()]
    found += [(text, 0, _FACT_COUNTS) for text in short_answers()]
    for line in _ANSWERS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found += [
            (row["response"][start:end], 0, _ANSWER_COUNTS)
            for start, end in sentence_spans(row["response"])
            if "passage" not in row["response"][start:end].lower()  # those may abstain
        ]
    return [example for example in found if may_abstain(example[0])]


def short_answers() -> list[str]:
    """Short answers with facts, many of which deny something; those that speak of sources left out."""
    rows = [json.loads(line) for line in _PAIRS.read_text(encoding="utf-8").splitlines()]
    texts = [row[side] for row in rows for side in ("faithful", "unfaithful")]
    return [text for text in texts if not any(word in text.lower() for word in _SOURCE_WORDS)]


def train(rows: Sequence[Example]) -> bytes:
    """The table of weights: a support vector machine with squared hinge loss.

    Dual coordinate descent (Hsieh et al., A Dual Coordinate Descent Method for Large-scale Linear SVM, 2008).
    """
    features = [sorted(set(features_of(tokens_of(text)))) for text, _, _ in rows]
    norms = [len(each) ** -0.5 for each in features]
    weights, alphas = [0.0] * SIZE, [0.0] * len(rows)
    order, shuffled = list(range(len(rows))), random.Random(1)
    for _ in range(_PASSES):
        shuffled.shuffle(order)
        for at in order:
            _, label, counts = rows[at]
            side, slack = (1.0 if label else -1.0), 1 / (2 * _COST * counts)
            margin = sum([weights[feature] for feature in features[at]]) * norms[at]
            alpha = max(0.0, alphas[at] - (side * margin - 1 + alphas[at] * slack) / (1.0 + slack))
            if step := (alpha - alphas[at]) * side * norms[at]:
                alphas[at] = alpha
                for feature in features[at]:
                    weights[feature] += step
    scale = max(map(abs, weights)) / 127
    return bytes(round(weight / scale) & 255 for weight in weights)


def leave_out() -> None:
    """Print precision and recall of each set with the table learned from the others."""
    pooled = [0, 0, 0]
    for name in ("d", "e", "f", "h", "i"):
        table = memoryview(train(examples(other for other in _LEARNED if other != name))).cast("b")
        counts = [0, 0, 0]
        for text, label in labelled(name):
            features = list(features_of(tokens_of(text)))
            score = sum(table[feature] for feature in features) / len(features) ** 0.5
            found = may_abstain(text) and score >= ABSTAINS_FROM
            counts = [counts[0] + (found and label), counts[1] + found, counts[2] + label]
        pooled = [one + other for one, other in zip(pooled, counts, strict=True)]
        print(f"{name}: precision {counts[0] / counts[1]:.3f}, recall {counts[0] / counts[2]:.3f}")
    print(f"all: precision {pooled[0] / pooled[1]:.3f}, recall {pooled[0] / pooled[2]:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leave-out", action="store_true", help="measure on each set, learned from the others")
    parser.add_argument("--output", type=Path, default=WEIGHTS, help="where the weights go")
    options = parser.parse_args()
    if options.leave_out:
        leave_out()
    else:
        options.output.write_bytes(train(examples(_LEARNED)))


if __name__ == "__main__":
    main()
