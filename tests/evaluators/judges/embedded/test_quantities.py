"""Numbers in any form: in words, with their unit, as shares, as times of day, in tables."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.close_reading import read_closely
from rag_otel_evaluators.judges.embedded.members import members_missing
from rag_otel_evaluators.judges.embedded.numbers import numbers_agree
from rag_otel_evaluators.judges.embedded.tables import read_row

TABLE = """Plans:

| Plan | Download | Upload | Price (€) |
|---|---|---|---|
| Start | 150 Mbit/s | 30 Mbit/s | 24 |
| Start Plus | 500 Mbit/s | 100 Mbit/s | 33 |
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("210.000 Haushalte", "zweihundertzehntausend Haushalte"),
        ("1.350.000 clientes", "un millón trescientos cincuenta mil clientes"),
        ("2 400 000 abonnés", "deux millions quatre cent mille abonnés"),
        ("en 1984", "en mille neuf cent quatre-vingt-quatre"),
        ("£4.75 million", "£4,750,000"),
        ("2.4亿元", "240,000,000元"),
        ("1 h 45", "105 minutes"),
        ("90 minutes", "an hour and a half"),
        ("noventa minutos", "hora y media"),
        ("90 Minuten", "anderthalb Stunden"),
        ("75 minutes", "une heure et quart"),
        ("150分钟", "两个半小时"),
        ("25 %", "una cuarta parte de la energía"),
        ("40 Prozent", "zwei Fünftel der Kunden"),
        ("20 percent", "one in five"),
        ("百分之六十", "五分之三"),
        ("at 7 pm", "at 19:00"),
        ("18.30 Uhr", "18 h 30"),
        ("le 1er février", "1 February"),
        ("the fifteenth of January", "15 January"),
        ("um halb zehn", "um 21:30 Uhr"),
        ("a las nueve y cinco", "a las 9:05"),
        ("a quarter to ten", "9:45"),
        ("12.4公里", "十二点四公里"),
        ("60 m²", "60 square metres"),
        ("100 pounds", "£100"),
        ("Two pounds sixty", "£2.60"),
        ("$3.40", "three dollars and forty cents"),
        ("400 €", "quatre cents euros"),
        ("135 minutes", "two and a quarter hours"),
        ("1 h 25", "an hour and twenty-five minutes"),
        ("105 minutes", "an hour and three quarters"),
        ("135 minutes", "deux heures et quart"),
        ("150 °C", "150 degrees Celsius"),
        ("25 %", "jeder vierte Haushalt"),
        ("50 %", "bis zur Hälfte der Leistung"),
        ("6 wheels", "half a dozen wheels"),
        ("at 19:00", "at seven in the evening"),
        ("um 17 Uhr", "um fünf am Nachmittag"),
        ("14 days", "within a fortnight"),
    ],
)
def test_the_same_quantity_in_another_form(one: str, other: str) -> None:
    """Either way round, one bears the other out."""
    assert read_closely(one).quantities
    assert numbers_agree(read_closely(one), [read_closely(other)])
    assert numbers_agree(read_closely(other), [read_closely(one)])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("40 minutes", "40 seconds"),
        ("2,1 Millionen Haushalte", "210.000 Haushalte"),
        ("eine halbe Stunde", "eine Viertelstunde"),
        ("85 mégaoctets", "85 kilo-octets"),
        ("at 7 pm", "at 7 am"),
        ("下午三点", "上午三点"),
    ],
)
def test_another_quantity(one: str, other: str) -> None:
    """The same figure of another unit, or another figure, is another quantity."""
    assert not numbers_agree(read_closely(one), [read_closely(other)])


def test_a_cell_stands_beside_the_names_of_its_column_and_its_row() -> None:
    """The upload speed of Start is the number that both names stand at; its price has the unit of the column."""
    row = TABLE.index("| Start |")
    reading = read_row(TABLE, row, TABLE.index("\n", row))
    assert reading is not None
    upload = next(quantity for quantity in reading.quantities if quantity.value == 30)
    assert upload.at in reading.places["upload"]
    assert upload.at in reading.places["start"]
    assert upload.at not in reading.places["download"]
    assert next(quantity for quantity in reading.quantities if quantity.value == 24).unit == "euro"


def test_a_row_outside_of_a_table_is_a_sentence() -> None:
    """No head, nothing to add."""
    assert read_row("Either a | b.", 0, 13) is None


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Yoga, boxing and swimming.", 0.0),
        ("Yoga, boxing and pilates.", 1 / 3),
        ("Chess and bridge.", 0.0),  # nothing of the list: not a list with a wrong member
        ("You can do yoga.", 0.0),
    ],
)
def test_a_member_of_another_list(claim: str, expected: float) -> None:
    """Pilates is in the sentence, but not in the list."""
    evidence = read_closely("In the evening there are yoga, boxing, dance and swimming; pilates is in the morning.")
    assert members_missing(read_closely(claim), [evidence]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("one", "other"),
    [("300 degrees Fahrenheit", "300 °C"), ("forty cents", "4,000 dollars"), ("every third day", "33%")],
)
def test_another_unit_or_another_meaning(one: str, other: str) -> None:
    assert read_closely(one).quantities
    assert not numbers_agree(read_closely(one), [read_closely(other)])


def test_a_number_has_its_unit_in_its_own_cell() -> None:
    """The "€" of one cell does not make the weeks of the next one money; "1 h 20" is one length of time."""
    table = "| Document | Fee | Takes |\n|---|---|---|\n| Passport | 70,00 € | 5 weeks |\n| Visa | £7 | 1 h 20 | free |"
    start = table.index("| Passport")
    row = read_row(table, start, table.index("\n", start))
    assert row is not None
    assert [(quantity.value, quantity.unit) for quantity in row.quantities] == [(70.0, "euro"), (5.0, "week")]
    (fare, time, seat) = read_closely("| Visa | £7 | 1 h 20 | free |").quantities
    assert (fare.unit, time.unit, round(time.value, 2)) == ("pound", "hour", 1.33)
    assert (seat.unit, seat.value) == ("free", 0.0)
