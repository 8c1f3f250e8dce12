"""Whether a claim and its evidence affirm or deny the same."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.close_reading import read_closely
from rag_otel_evaluators.judges.embedded.denial import denial_turned


def turned(claim: str, evidence: str) -> float:
    read = read_closely(claim)
    return denial_turned(read, [read_closely(evidence)], list(read.places))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The pool is not open on Sundays.", "On Sundays the pool stays closed."),
        ("Line 9 does not run in August.", "In August line 9 is cancelled."),
        ("Gutscheine werden nicht erstattet.", "Gutscheine sind von der Erstattung ausgeschlossen."),
        ("Les soldes ne sont pas remboursés.", "Le remboursement des soldes est exclu."),
        ("周日不开放。", "周日停业，不开放。"),
    ],
)
def test_two_ways_to_deny_agree(claim: str, evidence: str) -> None:
    """A "not" and a word that denies by itself say the same."""
    assert turned(claim, evidence) < 0.0


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The pool is open on Sundays.", "The pool is not open on Sundays."),
        ("The pool is not open on Sundays.", "The pool is open on Sundays."),
        ("Windows 8 is supported.", "Windows 8 is no longer supported."),
        ("Los domingos se abre.", "Los domingos no se abre."),
        ("The pool opens on Sundays.", "The pool doesn't open on Sundays."),
        ("Le billet est remboursé.", "Le billet n'est plus remboursé."),
        ("The leave is paid.", "The leave is unpaid."),
        ("Le réservoir passe au lave-vaisselle.", "La buse passe au lave-vaisselle, le réservoir non."),
    ],
)
def test_a_denial_on_one_side_is_a_turn(claim: str, evidence: str) -> None:
    """One denies what the other affirms."""
    assert turned(claim, evidence) > 0.0


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Parking is free.", "Parking is free for all."),
        ("It is not forbidden to park here.", "You may park here."),
        ("Not only members may park here.", "You may park here."),
        ("Nothing is cheaper than Duo.", "Duo is the cheapest plan."),
        ("The office does not open before nine.", "The office opens at nine."),
        ("停车免费。", "停车收费为零元。"),
    ],
)
def test_what_affirms_is_left_alone(claim: str, evidence: str) -> None:
    """Two denials cancel out, and "not only" denies nothing."""
    assert turned(claim, evidence) <= 0.0
