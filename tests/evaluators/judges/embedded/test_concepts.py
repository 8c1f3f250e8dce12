"""Words of one meaning and of the opposite one, and the French words that an apostrophe hides."""

from __future__ import annotations

import pytest

from rag_otel.model import Chunk
from rag_otel_evaluators.cooperative import finish
from rag_otel_evaluators.judges.embedded.alignment import align
from rag_otel_evaluators.judges.embedded.concepts import CONCEPTS, TABLE, opposites_of
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex, index_chunks
from rag_otel_evaluators.judges.embedded.terms import term_of


def index(text: str) -> EvidenceIndex:
    return finish(index_chunks([Chunk(id="c0", text=text, position=0)], None))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("purchase", "bought"),
        ("vendió", "ventas"),
        ("verkaufte", "Verkauf"),
        ("dirige", "directrice"),
        ("减少", "下降"),
    ],
)
def test_words_of_one_meaning_share_a_concept(one: str, other: str) -> None:
    """Inflected and derived words find their line of the table."""
    assert CONCEPTS[term_of(one)] & CONCEPTS[term_of(other)]


@pytest.mark.parametrize(("one", "other"), [("sold", "bought"), ("abierto", "cerrada"), ("gestiegen", "gesunken")])
def test_opposites_know_each_other(one: str, other: str) -> None:
    """The two sides of a line are opposites, both ways round."""
    assert opposites_of(term_of(one)) & CONCEPTS[term_of(other)]
    assert opposites_of(term_of(other)) & CONCEPTS[term_of(one)]


def test_the_table_stays_small() -> None:
    """It ships with the package."""
    assert TABLE.stat().st_size < 100_000


def test_a_short_claim_is_read_with_synonyms() -> None:
    """Another word of the same meaning counts as seen, but less than the word itself."""
    evidence = index("The company was sold in 2014.")
    seen = align(evidence, "The firm was sold.").seen
    assert 0.0 < seen[term_of("firm")] < seen[term_of("sold")] == 1.0


def test_a_long_claim_is_not() -> None:
    """In long claims synonyms make chance matches."""
    evidence = index("The company was sold in 2014.")
    claim = "The firm painted walls, planted roses, cleaned windows, mended chairs, baked loaves and washed blankets."
    assert align(evidence, claim).seen[term_of("firm")] == 0.0


def test_french_elisions_are_words_of_their_own() -> None:
    """ "L'abonnement" is the word "abonnement"."""
    assert term_of("l'abonnement") == term_of("abonnement")
    assert term_of("n'est") == term_of("est")
    assert term_of("don't") != term_of("t")
