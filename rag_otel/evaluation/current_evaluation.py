"""The evaluation that runs, as the code inside it may ask: until when it may take, and which texts it is about.

    with evaluating("Who?", *chunk_texts, response, timeout_s=60.0):
        seconds_left()                  # 59.99..., also in tasks that are started here
        current_evaluation().texts

A call that the evaluation's own end cuts off has been paid for, and its breaker learns nothing: who calls a judge asks
first how much time is left. What leaves for a judge is masked: the same value needs the same placeholder in every call
of one evaluation, and a value that a prompt cuts in two is known only from the whole text.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field

from rag_otel.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentEvaluation:
    """Texts and deadline of an evaluation."""

    texts: tuple[str, ...]
    """Question, chunks, response and reference, in this order, as far as there are any."""
    ends_s: float
    """In `time.monotonic` seconds."""
    memo: dict[object, object] = field(default_factory=dict)
    """What was worked out about the texts, by who asks."""


_current: ContextVar[CurrentEvaluation | None] = ContextVar("rag_otel_evaluation", default=None)


@contextmanager
def evaluating(*texts: str | None, timeout_s: float) -> Iterator[None]:
    """What happens inside evaluates these texts and has this long; an earlier deadline around it holds."""
    ends_s, around = time.monotonic() + timeout_s, _current.get()
    token = _current.set(
        CurrentEvaluation(
            texts=tuple([text for text in texts if isinstance(text, str)]),
            ends_s=ends_s if around is None else min(around.ends_s, ends_s),
        )
    )
    try:
        yield
    finally:
        _current.reset(token)


def current_evaluation() -> CurrentEvaluation | None:
    """The evaluation around the call; None outside of one."""
    return _current.get()


def seconds_left() -> float | None:
    """Seconds until the deadline, 0 when it has passed; None where there is none."""
    current = _current.get()
    return None if current is None else max(0.0, current.ends_s - time.monotonic())
