"""Words of one meaning, and of the opposite one: "purchase" for "buy", "verkauft" against "gekauft".

A table of some 300 everyday meanings in five languages (`concepts.txt`), read when a claim first asks. It knows no
context: "charge" is a price, and what one does with a battery.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.terms import ACCENTS, term_of, tokenize
from rag_otel_evaluators.text.word_memo import WordMemo

TABLE: Final = Path(__file__).with_name("concepts.txt")

_LONGEST_PREFIX: Final = 12
_SHORTEST_PREFIX: Final = 3
_MOST_MORE: Final = 5
"""Letters that a word may have beyond its prefix ..."""
_MORE_THAN_SHORT: Final = 3
"""... and beyond a prefix of three."""

NO_CONCEPTS: Final[frozenset[int]] = frozenset()


class _Table(NamedTuple):
    by_term: dict[str, frozenset[int]]
    by_prefix: dict[str, frozenset[int]]
    opposed: frozenset[int]
    """Concepts that have an opposite: the one whose number differs in the last bit."""


@cache
def _table() -> _Table:
    by_term: dict[str, set[int]] = {}
    by_prefix: dict[str, set[int]] = {}
    opposed: set[int] = set()
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    for number, line in enumerate(lines):
        sides = line.split("!")
        if len(sides) > 1:
            opposed |= {2 * number, 2 * number + 1}
        for concept, side in enumerate(sides, 2 * number):
            for word in side.split():
                if word.endswith("-"):
                    by_prefix.setdefault(word[:-1].translate(ACCENTS), set()).add(concept)
                else:
                    for term in map(term_of, tokenize(word)):
                        by_term.setdefault(term, set()).add(concept)
    return _Table(
        {term: frozenset(concepts) for term, concepts in by_term.items()},
        {prefix: frozenset(concepts) for prefix, concepts in by_prefix.items()},
        frozenset(opposed),
    )


def _find_concepts(term: str) -> frozenset[int]:
    by_term, by_prefix, _ = _table()
    found = by_term.get(term, NO_CONCEPTS)
    for length in range(min(len(term), _LONGEST_PREFIX), _SHORTEST_PREFIX - 1, -1):
        concepts = by_prefix.get(term[:length])
        if concepts is not None:
            more = _MOST_MORE if length > _SHORTEST_PREFIX else _MORE_THAN_SHORT
            return found | concepts if len(term) - length <= more else found
    return found


CONCEPTS: Final = WordMemo(_find_concepts)
"""Term -> the numbers of its meanings; none for most."""


def opposites_of(term: str) -> frozenset[int]:
    """The meanings that are the opposite of one of the term's."""
    concepts = CONCEPTS[term]
    if not concepts:
        return NO_CONCEPTS
    opposed = _table().opposed
    return frozenset(concept ^ 1 for concept in concepts if concept in opposed)
