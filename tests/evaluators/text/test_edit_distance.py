"""The similarity of two texts by edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.text.edit_distance import edit_distance, edit_similarity


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("abc", "abc", 0)],
)
def test_known_distances(first: str, second: str, distance: int) -> None:
    """Counted by hand."""
    assert edit_distance(first, second) == distance


@given(st.text("abcä😀", max_size=80), st.text("abcä😀", max_size=80))
def test_it_is_the_levenshtein_distance(first: str, second: str) -> None:
    """The table of distances, filled cell by cell, has the same last cell."""
    above = list(range(len(second) + 1))
    for row, one in enumerate(first, start=1):
        line = [row]
        for column, other in enumerate(second, start=1):
            line.append(min(above[column] + 1, line[-1] + 1, above[column - 1] + (one != other)))
        above = line
    assert edit_distance(first, second) == above[-1]


def test_the_similarity_is_a_share_of_the_longer_text() -> None:
    """3 changes of 7 characters."""
    assert edit_similarity("kitten", "sitting") == pytest.approx(4 / 7)
    assert (edit_similarity("", ""), edit_similarity("a", "")) == (1.0, 0.0)
