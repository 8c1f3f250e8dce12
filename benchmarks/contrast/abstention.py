"""Precision and recall of abstention on the development sets, by language.

    python benchmarks/contrast/abstention.py             # the two sets that the rules were written from
    python benchmarks/contrast/abstention.py --unseen    # and the one that was only measured; prints no text

An answer counts as abstaining where faithfulness gives the reason `abstained`: it abstains somewhere and claims
nothing. Kept: texts with a claim beside an abstention of which both are found. Silenced: answers that do not abstain
in which a sentence was taken for an abstention.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rag_otel.cli.terminal import table
from rag_otel_evaluators.text.claim_segmentation import segment

FOLDER = Path(__file__).parent / "abstention_dev"
LANGUAGES = ("en", "es", "de", "fr", "zh")


def load(name: str) -> list[dict[str, Any]]:
    """The rows of `a`, `b` or `c`: text, language, label."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unseen", action="store_true", help="measure c too: as seldom as possible")
    names = "abc" if parser.parse_args().unseen else "ab"
    rows = [row for name in names for row in report(name)]
    print(table(rows, header=["set", "language", "precision", "recall", "mixed kept", "answers silenced"]))


if __name__ == "__main__":
    main()
