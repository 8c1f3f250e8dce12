"""The evaluation that runs, as the code inside sees it: how long it may take, what its texts are, what was spent.

    with metered() as spent, evaluating("Who?", *chunk_texts, response, timeout_s=60.0):
        seconds_left()                  # 59.99..., also in tasks that are started here
        current_evaluation().texts
        spend(usage)                    # an answer of a model that was paid for
    spent.usage                         # all of them, also where nothing came of it

A call that the evaluation's own end cuts off has been paid for, and its breaker learns nothing: who calls a judge asks
first how much time is left. What leaves for a judge is masked: the same value needs the same placeholder in every call
of one evaluation, and a value that a prompt cuts in two is known only from the whole text. A model reports each answer
as it arrives: else the tokens of an evaluation that fails half-way would be on the bill and in no chart.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentEvaluation:
    """Texts and deadline of an evaluation."""

    texts: tuple[str, ...]
    """Question, chunks, response and reference, in this order, as far as there are any."""
    ends_s: float
    """In `time.monotonic` seconds."""
    memo: dict[object, object] = field(default_factory=dict)
    """What was worked out about the texts, by who asks."""


_evaluation: ContextVar[CurrentEvaluation | None] = ContextVar("rag_otel_evaluation", default=None)


@contextmanager
def evaluating(*texts: str | None, timeout_s: float) -> Iterator[None]:
    """What happens inside evaluates these texts and has this long; an earlier deadline around it holds."""
    ends_s, around = time.monotonic() + timeout_s, _evaluation.get()
    token = _evaluation.set(
        CurrentEvaluation(
            texts=tuple([text for text in texts if isinstance(text, str)]),
            ends_s=ends_s if around is None else min(around.ends_s, ends_s),
        )
    )
    try:
        yield
    finally:
        _evaluation.reset(token)


def current_evaluation() -> CurrentEvaluation | None:
    """The evaluation around the call; None outside of one."""
    return _evaluation.get()


def seconds_left() -> float | None:
    """Seconds until the deadline, 0 when it has passed; None where there is none."""
    current = _evaluation.get()
    return None if current is None else max(0.0, current.ends_s - time.monotonic())


class UsageMeter:
    """A running sum, over everything that happens inside its `metered()`, tasks started there included."""

    def __init__(self, around: UsageMeter | None = None) -> None:
        self._around = around
        self._usage = Usage()

    @property
    def usage(self) -> Usage | None:
        """The sum so far; None where no call was made."""
        return self._usage if self._usage.calls else None

    def add(self, usage: Usage) -> None:
        self._usage = add_usage(self._usage, usage)
        if self._around is not None:
            self._around.add(usage)


_meter: ContextVar[UsageMeter | None] = ContextVar("rag_otel_spending", default=None)


@contextmanager
def metered() -> Iterator[UsageMeter]:
    """Sum up what is spent inside; what is nested counts for the outer one too."""
    spending = UsageMeter(_meter.get())
    token = _meter.set(spending)
    try:
        yield spending
    finally:
        _meter.reset(token)


def spend(usage: Usage) -> None:
    """Report one answer of a model that was paid for; nobody need be listening."""
    spending = _meter.get()
    if spending is not None:
        spending.add(usage)


def add_usage(first: Usage | None, second: Usage | None) -> Usage:
    """The sum of two; a price that is unknown on either side is unknown in the sum, unless that side made no call."""
    first, second = first or Usage(), second or Usage()
    costs = [usage.cost_usd for usage in (first, second) if usage.calls or usage.cost_usd is not None]
    return Usage(
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cost_usd=None if any(cost is None for cost in costs) or not costs else sum(cost or 0.0 for cost in costs),
        calls=first.calls + second.calls,
        cached_calls=first.cached_calls + second.cached_calls,
    )
