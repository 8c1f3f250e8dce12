"""Numbers that are asked to be worked out, and shares and periods in words."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.calculation import calculated
from rag_otel_evaluators.judges.embedded.close_reading import NOTHING_READ, read_closely
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

STAFF = "The Berlin office employs 48 people, Paris 63."
FERRY = "The boat leaves at 07:40 and arrives at 09:10."


@pytest.mark.parametrize(
    ("evidence", "question", "claim", "expected"),
    [
        (STAFF, "How many work in both together?", "Together they have 111 employees.", -1.0),
        (STAFF, "How many work in both together?", "Together they have 63 employees.", 1.0),
        (STAFF, "How many more work in Paris?", "There are 15 more.", -1.0),
        (STAFF, "How many work in Paris?", "63 people work in Paris.", 0.0),
        (FERRY, "How long does it take?", "The trip takes 90 minutes.", -1.0),
        ("Leipzig hat 59 Leute, Bremen 44.", "Wie viele sind es zusammen?", "Es sind 103 Leute.", -1.0),
        ("En Bilbao trabajan 52 personas; en Sevilla, 71.", "¿Cuántos son en total?", "Son 71 personas.", 1.0),
    ],
)
def test_what_is_asked_is_worked_out(evidence: str, question: str, claim: str, expected: float) -> None:
    """The result that is asked for is told from a number that was to be added."""
    assert calculated(read_closely(claim), [read_closely(evidence)], read_closely(question)) == expected


def test_a_result_that_nobody_asked_for_counts_nothing() -> None:
    """Of the numbers of a text most others can be worked out: 1889 less 3 is nearly 1890."""
    evidence = [read_closely("The tower of case 3 is 330 metres high and was finished in 1889.")]
    assert calculated(read_closely("The tower was finished in 1890."), evidence, NOTHING_READ) == 0.0


@pytest.mark.parametrize("claim", ["The tower was finished in 1890.", "It is 331 metres high."])
def test_a_wrong_number_is_not_worked_out_by_chance(claim: str) -> None:
    """Neither a rounded year nor the time between a year and a number that is none."""
    context = "The tower of case 3 is 330 metres high and was finished in 1889."
    result = Faithfulness().evaluate_sync(question=None, chunks=[context], response=claim)
    assert result.label == "unfaithful"


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("It is guaranteed for a year.", 1.0, "year"),
        ("Das gilt innerhalb eines Monats.", 1.0, "month"),
        ("It takes two and a half hours.", 2.5, "hour"),
        ("A quarter of the pupils walk.", 25.0, "percent"),
        ("Two thirds agreed.", 200 / 3, "percent"),
        ("三分之一的人同意。", 100 / 3, "percent"),
        ("可以用两个星期。", 2.0, "week"),
    ],
)
def test_shares_and_periods_in_words_are_quantities(text: str, value: float, unit: str) -> None:
    """An article counts a period, a part of something is a percentage."""
    quantity = read_closely(text).quantities[0]
    assert quantity.value == pytest.approx(value)
    assert quantity.unit == unit


def test_a_rate_is_no_period() -> None:
    """ "A month" after a price says how often it is paid."""
    assert [quantity.value for quantity in read_closely("They pay £19 a month.").quantities] == [19.0]


def test_a_number_without_a_unit_shares_the_one_before_it() -> None:
    """ "48 people in Berlin, 63 in Paris"."""
    first, second = read_closely("It employs 48 people in Berlin, 63 in Paris.").quantities
    assert first.unit == second.unit
