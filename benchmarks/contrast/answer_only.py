"""Can the answer alone, without its contexts, betray the unfaithful twin? Ten-fold naive Bayes on its words, per language.

A figure near .5 means that the wording of an answer says nothing. Standard library only. Usage: python answer_only.py
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from typing import Any

from check_overlap import auroc, paired
from files import load


def units(text: str, language: str) -> list[str]:
    """Words, or character bigrams for zh, stop words kept."""
    text = text.lower()
    if language == "zh":
        return [text[i : i + 2] for i in range(len(text) - 1)]
    return re.findall(r"\w+", text)


def scores(rows: list[dict[str, Any]], language: str, folds: int = 10) -> tuple[list[float], list[float]]:
    """Held-out log-odds of being faithful for the faithful and the unfaithful twins."""

    def fold(row: dict[str, Any]) -> int:
        return int(hashlib.sha256("".join(sorted(row["contexts"])[:1]).encode()).hexdigest(), 16) % folds

    good: list[float] = []
    bad: list[float] = []
    for k in range(folds):
        count: dict[str, Counter[str]] = {"faithful": Counter(), "unfaithful": Counter()}
        for row in rows:
            if fold(row) != k:
                for side, seen in count.items():
                    seen.update(units(row[side], language))
        for row in rows:
            if fold(row) == k:
                for side, out in (("faithful", good), ("unfaithful", bad)):
                    out.append(
                        sum(
                            math.log((count["faithful"][u] + 1) / (count["unfaithful"][u] + 1))
                            for u in units(row[side], language)
                        )
                    )
    return good, bad


def main() -> None:
    rows = load("contrast_test")
    all_good: list[float] = []
    all_bad: list[float] = []
    for language in sorted({r["language"] for r in rows}):
        good, bad = scores([r for r in rows if r["language"] == language], language)
        print(f"{language:4} AUROC {auroc(good, bad):.3f} paired {paired(good, bad):.3f}")
        all_good += good
        all_bad += bad
    print(f"all  AUROC {auroc(all_good, all_bad):.3f} paired {paired(all_good, all_bad):.3f}")


if __name__ == "__main__":
    main()
