"""Matching a judge's answers to numbered items."""

from __future__ import annotations

from dataclasses import dataclass

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


@given(st.lists(SAID, max_size=20), st.integers(0, 6))
def test_every_item_gets_its_own_answer_or_none(said: list[Said], count: int) -> None:
    """Exactly the items get an answer about which all that was said agrees; the rest is named."""
    matched = match(said, count)
    for index in range(count):
        decisions = {answer.decision for answer in said if answer.index == index}
        if len(decisions) == 1:
            assert matched.by_index[index].decision in decisions
        else:
            assert index not in matched.by_index
    assert set(matched.by_index) <= set(range(count))
    invented = [answer for answer in said if not 0 <= answer.index < count]
    assert sum("does not exist" in problem for problem in matched.problems) == len(invented)


def test_other_words_for_the_same_decision_agree() -> None:
    """The first reason is kept."""
    matched = match([Said(0, True, "first"), Said(0, True, "second")], 1)
    assert (matched.by_index[0].reason, matched.problems) == ("first", ())
