"""Numbers, amounts, dates and times are read in five languages, as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.text.quantities import MOST_QUANTITIES, read_quantities
from rag_otel_evaluators.text.quantity import Quantity


def only(text: str) -> Quantity:
    (found,) = read_quantities(text)
    return found


@pytest.mark.parametrize(
    ("text", "value", "dimension", "unit"),
    [
        ("2.1 million inhabitants", 2_100_000, "", ""),
        ("1.234,56 Euro", 1234.56, "money", "euro"),
        ("4,90 €", 4.9, "money", "euro"),
        ("$1.5bn", 1.5e9, "money", "dollar"),
        ("1 250 inscrits", 1250, "", ""),
        ("70 %", 70, "share", "percent"),
        ("twenty-five percent", 25, "share", "percent"),
        ("one hundred and twenty-five students", 125, "", ""),
        ("veinticinco años", 25, "time", "year"),
        ("treinta y cinco horas", 35, "time", "hour"),
        ("fünfundzwanzig Jahre", 25, "time", "year"),
        ("zweihundert Gramm", 200, "mass", "gram"),
        ("quatre-vingt-dix-sept jours", 97, "time", "day"),
        ("deux fois", 2, "times", "time"),
        ("twice a day", 2, "times", "time"),
        ("20元", 20, "money", "yuan"),
        ("3万人", 30_000, "", ""),
        ("一百二十分钟", 120, "time", "minute"),
        ("twenty degrees Celsius", 20, "temperature", "celsius"),
        ("a 20-minute walk", 20, "time", "minute"),
        ("14:35 Uhr", 875, "clock", "clock"),
        ("2 pm", 840, "clock", "clock"),
        ("上午九点", 540, "clock", "clock"),
        ("kostenlos", 0, "money", "free"),
    ],
)
def test_amounts(text: str, value: float, dimension: str, unit: str) -> None:
    """Figures and words, scales, currencies, units, times of day."""
    found = only(text)
    assert (found.value, found.dimension, found.unit) == (value, dimension, unit)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("14 March 2021", (2021, 3, 14)),
        ("March 14, 2021", (2021, 3, 14)),
        ("14. März", (0, 3, 14)),
        ("14 de marzo de 2021", (2021, 3, 14)),
        ("2021年3月14日", (2021, 3, 14)),
        ("2021-03-14", (2021, 3, 14)),
        ("14.03.2021", (2021, 3, 14)),
        ("in March 2021", (2021, 3, 0)),
        ("in 1889", (1889, 0, 0)),
    ],
)
def test_dates(text: str, date: tuple[int, int, int]) -> None:
    """A date as far as it is given, in any order."""
    assert only(text).date == date


@pytest.mark.parametrize("text", ["COVID-19", "version 2.0.1", "192.168.0.1", "you may go", "one of them", "feel free"])
def test_what_is_no_quantity(text: str) -> None:
    """Names with digits, versions, addresses and articles are no amounts."""
    assert read_quantities(text) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2.1 million people", "2,100,000 people"),
        ("about 2.1 million people", "2,102,650 people"),
        ("90 minutes", "1.5 hours"),
        ("330 m", "330 metres"),
        ("330 metres", "1,083 feet"),
        ("14:30", "2:30 pm"),
        ("in 2021", "on 14 March 2021"),
        ("12", "twelve"),
        ("48 to 60 million euros", "48 million euros"),
    ],
)
def test_the_same_said_in_another_way(one: str, other: str) -> None:
    """Scales, rounding, units of one dimension, dates with less detail."""
    assert read_quantities(one)[0].agrees(only(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("300 metres", "330 metres"),
        ("seven months", "seven years"),
        ("4.90 dollars", "4.90 euros"),
        ("14:35", "15:35"),
        ("March 2012", "March 2021"),
        ("15 euros", "gratis"),
        ("two tablets", "one tablet"),
    ],
)
def test_rivals(one: str, other: str) -> None:
    """Two amounts of the same kind that cannot both be right."""
    mine, theirs = only(one), only(other)
    assert mine.rivals(theirs)
    assert not mine.agrees(theirs)


@given(st.text(st.sampled_from("0123456789.,:- $%€年月日一百点半hmpa.MarchundtoOfthe\n"), max_size=60))
def test_reading_never_fails_and_quotes_verbatim(text: str) -> None:
    """Whatever stands there: no error, in order, each a slice of the text."""
    found = read_quantities(text)
    assert all(text[each.start : each.end] == each.text for each in found)
    assert [each.start for each in found] == sorted(each.start for each in found)


def test_at_most_so_many() -> None:
    """A text made of numbers is read up to a bound."""
    assert len(read_quantities("0:00 1:01 " * 1_000)) == MOST_QUANTITIES
