"""The one thread that keeps the time."""

from __future__ import annotations

import threading
import time

import pytest

from rag_otel.delivery.ticker import Ticker
from rag_otel.safety.guard import counters
from testkit.polling import eventually


class Part:
    """Due when told to be; `error` is raised by every tick."""

    def __init__(self, error: Exception | None = None) -> None:
        self.at: float | None = None
        self.ticks = 0
        self._error = error

    def due(self) -> float | None:
        return self.at

    def tick(self) -> None:
        self.ticks += 1
        self.at = None
        if self._error is not None:
            raise self._error

    def after_fork(self) -> None: ...

    def close(self) -> None: ...


def tickers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "rag-otel-ticker"]


def test_what_becomes_due_earlier_is_not_waited_for_longer() -> None:
    """The thread sleeps towards an hour from now; a wake lets it look again."""
    part, before = Part(), set(tickers())
    part.at = time.time() + 3600
    ticker = Ticker([part])
    ticker.start()
    assert part.ticks == 0
    part.at = time.time()
    ticker.wake()
    eventually(lambda: part.ticks == 1)
    ticker.close()
    eventually(lambda: set(tickers()) <= before)


def test_a_part_that_fails_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted; the others, and its own next tick, go on."""
    monkeypatch.delenv("RAG_OTEL_RAISE_INTERNAL_ERRORS")
    before = counters.get("internal_error.ticker")
    broken, sound = Part(ValueError("bug")), Part()
    ticker = Ticker([broken, sound])
    for count in (1, 2):
        broken.at = sound.at = time.time()
        ticker.wake()
        eventually(lambda count=count: (broken.ticks, sound.ticks) == (count, count))  # type: ignore[misc]
    assert counters.get("internal_error.ticker") == before + 2
    ticker.close()


def test_one_that_is_closed_or_has_no_parts_starts_no_thread() -> None:
    """Not even when woken."""
    before = len(tickers())
    closed = Ticker([Part()])
    closed.close()
    closed.wake()
    closed.start()
    Ticker([]).start()
    assert len(tickers()) == before
