"""The score of abstentions: what it adds to the rules, what it takes back, and how it was learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_otel_evaluators.text import abstention_score, abstention_training
from rag_otel_evaluators.text.abstaining import split_by
from rag_otel_evaluators.text.abstention_score import SIZE, AbstentionScore, shipped


@pytest.mark.parametrize(
    "sentence",
    [  # no examples of the score, nor of the rules
        "The price is not mentioned.",
        "The documents do not mention the price.",
        "The passages do not say when the tower was built.",
        "The opening hours are not stated.",
        "I cannot answer this question based on the given passages.",
        "El texto no indica la fecha de apertura.",
        "Es gibt keine Informationen über den Autor.",
        "Il n'y a aucune information sur l'auteur.",
        "文中没有提到价格。",
        "没有关于作者的信息。",
    ],
)
def test_plain_abstentions_are_not_taken_back(sentence: str) -> None:
    assert split_by(sentence, shipped()) == split_by(sentence, None) == [(True, 0, len(sentence))]


def test_it_finds_what_the_rules_miss() -> None:
    sentence = "El precio del abono no viene en la información que tengo."
    assert split_by(sentence, None) == []
    assert split_by(sentence, shipped()) == [(True, 0, len(sentence))]


OTHER_LANGUAGES = ("わかりません。", "لا أعرف.", "मुझे नहीं पता।")


@pytest.mark.parametrize("sentence", ["She left.", "All left.", "Short.", "", "。", "\ud800", *OTHER_LANGUAGES])
def test_it_decides_nothing_by_what_it_cannot_read(sentence: str) -> None:
    """Sentences that are very short, empty, broken, or in a language that it has not seen."""
    assert split_by(sentence, shipped()) == split_by(sentence, None)


def test_a_table_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match=f"{SIZE} entries, this one 3"):
        AbstentionScore(b"abc", scale=1.0)


@pytest.mark.long
def test_learning_writes_the_shipped_weights(tmp_path: Path) -> None:
    """Equal to the byte."""
    weights = Path(abstention_score.__file__).with_name(abstention_score.WEIGHTS)
    written = tmp_path / "weights"
    abstention_training.write(written)
    assert written.read_bytes() == weights.read_bytes()
