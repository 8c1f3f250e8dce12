"""How far do plain word overlap and answer length tell faithful from unfaithful answers? (AUROC, faithful = positive)

Overlap is the share of an answer's content tokens that occur in its contexts: words that are not in a short stop list for
en, es, de and fr, and character bigrams for zh. Standard library only. Usage: python check_overlap.py
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from files import load

STOP = {
    "en": """a an the and or but of in on at to for from by with without as is are was were be been being it its he she they them
    his her their this that these those you your i we our us my me can may might could will would shall should must have has had do
    does did not no nor so than then there here if when who what which where how why all any some one each every up out into over
    under after before about only also very more less most""",
    "es": """el la los las un una unos unas y o u e de del en a al por para con sin que se su sus lo le les es son era eran fue fueron
    ser está están como más menos no ni si cuando quien qué cuál dónde cómo ha han hay este esta estos estas ese esa eso muy ya""",
    "de": """der die das den dem des ein eine einen einem einer eines und oder aber von im in an am auf zu zum zur für mit ohne als wie
    ist sind war waren wird werden wurde wurden sein hat haben hatte es er sie man ich wir ihr ihnen sich nicht kein keine nur auch
    bei bis aus nach vor über unter um so dass wenn ob was wer wo wann dieser diese dieses""",
    "fr": """le la les l un une des de du d et ou en à au aux par pour avec sans que qu qui se s son sa ses leur leurs ce cet cette ces
    est sont était étaient fut être a ont avait il elle ils elles on je vous nous ne n pas plus moins si quand comme dans sur y c""",
    "zh": "",
}
STOPS = {language: set(text.split()) for language, text in STOP.items()}


def tokens(text: str, language: str) -> list[str]:
    """Lower-case content words, or character bigrams of runs of Chinese characters plus numbers and Latin words."""
    text = unicodedata.normalize("NFKC", text).lower()
    if language != "zh":
        return [w for w in re.findall(r"\w+", text) if w not in STOPS[language]]
    out: list[str] = re.findall(r"[0-9a-z]+", text)
    for run in re.findall(r"[\u4e00-\u9fff]+", text):
        out += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return out


def content_tokens(text: str, language: str) -> set[str]:
    return set(tokens(text, language))


def overlap(answer: str, contexts: list[str], language: str) -> float:
    """Share of the answer's content tokens that occur in the contexts, 0 to 1."""
    found = content_tokens(" ".join(contexts), language)
    said = tokens(answer, language)
    return sum(t in found for t in said) / len(said) if said else 0.0


def auroc(positive: list[float], negative: list[float]) -> float:
    """Probability that a positive scores above a negative; ties count one half."""
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def paired(positive: list[float], negative: list[float]) -> float:
    """Share of pairs whose faithful twin scores higher; ties count one half."""
    return sum((p > n) + 0.5 * (p == n) for p, n in zip(positive, negative, strict=True)) / len(positive)


def report(rows: list[dict[str, Any]]) -> dict[str, tuple[float, float, float, float]]:
    """Per language and overall: AUROC and paired share of overlap, AUROC and paired share of length."""
    out = {}
    for name in ["all", *sorted({r["language"] for r in rows})]:
        part = [r for r in rows if name in ("all", r["language"])]
        sides = [[overlap(r[s], r["contexts"], r["language"]) for r in part] for s in ("faithful", "unfaithful")]
        sizes = [[float(len(r[s])) for r in part] for s in ("faithful", "unfaithful")]
        out[name] = (auroc(*sides), paired(*sides), auroc(*sizes), paired(*sizes))
    return out


def main() -> None:
    rows = load("contrast_test")
    print(f"{'set':6} {'pairs':>6} {'overlap AUROC':>14} {'paired':>7} {'length AUROC':>13} {'paired':>7}")
    for name, (a, b, c, d) in report(rows).items():
        n = sum(name in ("all", r["language"]) for r in rows)
        print(f"{name:6} {n:6} {a:14.3f} {b:7.3f} {c:13.3f} {d:7.3f}")
    print("\nper phenomenon (all languages)")
    for name in sorted({r["phenomenon"] for r in rows}):
        part = [dict(r, language=r["language"]) for r in rows if r["phenomenon"] == name]
        a, b, c, d = report(part)["all"]
        print(f"{name:18} {len(part):4} {a:8.3f} {b:8.3f} {c:8.3f} {d:8.3f}")


if __name__ == "__main__":
    main()
