"""Precision and recall of abstention on the development sets, by language.

    python benchmarks/contrast/abstention.py             # the sets that rules and score were made from
    python benchmarks/contrast/abstention.py --unseen    # and those that were only measured; prints no text

The rules were written from a and b, the score was learned from all but c, g and j.

An answer counts as abstaining where faithfulness gives the reason `abstained`: it abstains somewhere and claims
nothing. Kept: texts with a claim beside an abstention of which both are found. Silenced: answers that do not abstain
in which a sentence was taken for an abstention. The newer sets label sentences; for them precision and recall by
sentence are printed as well, each sentence by itself.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rag_otel.cli.terminal import table
from rag_otel_evaluators.text.abstaining import split_abstention
from rag_otel_evaluators.text.claim_segmentation import segment

FOLDER = Path(__file__).parent / "abstention_dev"
LANGUAGES = ("en", "es", "de", "fr", "zh")


BY_SENTENCE = "defghij"
"""Sets whose sentences are labelled."""


def load(name: str) -> list[dict[str, Any]]:
    """The rows of a set: text, language, label, and where they are labelled the sentences."""
    rows = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{**row, "text": row["text"] if "text" in row else joined(row)} for row in rows]


def joined(row: dict[str, Any]) -> str:
    """The text of labelled sentences: spaces between them, none in Chinese."""
    return ("" if row["language"] == "zh" else " ").join(sentence["text"] for sentence in row["sentences"])


def sentence_counts(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    """How many sentences are `found`, `false` (taken for an abstention), `silenced` (claims among those)."""
    found: Counter[str] = Counter()
    for sentence in [sentence for row in rows for sentence in row["sentences"]]:
        abstains = any(clause for clause, _, _ in split_abstention(sentence["text"]))
        found[sentence["kind"]] += 1
        found["found"] += abstains and sentence["kind"] == "abstains"
        found["false"] += abstains and sentence["kind"] != "abstains"
        found["silenced"] += abstains and sentence["kind"] == "claims"
    return found


def counts(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    """How many rows are `found`, `missed`, `false`, `kept` of `mixed`, and `silenced` of `answers`."""
    found: Counter[str] = Counter()
    for row in rows:
        parts = segment(row["text"])
        abstains = parts.abstained and not parts.claims
        found[row["label"]] += 1
        if row["label"] == "abstains":
            found["found" if abstains else "missed"] += 1
            continue
        found["false"] += abstains
        found["kept"] += row["label"] == "mixed" and parts.abstained and bool(parts.claims)
        found["silenced"] += row["label"] == "answers" and parts.abstained
    return found


def precision(found: Counter[str]) -> float:
    return found["found"] / max(1, found["found"] + found["false"])


def recall(found: Counter[str]) -> float:
    return found["found"] / max(1, found["abstains"])


def report(name: str) -> list[list[str]]:
    rows = load(name)
    named = [(language, [row for row in rows if row["language"] == language]) for language in LANGUAGES]
    return [
        [
            name,
            language,
            f"{precision(found):.2f}",
            f"{recall(found):.2f}",
            f"{found['kept']}/{found['mixed']}",
            f"{found['silenced']}/{found['answers']}",
        ]
        for language, found in [("all", counts(rows)), *((language, counts(part)) for language, part in named)]
    ]


def report_sentences(names: str) -> list[list[str]]:
    sets = {name: load(name) for name in BY_SENTENCE if name in names}
    sets["all"] = [row for rows in sets.values() for row in rows]
    counted = {name: sentence_counts(rows) for name, rows in sets.items()}
    return [
        [name, f"{precision(found):.3f}", f"{recall(found):.3f}", f"{found['silenced']}/{found['claims']}"]
        for name, found in counted.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unseen", action="store_true", help="measure c, g and j too: as seldom as possible")
    names = "abcdefghij" if parser.parse_args().unseen else "abdefhi"
    rows = [row for name in names for row in report(name)]
    print(table(rows, header=["set", "language", "precision", "recall", "mixed kept", "answers silenced"]))
    print(table(report_sentences(names), header=["by sentence", "precision", "recall", "claims silenced"]))


if __name__ == "__main__":
    main()
