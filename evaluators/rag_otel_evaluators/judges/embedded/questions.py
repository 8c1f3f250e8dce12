"""What the evidence answers to a question of yes or no: whether a "yes" or a "no" turns it round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.denial import denial_turned
from rag_otel_evaluators.judges.embedded.meanings import meaning_turned
from rag_otel_evaluators.judges.embedded.numbers import numbers_agree
from rag_otel_evaluators.text.languages import words

_LEAST_ASKED: Final = 0.25
"""Share of the question, or two words of it, that a clause must hold to answer it."""
_NOT_PLAIN: Final = words(
    "all most some only except none negating privative hedge condition certain unconditional reported formerly greater "
    "smaller than exceeds trails before after up down soon summed differing"
)
"""Classes of words with which a clause that has all words of the question may answer it either way."""


def reply_turned(evidence: Sequence[Reading], question: Reading, reply: int) -> float:
    """How far a yes (`reply` 1) or a no (-1) says another thing than the evidence, -1, 0 or 1."""
    asked = list(question.places)
    said = denial_turned(question, evidence, asked) or meaning_turned(question, evidence, asked)
    if abs(said) >= min(_LEAST_ASKED, 2 / len(asked)):
        return float(reply * ((said > 0.0) - (said < 0.0)))
    return 1.0 if reply < 0 and _is_affirmed(question, evidence) else 0.0


def _is_affirmed(question: Reading, evidence: Sequence[Reading]) -> bool:
    """True where one clause says plainly what is asked: "Is the sandbox free?", "The sandbox is free"."""
    if not _NOT_PLAIN.isdisjoint(question.marks):
        return False
    return any(_says_all(reading, question) for reading in evidence[:2])


def _says_all(reading: Reading, question: Reading) -> bool:
    if reading.asks or not numbers_agree(question, [reading]):
        return False
    clauses = [{reading.clauses[at] for at in reading.places.get(term, ())} for term in question.places]
    not_plain = {reading.clauses[at] for mark in _NOT_PLAIN & reading.marks.keys() for at in reading.marks[mark]}
    return bool(set.intersection(*clauses) - not_plain)
