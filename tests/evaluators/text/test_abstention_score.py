"""The score of abstentions: what it finds, what it leaves alone, and how it was learned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel_evaluators.text.abstaining import SIZE, WEIGHTS, abstains, split_abstention

TRAINING = Path(__file__).parents[3] / "benchmarks" / "training" / "train_abstentions.py"


@pytest.mark.parametrize(
    "sentence",
    [  # none of them was learned from
        "The price is not mentioned.",
        "The documents do not mention the price.",
        "The passages do not say when the tower was built.",
        "I cannot answer this question based on the given passages.",
        "El texto no indica la fecha de apertura.",
        "Es gibt keine Informationen über den Autor.",
        "Il n'y a aucune information sur l'auteur.",
        "文中没有提到价格。",
        "没有关于作者的信息。",
        "El precio del abono no viene en la información que tengo.",
        "わかりません。",
    ],
)
def test_plain_abstentions_are_found(sentence: str) -> None:
    """In five languages, and in some that were not learned."""
    assert split_abstention(sentence) == [(True, 0, len(sentence))]


@pytest.mark.parametrize("sentence", ["She left.", "All left.", "Short.", "", "。", "\ud800", "No.", "42"])
def test_what_says_too_little_abstains_from_nothing(sentence: str) -> None:
    """Sentences that are very short, empty or broken."""
    assert not abstains(sentence)


def test_the_table_has_a_weight_for_each_feature() -> None:
    assert WEIGHTS.stat().st_size == SIZE


@pytest.mark.long
def test_learning_writes_the_shipped_weights(tmp_path: Path) -> None:
    """Equal to the byte."""
    written = tmp_path / "weights"
    subprocess.run([sys.executable, str(TRAINING), "--output", str(written)], check=True)
    assert written.read_bytes() == WEIGHTS.read_bytes()
