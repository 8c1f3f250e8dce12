"""A row of a table read with its head: each cell stands beside the name of its column and the name of its row.

A row alone is "Family | 500 | 100 | 33": which of the numbers is the upload speed, only the first row says.
"""

from __future__ import annotations

import re
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading, read_closely
from rag_otel_evaluators.judges.embedded.quantities import Quantity
from rag_otel_evaluators.text.languages.numerals import CJK_MYRIADS, MULTIPLIERS
from rag_otel_evaluators.text.languages.quantities import UNITS

_MOST_ROWS: Final = 60
"""Rows of one table that are read with their head."""
_FARTHEST: Final = 8_000
"""Characters before a row within which its table begins."""
_RULE: Final = re.compile(r"[\s|:+-]*")
"""The line below the head."""
_MOST_CELLS: Final = 12
_POINTS_IN_TIME: Final = ("date", "clock", "weekday")
_SCALED: Final = 1e6
"""A number from here on is written out, whatever the head of its column says."""
_SCALES: Final = {word: value for word, value in MULTIPLIERS.items() if value >= 1000.0} | dict(CJK_MYRIADS)


def read_row(text: str, start: int, end: int) -> Reading | None:
    """Read `text[start:end]`, a row of a table, with its head; None where it is none, or stands in no table."""
    row = text[start:end]
    cells = _cells(row)
    if not 2 <= len(cells) <= _MOST_CELLS or "\n" in row:
        return None
    head = _head(text, start, len(cells))
    if head is None:
        return None
    reading = read_closely(row)
    starts = _starts(cells)
    if starts[-1] > len(reading.words):
        return reading
    key = range(min(starts[1], len(reading.words)))
    reading.key.extend(reading.words[at] for at in key)
    named = [term for term, places in reading.places.items() if places[0] in key]
    named_labels = [term for term, places in reading.labels.items() if places[0] in key]
    for column in range(1, len(cells)):
        first = starts[column]
        if first >= len(reading.words):
            break
        for term in read_closely(head[column]).places:
            _place(reading.places, term, first)
        for term in named:
            _place(reading.places, term, first)
        for term in named_labels:
            _place(reading.labels, term, first)
        _measure(reading, first, starts[column + 1], *_measured(head[column]))
    return reading


def _place(places: dict[str, list[int]], term: str, at: int) -> None:
    found = places.setdefault(term, [])
    if at not in found:
        found.append(at)


def _cells(row: str) -> list[str]:
    return row.strip().strip("|").split("|")


def _starts(cells: list[str]) -> list[int]:
    """The first word of each cell, and the end."""
    starts = [0]
    for cell in cells:
        starts.append(starts[-1] + len(read_closely(cell).words))
    return starts


def _head(text: str, start: int, cells: int) -> list[str] | None:
    """The cells of the first row of the table; None where the row is the first itself."""
    head: list[str] | None = None
    end = start - 1
    for _ in range(_MOST_ROWS):
        if end <= 0 or start - end > _FARTHEST:
            break
        line_start = text.rfind("\n", max(0, end - _FARTHEST), end) + 1
        line = text[line_start:end]
        if "|" not in line:
            break
        if not _RULE.fullmatch(line):
            found = _cells(line)
            if len(found) != cells:
                break
            head = found
        end = line_start - 1
    return head


def _measured(name: str) -> tuple[str, float]:
    """(unit, factor) of a column: "Sales (mill. €)", "Weight in kg", "销量（万台）"."""
    unit, factor = "", 1.0
    for word in read_closely(name).written:
        lower = word.lower()
        if lower in _SCALES:
            factor = _SCALES[lower]
        elif lower in UNITS and not unit:
            unit = UNITS[lower]
        elif word == "元":
            unit = unit or "yuan"
    return unit, factor


def _measure(reading: Reading, first: int, end: int, unit: str, factor: float) -> None:
    """Give the numbers of a cell the unit of the cell, or of its column: never of the cell beside it."""
    for number, own in enumerate(reading.quantities):
        if not first <= own.at < end or own.unit in _POINTS_IN_TIME or not own.text[0].isdigit():
            continue
        if _stands_with_unit(reading, own, first, end):
            unit_here, known = own.unit, own.known_unit
        else:
            unit_here, known = unit, bool(unit)
        value = own.value * factor if own.value < _SCALED else own.value
        reading.quantities[number] = own._replace(value=value, unit=unit_here, known_unit=known)


def _stands_with_unit(reading: Reading, own: Quantity, first: int, end: int) -> bool:
    """True where the cell has a word after the number or within it ("1 h 20"), or a currency before it."""
    if own.known_unit and " " in own.text:
        return True
    after = own.at + len(own.text.split(" "))
    return after < end or (own.at > first and reading.written[own.at - 1].lower() in UNITS)
