"""Check the schema, the counts, duplicates and the difference between twins; print the tables.

Exit status 1 if a rule is broken. Standard library only. Usage: python check.py
"""

from __future__ import annotations

import difflib
import re
import sys
import unicodedata
from collections import Counter
from typing import Any

from files import load

LANGUAGES = ["en", "es", "de", "fr", "zh"]
KEYS = {"id", "language", "phenomenon", "question", "contexts", "faithful", "unfaithful"}
# fmt: off
PHENOMENA = {
    "number", "unit", "date", "name", "role", "negation",
    "direction_word", "quantifier", "hedge", "condition", "list_member", "table_cell",
    "order", "comparison", "scope", "arithmetic", "conversion", "paraphrase",
    "multi_hop", "recombination", "question_or_quote", "number_format",
}
# fmt: on


def words(text: str) -> int:
    """Length in words; a Chinese character counts as .6 words."""
    han = len(re.findall(r"[\u4e00-\u9fff]", text))
    return round(han * 0.6) + len(re.findall(r"\w+", re.sub(r"[\u4e00-\u9fff]", " ", text)))


def norm(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def edit_ratio(a: str, b: str, language: str) -> float:
    """1 for equal texts, 0 for texts with nothing in common, over words (characters for zh)."""
    left, right = (list(a), list(b)) if language == "zh" else (a.split(), b.split())
    return difflib.SequenceMatcher(None, left, right, autojunk=False).ratio()


def check_pairs(rows: list[dict[str, Any]]) -> list[str]:
    bad: list[str] = []
    for r in rows:
        where = r.get("id", "?")
        if set(r) != KEYS:
            bad.append(f"{where}: keys {sorted(set(r) ^ KEYS)}")
        if r["language"] not in LANGUAGES or r["phenomenon"] not in PHENOMENA:
            bad.append(f"{where}: unknown language or phenomenon")
        if not 1 <= len(r["contexts"]) <= 4 or not all(c.strip() for c in r["contexts"]):
            bad.append(f"{where}: {len(r['contexts'])} passages")
        size = words(" ".join(r["contexts"]))
        if not 40 <= size <= 250:
            bad.append(f"{where}: contexts have {size} words")
        if norm(r["faithful"]) == norm(r["unfaithful"]):
            bad.append(f"{where}: equal twins")
        for text in (r["question"], r["faithful"], r["unfaithful"], *r["contexts"]):
            if "[[" in text or "||" in text or "  " in text or " ." in text:
                bad.append(f"{where}: markup or spaces: {text[:60]}")
    for name, values, limit in (
        ("id", [r["id"] for r in rows], 1),
        ("faithful answer", [norm(r["faithful"]) for r in rows], 1),
        ("unfaithful answer", [norm(r["unfaithful"]) for r in rows], 1),
        ("answer on either side", [norm(r[s]) for r in rows for s in ("faithful", "unfaithful")], 1),
        ("question on the same contexts", [norm(r["question"]) + "\n".join(sorted(r["contexts"])) for r in rows], 1),
        ("contexts", ["\n".join(sorted(r["contexts"])) for r in rows], 6),
    ):
        bad += [f"{name} used {n} times: {v[:80]}" for v, n in Counter(values).items() if n > limit]
    return bad


def check_abstentions(rows: list[dict[str, Any]]) -> list[str]:
    bad = [f"abstention: bad row {r}" for r in rows if not {"language", "text", "abstains"} <= set(r)]
    bad += [f"abstention text used {n} times: {t}" for t, n in Counter(norm(r["text"]) for r in rows).items() if n > 1]
    bad += [f"mixed row abstains: {r}" for r in rows if r.get("mixed") and r["abstains"]]
    if sum(bool(r.get("mixed")) for r in rows) > 0.1 * len(rows):
        bad.append("more than a tenth of the abstention rows is mixed")
    return bad


def table(rows: list[dict[str, Any]]) -> None:
    counts = Counter((r["phenomenon"], r["language"]) for r in rows)
    print(f"{'phenomenon':18}" + "".join(f"{x:>5}" for x in LANGUAGES) + f"{'all':>6}{'edit ratio':>12}")
    for p in sorted(PHENOMENA):
        part = [r for r in rows if r["phenomenon"] == p]
        ratio = sum(edit_ratio(r["faithful"], r["unfaithful"], r["language"]) for r in part) / max(len(part), 1)
        print(f"{p:18}" + "".join(f"{counts[p, x]:5}" for x in LANGUAGES) + f"{len(part):6}{ratio:12.2f}")
    print(f"{'all':18}" + "".join(f"{sum(counts[p, x] for p in PHENOMENA):5}" for x in LANGUAGES) + f"{len(rows):6}")
    sizes = sorted(words(" ".join(r["contexts"])) for r in rows)
    print("context words: min", sizes[0], "median", sizes[len(sizes) // 2], "max", sizes[-1])
    print("passages:", dict(sorted(Counter(len(r["contexts"]) for r in rows).items())))
    print(
        "distinct context lists:",
        len({tuple(sorted(r["contexts"])) for r in rows}),
        "distinct passages:",
        len({c for r in rows for c in r["contexts"]}),
    )


def main() -> int:
    pairs, abstentions = load("contrast_test"), load("abstention_test")
    table(pairs)
    print("\nabstention rows  " + "".join(f"{x:>5}" for x in LANGUAGES))
    for name, keep in (
        ("abstains", lambda r: r["abstains"]),
        ("answers", lambda r: not r["abstains"] and not r.get("mixed")),
        ("mixed", lambda r: bool(r.get("mixed"))),
    ):
        print(
            f"{name:17}" + "".join(f"{sum(keep(r) and r['language'] == x for r in abstentions):5}" for x in LANGUAGES)
        )
    bad = check_pairs(pairs) + check_abstentions(abstentions)
    print(f"\n{len(pairs)} pairs, {len(abstentions)} abstention rows, {len(bad)} problems")
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
