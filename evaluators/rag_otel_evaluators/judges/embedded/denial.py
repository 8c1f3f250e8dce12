"""Whether a claim and the clause that speaks of the same affirm or deny: "closed on Sundays", "does not open then".

Counted as parity: "not forbidden" affirms, and so does "no longer closed". Words that deny by themselves ("closed",
"lacks", "refused") count like a "not", so that a paraphrase of a denial agrees with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.negations import LIMITING_WORDS

_STRENGTHENING: Final = words("doubt only just sólo solo solamente nur seulement que")
"""After a negation they take it back: "no doubt", "not only", "ne ... que"."""
_FRENCH_HALF: Final = frozenset({"ne", "n"})
"""Half of a French negation: the other half counts."""
_MOST_CLAUSES: Final = 6


def denial_turned(claim: Reading, evidence: Sequence[Reading], anchors: Sequence[str]) -> float:
    """How far the clause nearest to the claim (which holds most of `anchors`) says the opposite, -1..1.

    Positive where one denies and the other affirms, negative where both deny, 0 where neither does or nobody can tell:
    a denial elsewhere in the evidence may be the one that the claim tells.
    """
    near = evidence[:2]
    if not (_denies(claim) or any(map(_denies, near))):  # most claims: their clauses need not be compared
        return 0.0
    best, parity, share = 0.0, 0, 0.0
    for number, reading in enumerate(near):
        held_in = _anchors_by_clause(reading, anchors)
        for clause in list(dict.fromkeys(reading.clauses))[:_MOST_CLAUSES]:
            held = held_in[clause]
            if held - 0.5 * number > best:
                best = held - 0.5 * number
                share = held / len(anchors)
                parity = _parity(reading, [at for at, there in enumerate(reading.clauses) if there == clause])
    mine = _parity(claim, range(len(claim.words)))
    if mine and parity:
        return -share
    if mine:
        return 0.0 if any(_denies(reading) for reading in near) else share
    return share if parity and (not _denies(claim) or _repeats(claim, near)) else 0.0


def _anchors_by_clause(reading: Reading, anchors: Sequence[str]) -> Counter[int]:
    """Clause -> how many of the anchors stand in it."""
    clauses = reading.clauses
    there = (reading.places.get(term, reading.labels.get(term, ())) for term in anchors)
    return Counter(chain.from_iterable({clauses[at] for at in places} for places in there))


def _repeats(claim: Reading, evidence: Sequence[Reading]) -> bool:
    """True where the claim has a denying word of the evidence: "not excluded" against "excluded"."""
    own = {claim.words[at] for at in claim.marks.get("privative", ())}
    return any(reading.words[at] in own for reading in evidence for at in reading.marks.get("privative", ()))


def _denies(reading: Reading) -> bool:
    return "none" in reading.marks or "privative" in reading.marks


def _parity(reading: Reading, within: Sequence[int] | range) -> int:
    denied = {at for mark in ("none", "privative") for at in reading.marks.get(mark, ())}
    if not denied:
        return 0
    plain, privative = False, 0
    written = reading.written
    for at in within:
        if at not in denied:
            continue
        lower = written[at].lower()
        if lower in _FRENCH_HALF:
            continue
        after = written[at + 1].lower() if at + 1 < len(written) else ""
        if at in reading.marks.get("none", ()):
            plain = plain or not (after in LIMITING_WORDS or after in _STRENGTHENING) or _is_no_longer(lower, after)
        else:
            privative += 1
    return (plain + privative) % 2


def _is_no_longer(word: str, after: str) -> bool:
    return (word, after) in _NO_LONGER


_NO_LONGER: Final = frozenset([("no", "longer"), ("not", "more"), ("nicht", "mehr"), ("kein", "mehr"), ("no", "más")])
