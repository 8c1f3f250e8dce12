"""Which of several rows of a table is the most or the least."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.close_reading import read_closely
from rag_otel_evaluators.judges.embedded.extremes import extreme_wrong

_TABLE = [
    "| Plan | Speed | Weight | Monthly price |",
    "| Solo | 1 Gb/s | 4 kg | 30 € |",
    "| Duo | 2 Gb/s | 9 kg | 20 € |",
    "| Duo Pro | 5 Gb/s | 7 kg | 45 € |",
]


@pytest.mark.parametrize(
    ("question", "claim", "expected"),
    [
        ("Which plan is cheapest?", "Duo.", -1.0),
        ("Which plan is cheapest?", "Solo is the least expensive.", 1.0),
        ("Which plan is the priciest?", "Duo Pro costs most.", -1.0),
        ("What is the heaviest?", "The Duo.", -1.0),
        ("¿Cuál es más barato?", "Ninguno es tan barato como Duo.", -1.0),
        ("Welches ist am schnellsten?", "Am schnellsten ist Solo.", 1.0),
        ("Lequel est le moins cher ?", "C'est Duo.", -1.0),
        ("Is Solo or Duo cheaper?", "Solo.", 1.0),
        ("What does Duo cost?", "Duo costs 20 €.", 0.0),
        ("Which plan is cheapest?", "Trio.", 0.0),
    ],
)
def test_the_column_and_the_direction_come_from_the_words(question: str, claim: str, expected: float) -> None:
    """The word of degree tells the direction and what is measured."""
    assert extreme_wrong(read_closely(claim), read_closely(question), _TABLE) == expected
