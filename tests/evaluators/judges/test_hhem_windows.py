"""Windows over a premise: within budget, whole sentences where they fit, nothing left unread."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.judges.hhem_windows import nearest_sentence, window_spans


def words(text: str) -> list[tuple[int, int]]:
    """Words as tokens."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def windows(text: str, budget: int) -> list[str]:
    return [text[start:end] for start, end in window_spans(text, words(text), budget)]


def test_a_short_text_is_one_window() -> None:
    """What fits is not cut."""
    assert windows("One two three. Four five.", 10) == ["One two three. Four five."]


def test_neighbours_share_a_sentence() -> None:
    """The sentence at the border is read on both sides, where it is short against the window."""
    text = "One two three. It is. Four five six. Seven eight nine. Ten."
    assert windows(text, 8) == ["One two three. It is. Four five six.", "Seven eight nine. Ten."]
    assert windows(text, 12) == [text]
    assert windows("One two three four five six. It is. Nine ten eleven. Yes.", 8) == [
        "One two three four five six. It is.",
        "It is. Nine ten eleven. Yes.",
    ]


def test_a_sentence_beyond_the_budget_is_cut_between_tokens() -> None:
    """A table or a log without any full stop is still read, in pieces."""
    assert windows("a b c d e f g", 3) == ["a b c ", "d e f ", "g"]


def test_nothing_gives_nothing() -> None:
    """A text without tokens has no window."""
    assert windows(" \n ", 5) == []


@given(
    text=st.text(alphabet=st.sampled_from("abAB12 .,!?\n。"), max_size=300),
    budget=st.integers(min_value=1, max_value=20),
)
def test_every_token_is_in_a_window_within_budget(text: str, budget: int) -> None:
    """No window begins more tokens than the budget, and every character of a token is in some window."""
    spans = window_spans(text, words(text), budget)
    assert spans == sorted(set(spans))
    for start, end in spans:
        assert sum(start <= token[0] < end for token in words(text)) <= budget
    for start, end in words(text):
        for position in range(start, end):
            assert any(span[0] <= position < span[1] for span in spans)


def test_the_nearest_sentence_shares_most_words() -> None:
    """By shared terms against all terms: a long sentence does not win by its length."""
    text = "Rome is old. The tower of Paris, which many people visit in summer, is high. The tower is old."
    found = nearest_sentence(text, (0, len(text)), "The tower is old.")
    assert found is not None
    assert text[slice(*found)] == "The tower is old."
    assert nearest_sentence(text, (0, 12), "Completely unrelated words") is None
