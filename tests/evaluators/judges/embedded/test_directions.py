"""What rises and what falls, and what a yes or a no says of it."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.close_reading import read_closely
from rag_otel_evaluators.judges.embedded.order import turned
from rag_otel_evaluators.text.languages.replies import reply_of


def compared(claim: str, evidence: str, about: str = "") -> float:
    read = read_closely(claim)
    return turned(read, [read_closely(evidence)], [(0, 0)], [*read.places, *read_closely(about).places])[0]


@pytest.mark.parametrize(
    ("claim", "evidence", "about"),
    [
        ("The charge falls.", "The charge goes up from 31p to 34p a day.", ""),
        ("Se abarata.", "El precio del kWh baja; la potencia contratada sube.", "potencia"),
        ("Der Zins klettert.", "Der Zins nimmt ab.", ""),
        ("起存金额降低了。", "年利率下调，起存金额提高到5000元。", ""),
        (
            "La temperatura explica el retraso mejor que las bellotas.",
            "Las bellotas explican el retraso mejor que la temperatura.",
            "",
        ),
        ("Ried exceeds Altdorf.", "Ried has 3 kg, Altdorf has 5 kg.", ""),
    ],
)
def test_the_other_direction_is_wrong(claim: str, evidence: str, about: str) -> None:
    """Of a sentence that has both directions the words nearest to what is spoken of decide."""
    assert compared(claim, evidence, about) > 0.0


def test_a_limit_is_no_direction() -> None:
    """ "More than 20" says nothing of a change."""
    assert compared("It takes more than 20 days.", "It fell from 9 to 7 days.") == 0.0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Yes, it does.", 1),
        ("Better not: it harms the seal.", -1),
        ("They can't.", -1),
        ("Leider nein, erst im Mai.", -1),
        ("Bien sûr, c'est gratuit.", 1),
        ("不用，无需登记。", -1),
        ("No more than 20.", 0),
        ("It is closed.", 0),
        ("Nothing.", 0),
    ],
)
def test_a_reply_says_yes_or_no(answer: str, expected: int) -> None:
    """Only where it stands apart from the sentence."""
    assert reply_of(answer) == expected
