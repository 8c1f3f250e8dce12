"""A claim compared with its nearest sentences, difference by difference: what overlap of words does not see.

The nearest sentences of a short claim are those that hold its words and the question's: "It was Catz." says little.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.calculation import calculated
from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.coefficients import DIFFERENCES, FOR_SHORT
from rag_otel_evaluators.judges.embedded.denial import DENYING_PREFIXES, denial_turned
from rag_otel_evaluators.judges.embedded.extremes import extreme_wrong
from rag_otel_evaluators.judges.embedded.limits import is_beside, places_of, too_wide
from rag_otel_evaluators.judges.embedded.marks import DENYING
from rag_otel_evaluators.judges.embedded.nearness import count_held, nearness, places_in, support
from rag_otel_evaluators.judges.embedded.numbers import NAME_WEIGHT, Rival, compare_numbers
from rag_otel_evaluators.judges.embedded.order import turned
from rag_otel_evaluators.judges.embedded.questions import reply_turned
from rag_otel_evaluators.judges.embedded.short_answers import FEW_WORDS, Compared, read_for_short
from rag_otel_evaluators.judges.embedded.weekdays import said_on_days
from rag_otel_evaluators.text.languages.negations import ANTONYMS

_MOST_PAIRS: Final = 24
_LEAST_ROOT: Final = 4
_MOST_NAMES: Final = 4
"""Names of a claim that are compared."""
_MOST_RIVALS: Final = 8
"""Names of a sentence that they are compared with."""
_NOT_READ: Final = dict.fromkeys(FOR_SHORT, 0.0)


@dataclass(slots=True)
class Differences:
    """What a claim and its evidence do not share."""

    values: dict[str, float]
    """By the names of `DIFFERENCES`."""
    number_rival: Rival | None
    name_rival: Rival | None
    nearest: int
    """The reading that holds most of the claim."""
    opposite: tuple[int, str, str] | None
    """(reading, the claim's word, its opposite there)."""


def compare(
    claim: Reading,
    evidence: Sequence[Reading],
    numbered: Sequence[Reading] = (),
    *,
    question: Reading,
    order: Sequence[tuple[int, int]],
    reply: int = 0,
    refuted: Sequence[bool] = (),
    table: Sequence[str] = (),
    is_short: bool = True,
) -> Differences:
    """Compare a claim with its nearest sentences, the nearest first. `numbered`: others that hold numbers.

    `question`: read closely, empty where it does not matter. `order`: (chunk, sentence) of each of the evidence.
    `reply`: 1 where the claim begins with a yes, -1 with a no. `refuted`: by sentence of the evidence, whether the next
    one says that it is not so. `table`: the lines of one that the claim may speak of. `is_short`: whether the answer is
    so short that what is read for short ones alone counts; else it is left at 0.
    """
    if not evidence:
        return Differences(dict.fromkeys(DIFFERENCES, 0.0) | {"unread": 1.0}, None, None, 0, None)
    content = list(claim.places)
    asked = [term for term in question.places if term not in claim.places]
    anchors = content + asked
    held = [count_held(anchors, reading) for reading in evidence]
    nearest = max(range(len(evidence)), key=lambda at: (held[at], -at))
    best = evidence[nearest]
    total = len(content) or 1
    is_few = len(content) <= FEW_WORDS
    about = held[nearest] / (len(anchors) or 1)
    known = len(claim.places.keys() & set().union(*(reading.places for reading in evidence)))
    days = said_on_days(claim, evidence)
    missing, derived, number_rival = compare_numbers(
        claim, [*evidence, *numbered], anchors, question, days_hold=days is not None and days.agrees
    )
    worked_out = calculated(claim, [*evidence, *numbered], question)
    if worked_out < 0.0:
        number_rival = None
        missing, derived = max(0.0, missing - 1.0), max(1.0, derived)
    name_rival = _names(claim, evidence, anchors)
    opposite = _opposite(claim, evidence) if days is None else days.opposite
    near = places_of(best, anchors)
    denies, denied = "none" in claim.marks or "negating" in claim.marks, is_beside(best, "none", near)
    asked_of_denial = any(mark in question.marks for mark in DENYING)  # "Who is exempt?" "Members."
    compared_wrong, events_turned = turned(claim, evidence, order, anchors)
    replied = reply_turned(evidence, question, reply) if is_few and reply and question.places else 0.0
    values = {
        "cohesion": _cohesion(claim, evidence),
        "number_missing": min(2.0, missing),
        "calculated": worked_out,
        "number_derived": min(2.0, derived),
        "number_rival": number_rival.margin if number_rival else 0.0,
        "name_rival": name_rival.margin if name_rival else 0.0,
        "denial_lost": about * (denied and not denies and not asked_of_denial and opposite is None),
        "denial_added": about * (denies and "none" not in best.marks and opposite is None),
        "opposite": about * (opposite is not None and denies == denied),
        "too_wide": about * too_wide(claim, evidence, anchors, question.marks if reply > 0 else ()),
        "only_lost": about * any(mark not in claim.marks and is_beside(best, mark, near) for mark in ("only", "some")),
        "hedge_lost": about * ("hedge" not in claim.marks and is_beside(best, "hedge", near)),
        "compared_wrong": extreme_wrong(claim, question, table) or compared_wrong,
        "events_turned": events_turned,
        "denial_turned": denial_turned(claim, evidence, anchors) if anchors and is_few and not replied else 0.0,
        "reply_turned": replied,
        "spread": (known - count_held(content, best)) / total,
        "unread": 1.0 - known / total if content else min(1.0, missing / (len(claim.quantities) or 1)),
    }
    if is_short:
        values |= read_for_short(
            Compared(claim=claim, evidence=evidence, question=question, anchors=anchors, best=best, near=near),
            about=about,
            order=order,
            reply=reply,
            refuted=refuted,
        )
    else:
        values |= _NOT_READ
    return Differences(values, number_rival, name_rival, nearest, opposite)


def _cohesion(claim: Reading, evidence: Sequence[Reading]) -> float:
    content = [word for word in claim.words if word in claim.places or word[0].isdigit()]
    pairs = list(pairwise(content))[:_MOST_PAIRS]
    total = 0.0
    for one, other in pairs:
        best = 0.0
        for reading in evidence:
            places = reading.places
            if one in places and other in places:
                best = max(best, max([nearness(reading, a, b) for a in places[one][:3] for b in places[other][:3]]))
                if best == 1.0:
                    break
        total += best
    return total / len(pairs) if pairs else 1.0


def _names(claim: Reading, evidence: Sequence[Reading], content: Sequence[str]) -> Rival | None:
    rival: Rival | None = None
    names = dict(list(claim.names.items())[:_MOST_NAMES])
    if claim.words and claim.written[0][0].isupper() and claim.words[0] in claim.places:
        known = any(claim.words[0] in reading.names for reading in evidence)
        known = known or (claim.written[0].isupper() and len(claim.written[0]) > 1)  # "HR"
        if known or any(1 in places for places in names.values()):  # "Bob Tan": the first word begins a name
            names.setdefault(claim.words[0], [0])
    for name, places in names.items():
        beside = [term for term in names if _beside_in(names, term, places[0])]
        others = [term for term in content if term != name and term not in beside]
        if not others:
            continue
        others += [other for other in others if other in names] * (NAME_WEIGHT - 1)
        own, best_other = 0.0, None
        for number, reading in enumerate(evidence):
            placed = places_in(reading, others)
            for place in reading.places.get(name, ())[:4]:
                own = max(own, support(reading, place, placed, len(others)))
            if reading.is_row and not reading.quantities:
                continue  # the head of a table names the columns
            for other, there in list(reading.names.items())[:_MOST_RIVALS]:
                if other in claim.places or other in content or _is_part(name, other):
                    continue
                for place in there[:3]:
                    near = support(reading, place, placed, len(others))
                    if best_other is None or near > best_other[0]:
                        best_other = (near, number, reading.written[place])
        if best_other is not None and (margin := min(1.0, best_other[0] - own)) > (rival.margin if rival else 0.0):
            rival = Rival(best_other[1], claim.written[places[0]], best_other[2], margin)
    return rival


def _is_part(one: str, other: str) -> bool:
    """True for a compound and what it is made of, which do not contradict: "Lüftungsgeräte", "Geräte"."""
    return min(len(one), len(other)) >= _LEAST_ROOT and (one in other or other in one)


def _beside_in(names: Mapping[str, Sequence[int]], term: str, at: int) -> bool:
    """True for another part of the same name: "Marie" beside "Curie"."""
    return any(abs(place - at) == 1 for place in names.get(term, ()))


def _opposite(claim: Reading, evidence: Sequence[Reading]) -> tuple[int, str, str] | None:
    for word in claim.opposites:
        others = ANTONYMS[word]
        if any(word in reading.opposites for reading in evidence) or any(other in claim.opposites for other in others):
            continue
        for number, reading in enumerate(evidence[:2]):
            exceptions = reading.marks.get("except", [])
            for other in sorted(others):
                if other not in reading.opposites or _has_like(reading, others):
                    continue
                if not exceptions or not set(exceptions).isdisjoint(reading.opposites[other]):
                    return number, word, other  # but not of "Pets are allowed except large dogs", where both hold
    return _denied_by_prefix(claim, evidence[:2]) if len(claim.places) <= FEW_WORDS else None


def _has_like(reading: Reading, others: Collection[str]) -> bool:
    """True where a sentence also has a word with such an opposite: "fell" beside "rose"."""
    return any(not others_there.isdisjoint(others) for others_there in map(ANTONYMS.__getitem__, reading.opposites))


def _denied_by_prefix(claim: Reading, evidence: Sequence[Reading]) -> tuple[int, str, str] | None:
    """ "worn" against "unworn", either way round."""
    for number, reading in enumerate(evidence):
        if not _may_be_denied(claim, reading):
            continue
        for term, (at, *_) in claim.places.items():
            if len(term) < _LEAST_ROOT or term in reading.places:
                continue
            others = [prefix + term for prefix in DENYING_PREFIXES]
            others += [term[len(prefix) :] for prefix in DENYING_PREFIXES if term.startswith(prefix)]
            for other in others:
                if len(other) >= _LEAST_ROOT and other in reading.places and other not in claim.places:
                    return number, claim.written[at], reading.written[reading.places[other][0]]
    return None


def _may_be_denied(claim: Reading, reading: Reading) -> bool:
    """False where no word of either with such a prefix has the rest of it in the other: no pair need be compared."""
    return any(
        term[len(prefix) :] in there
        for here, there in ((reading.places, claim.places), (claim.places, reading.places))
        for term in here
        if term.startswith(DENYING_PREFIXES)
        for prefix in DENYING_PREFIXES
        if term.startswith(prefix)
    )
