"""Whether a claim and the clause that speaks of the same affirm or deny: "closed on Sundays", "does not open then".

Counted as parity: "not forbidden" affirms, and so does "no longer closed". Words that deny by themselves ("closed",
"lacks", "refused") count like a "not", so that a paraphrase of a denial agrees with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.comparisons import EQUALS, FORMS, LESS_OF, MORE_OF, NOBODY
from rag_otel_evaluators.text.languages.negations import LIMITING_WORDS

_STRENGTHENING: Final = words("doubt only just sólo solo solamente nur seulement que but other wonder")
"""After a negation they take it back: "no doubt", "not only", "nothing but"."""
_FRENCH_HALF: Final = frozenset({"ne", "n"})
"""Half of a French negation: it denies with the other half, and with none it does not."""
_OTHER_HALVES: Final = words("plus guère point personne nul nulle ni nullement pas jamais rien aucun aucune")
_ONLY_WITH_HALF: Final = frozenset({"personne", "nul", "nulle"})
_HALF_REACH: Final = 5
"""Words after "ne" in which its other half stands."""
_UNTIL: Final = words("until till before unless except hasta bis vor bevor avant jusqu erst antes salvo außer sauf")
"""With a negation they say when or for whom something holds: "not before nine"."""
_NEEDS: Final = frozenset({"hace", "hacen", "hará", "haga", "hacer", "sin"})
"""Before "falta": "hace falta" says that something is needed."""
_WITHOUT: Final = words("without sin ohne sans")
"""Beside another negation they take it back: "not without a ticket"."""
DENYING_PREFIXES: Final = ("un", "in", "im", "ir", "dis", "non", "des")
_LEAST_ROOT: Final = 4
_MOST_CLAUSES: Final = 6
_MOST_DENIALS: Final = 4
"""Denials of one clause that are looked at."""
_ELLIPTIC: Final = 7
"""Words of a clause that only takes back what the one before says: "the filter may be washed, the lid not" ..."""
_ELLIPTIC_INSIDE: Final = 4
"""... and of one that does not end with the "not"."""


def denial_turned(claim: Reading, evidence: Sequence[Reading], anchors: Sequence[str]) -> float:
    """How far the clause nearest to the claim (which holds most of `anchors`) says the opposite, -1..1.

    Positive where one denies and the other affirms, negative where both deny, 0 where neither does or nobody can tell:
    a denial elsewhere in the evidence may be the one that the claim tells.
    """
    near = evidence[:2]
    denied = [_denied_by_prefix(reading, set(anchors)) for reading in near]
    if not (any(denied) or _denies(claim) or any(map(_denies, near))):  # most claims: no clause need be compared
        return 0.0
    best, parity, share = 0.0, 0, 0.0
    found: set[str] = set()
    for number, reading in enumerate(near):
        held_in = _anchors_by_clause(reading, anchors)
        held_in.update({reading.clauses[at] for at in denied[number]})
        for clause in list(dict.fromkeys(reading.clauses))[:_MOST_CLAUSES]:
            held = held_in[clause]
            if held - 0.5 * number > best:
                best = held - 0.5 * number
                share = held / len(anchors)
                there = [at for at, other in enumerate(reading.clauses) if other == clause]
                parity = (_parity(reading, there) + any(at in denied[number] for at in there)) % 2
                found = {reading.words[at] for at in there}
                following = _taken_back(reading, clause, anchors, found)
                if following:
                    parity = 1 - parity if "none" in reading.marks and following[-1] in reading.marks["none"] else 1
    mine = _parity(claim, _clauses_with(claim, found))
    if not mine:
        mine = any(_denied_by_prefix(claim, reading.places) for reading in near)
    if mine and parity:
        return -share
    if mine:
        return 0.0 if any(_denies(reading) for reading in near) else share
    return share if parity and (not _cancels_out(claim) or _repeats(claim, near)) else 0.0


def _denied_by_prefix(reading: Reading, terms: Collection[str]) -> list[int]:
    """Where a sentence has one of the terms with a prefix that denies it: "unpaid" for "paid"."""
    return [
        places[0]
        for term, places in reading.places.items()
        if term.startswith(DENYING_PREFIXES) and term not in terms
        for prefix in DENYING_PREFIXES
        if term.startswith(prefix) and len(term) - len(prefix) >= _LEAST_ROOT and term[len(prefix) :] in terms
    ]


def _clauses_with(claim: Reading, terms: Collection[str]) -> Sequence[int]:
    """The places of the clauses that hold one of the terms; all places where none does."""
    clauses = {claim.clauses[at] for term, places in claim.places.items() if term in terms for at in places}
    return [at for at, clause in enumerate(claim.clauses) if not clauses or clause in clauses]


def _taken_back(reading: Reading, clause: int, anchors: Iterable[str], found: Collection[str]) -> list[int]:
    """The places of the next clause where it only says that it is not so of another of the anchors."""
    following = min((other for other in reading.clauses if other > clause), default=None)
    places = [at for at, other in enumerate(reading.clauses) if other == following]
    if not places or len(places) > _ELLIPTIC or not _parity(reading, places):
        return []
    if len(places) > _ELLIPTIC_INSIDE and places[-1] not in reading.marks.get("none", ()):
        return []
    return places if any(t not in found and at in places for t in anchors for at in reading.places.get(t, ())) else []


def _anchors_by_clause(reading: Reading, anchors: Sequence[str]) -> Counter[int]:
    """Clause -> how many of the anchors stand in it."""
    clauses = reading.clauses
    there = (reading.places.get(term, reading.labels.get(term, ())) for term in anchors)
    return Counter(chain.from_iterable({clauses[at] for at in places} for places in there))


def _repeats(claim: Reading, evidence: Sequence[Reading]) -> bool:
    """True where the claim has a denying word of the evidence: "not excluded" against "excluded"."""
    own = {claim.words[at] for at in claim.marks.get("privative", ())}
    return any(reading.words[at] in own for reading in evidence for at in reading.marks.get("privative", ()))


def _cancels_out(claim: Reading) -> bool:
    """True where two denials of the claim take each other back, or one counts for nothing: it may deny all the same."""
    places = range(len(claim.words))
    return "privative" in claim.marks or plainly_denied(claim, places)


def _denies(reading: Reading) -> bool:
    return "none" in reading.marks or "privative" in reading.marks


def denied_clauses(reading: Reading) -> set[int]:
    """The clauses that a "not" or the like denies; of many the first ones."""
    if "none" not in reading.marks:
        return set()
    clauses = reading.clauses
    looked_at = list(dict.fromkeys(clauses[at] for at in reading.marks["none"]))[:_MOST_CLAUSES]
    return {
        clause
        for clause in looked_at
        if plainly_denied(reading, [at for at, other in enumerate(clauses) if other == clause])
    }


def plainly_denied(reading: Reading, within: Sequence[int]) -> bool:
    """True where one of these places holds a "not" or the like that denies, and is not taken back."""
    nones = reading.marks.get("none")
    if not nones:
        return False
    looked_at = sorted(set(nones).intersection(within))[:_MOST_DENIALS]
    denying = [at for at in looked_at if _is_denial(reading, at)]
    if not denying or _sets_apart([reading.written[at].lower() for at in within]):
        return False
    lower = {reading.written[at].lower() for at in denying}
    return lower <= _WITHOUT or lower.isdisjoint(_WITHOUT)


def _sets_apart(clause: Sequence[str]) -> bool:
    """True for "nothing is cheaper than Duo", which denies nothing of Duo."""
    if NOBODY.isdisjoint(clause):
        return False
    return any(word in FORMS or word in EQUALS or word in MORE_OF or word in LESS_OF for word in clause)


def _is_denial(reading: Reading, at: int) -> bool:
    lower, after = (reading.written[there].lower() if there < len(reading.written) else "" for there in (at, at + 1))
    if lower in _FRENCH_HALF:
        following = {word.lower() for word in reading.written[at + 1 : at + 1 + _HALF_REACH]}
        return not following.isdisjoint(_OTHER_HALVES)
    if lower in _ONLY_WITH_HALF:
        return False  # its other half was seen, or is not there: "par personne"
    if any(word.lower() in _UNTIL for word in reading.written[at + 1 :]):
        return False
    return not (after in LIMITING_WORDS or after in _STRENGTHENING) or (lower, after) in _NO_LONGER


def _parity(reading: Reading, within: Sequence[int]) -> int:
    privative = 0
    for at in reading.marks.get("privative", ()):
        if at in within and at not in reading.marks.get("none", ()):
            before = reading.written[at - 1].lower() if at else ""
            privative += not (before in _NEEDS and reading.written[at].lower().startswith("falta"))
    return (plainly_denied(reading, within) + privative) % 2


_NO_LONGER: Final = frozenset([("no", "longer"), ("not", "more"), ("nicht", "mehr"), ("kein", "mehr"), ("no", "más")])
