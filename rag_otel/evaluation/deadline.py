"""When the evaluation around a call ends, so that no call outlives it.

    with deadline_in(60.0):
        seconds_left()      # 59.99..., also in tasks that are started here

A call that the evaluation's own end cuts off has been paid for, and its breaker learns nothing: who calls a judge asks
first how much time is left.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline_s: ContextVar[float | None] = ContextVar("rag_otel_deadline", default=None)


@contextmanager
def deadline_in(seconds: float) -> Iterator[None]:
    """What happens inside has this long; an earlier deadline around it holds."""
    ends_s = time.monotonic() + seconds
    around = _deadline_s.get()
    token = _deadline_s.set(ends_s if around is None else min(around, ends_s))
    try:
        yield
    finally:
        _deadline_s.reset(token)


def seconds_left() -> float | None:
    """Seconds until the deadline, 0 when it has passed; None where there is none."""
    ends_s = _deadline_s.get()
    return None if ends_s is None else max(0.0, ends_s - time.monotonic())
