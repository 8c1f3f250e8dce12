"""What judges have spent, known also when nothing came of it.

    with metered() as spent:
        await evaluator.evaluate(...)      # raises, or runs out of time
    spent.usage                            # every answer that was paid for until then

A model reports each answer as it arrives (`spend`); whoever waits for the result around it reads the sum. Without this
the tokens of an evaluation that fails half-way would be on the bill and in no chart.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rag_otel.model import Usage


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


_current: ContextVar[UsageMeter | None] = ContextVar("rag_otel_spending", default=None)


@contextmanager
def metered() -> Iterator[UsageMeter]:
    """Sum up what is spent inside; what is nested counts for the outer one too."""
    spending = UsageMeter(_current.get())
    token = _current.set(spending)
    try:
        yield spending
    finally:
        _current.reset(token)


def spend(usage: Usage) -> None:
    """Report one answer of a model that was paid for; nobody need be listening."""
    spending = _current.get()
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
