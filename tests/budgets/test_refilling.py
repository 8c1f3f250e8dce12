"""Accounts that refill, as with so many calls a minute; in memory and in a file that processes share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_otel.budgets.ledger import Ledger, Line, MemoryLedger
from rag_otel.budgets.sqlite_ledger import SqliteLedger


class _Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture(params=["memory", "sqlite"])
def open_books(request: pytest.FixtureRequest, tmp_path: Path, clock: _Clock) -> Iterator[Callable[[], Ledger]]:
    """Another connection to the same books."""
    only = MemoryLedger(clock)
    made: list[Ledger] = [only]

    def opened() -> Ledger:
        if request.param == "memory":
            return only
        made.append(SqliteLedger(tmp_path / "books.sqlite", clock=clock))
        return made[-1]

    yield opened
    for each in made:
        each.close()


def _line(amount: float, *, overdraws: bool = False) -> Line:
    """One a second; ten may be taken at once."""
    return Line(scope="calls", amount=amount, limit=10.0, refill_per_s=1.0, overdraws=overdraws)


def _booked(books: Ledger, amount: float, *, overdraws: bool = False) -> bool:
    return isinstance(books.reserve("a", [_line(amount, overdraws=overdraws)], 60.0), list)


def test_what_was_taken_comes_back_evenly(open_books: Callable[[], Ledger], clock: _Clock) -> None:
    """Ten at once, then one a second, also while the calls are under way and whoever asks; never more than ten."""
    one, other = open_books(), open_books()
    assert [_booked(one, 5), _booked(other, 5), _booked(one, 1)] == [True, True, False]
    clock.now += 1
    assert [_booked(other, 1), _booked(one, 1)] == [True, False]
    clock.now += 3_600
    assert [_booked(one, 10), _booked(one, 1)] == [True, False]


def test_who_overdraws_is_told_how_long_to_wait(open_books: Callable[[], Ledger], clock: _Clock) -> None:
    """Nobody is refused, and those who come later wait longer. What was not used is given back when it is settled."""
    books = open_books()
    first = books.reserve("a", [_line(25, overdraws=True)], 60.0)
    second = books.reserve("b", [_line(5, overdraws=True)], 60.0)
    assert isinstance(first, list)
    assert isinstance(second, list)
    assert [first[0].wait_s, second[0].wait_s] == [15.0, 20.0]
    clock.now += 5
    books.settle("a", first, [5])
    assert not _booked(books, 6)
    assert _booked(books, 5)


def test_a_clock_that_is_set_back_refills_nothing(open_books: Callable[[], Ledger], clock: _Clock) -> None:
    books = open_books()
    assert _booked(books, 10)
    clock.now -= 100
    assert not _booked(books, 1)
    clock.now += 1
    assert _booked(books, 1)
