"""Matching a judge's answers to numbered items."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.prompts.numbered_items import match


@dataclass(frozen=True)
class Said:
    """One answer of a judge."""

    index: int
    decision: bool
    reason: str = ""


SAID = st.builds(Said, index=st.integers(-3, 8), decision=st.booleans(), reason=st.text(max_size=3))


@given(st.lists(SAID, max_size=20), st.integers(1, 6))
def test_every_item_gets_its_own_answer_or_none(said: list[Said], count: int) -> None:
    """Exactly the items get an answer about which all that was said agrees, if the numbers tell which items are meant;
    otherwise none does, and that is told."""
    numbers = {answer.index for answer in said}
    first = 1 if numbers == {*range(1, count + 1)} else 0
    fit = not numbers or first == 1 or (0 in numbers and numbers <= {*range(count)})
    matched = match(said, count)
    for index in range(count):
        decisions = {answer.decision for answer in said if answer.index - first == index}
        if fit and len(decisions) == 1:
            assert matched.by_index[index].decision in decisions
        else:
            assert index not in matched.by_index
    assert set(matched.by_index) <= set(range(count))
    assert any("not used" in problem for problem in matched.problems) == (not fit)


def test_answers_counted_from_one_stand_beside_their_own_items() -> None:
    """1, 2, 3 of three items are the items 0, 1 and 2."""
    matched = match([Said(1, True, "a"), Said(2, False, "b"), Said(3, True, "c")], 3)
    assert {index: answer.reason for index, answer in matched.by_index.items()} == {0: "a", 1: "b", 2: "c"}


@pytest.mark.parametrize("numbers", [[0, 1, 3], [1, 2], [2, 3], [-1, 0, 1], [1, 2, 3, 4]])
def test_where_the_numbers_do_not_tell_no_answer_is_used(numbers: list[int]) -> None:
    """Of three items. 1 and 2 are either the last two counted from 0 or the first two counted from 1."""
    matched = match([Said(number, True) for number in numbers], 3)
    assert (matched.by_index, len(matched.problems)) == ({}, 1)


def test_the_number_of_an_answer_that_cannot_be_read_tells_what_the_others_count_from() -> None:
    """Without it 1 and 2 of three items would fit both."""
    said = [Said(1, True, "b"), Said(2, True, "c")]
    assert set(match(said, 3, unread=[0]).by_index) == {1, 2}
    assert set(match(said, 3, unread=[3]).by_index) == {0, 1}


def test_other_words_for_the_same_decision_agree() -> None:
    """The first reason is kept."""
    matched = match([Said(0, True, "first"), Said(0, True, "second")], 1)
    assert (matched.by_index[0].reason, matched.problems) == ("first", ())
