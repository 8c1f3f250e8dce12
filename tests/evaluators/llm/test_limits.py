"""Concurrency, requests and tokens a minute, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.llm.failures import CallError, FailureKind
from rag_otel_evaluators.llm.rate_limits import RateLimiter, RateLimits
from tests.support.virtual_time import VirtualLoop, virtual_loop


def start_times(
    loop: VirtualLoop, limiter: RateLimiter, calls: int, *, tokens: float = 1.0, used: float | None = None
) -> list[float]:
    """When each of `calls` simultaneous callers was let in, in virtual seconds."""
    times: list[float] = []

    async def call() -> None:
        async with limiter.slot(estimated_tokens=tokens) as reservation:
            times.append(loop.time())
            reservation.used_tokens = used

    async def all_calls() -> None:
        await asyncio.gather(*(call() for _ in range(calls)))

    loop.run_until_complete(all_calls())
    return times


def test_requests_a_minute_are_kept_after_a_short_burst() -> None:
    """60 a minute with a burst of two seconds: two at once, then one a second."""
    with virtual_loop() as loop:
        limiter = RateLimiter(RateLimits(requests_per_minute=60), burst_s=2.0, clock=loop.time)
        assert start_times(loop, limiter, 6) == pytest.approx([0, 0, 1, 2, 3, 4])


def test_tokens_a_minute_are_reserved_by_estimate() -> None:
    """600 tokens a minute, 20 a call: a call every two seconds after the burst."""
    with virtual_loop() as loop:
        limiter = RateLimiter(RateLimits(tokens_per_minute=600), burst_s=2.0, clock=loop.time)
        assert start_times(loop, limiter, 4, tokens=20) == pytest.approx([0, 2, 4, 6])


def test_tokens_that_were_not_used_are_given_back() -> None:
    """Reserved 20 and used 10: twice as many calls in the long run."""
    with virtual_loop() as loop:
        limiter = RateLimiter(RateLimits(concurrency=1, tokens_per_minute=600), burst_s=2.0, clock=loop.time)
        assert start_times(loop, limiter, 5, tokens=20, used=10)[-1] == pytest.approx(4 - 1 + 2 * 0.5)


def test_a_call_larger_than_the_bucket_is_still_possible() -> None:
    """It waits until what it overdraws is paid back, and does not wait for ever."""
    with virtual_loop() as loop:
        limiter = RateLimiter(RateLimits(tokens_per_minute=60), burst_s=2.0, clock=loop.time)
        assert start_times(loop, limiter, 1, tokens=30) == pytest.approx([28])


def test_a_pause_holds_everybody_back() -> None:
    """What a provider asks of one caller is heeded by all, those that already wait included."""
    with virtual_loop() as loop:
        limiter = RateLimiter(RateLimits(requests_per_minute=60), burst_s=1.0, clock=loop.time)
        limiter.pause(10)
        assert start_times(loop, limiter, 2) == pytest.approx([10, 10])


def test_a_caller_that_gives_up_returns_its_tokens() -> None:
    """Cancelled while waiting: the next one does not pay for it."""
    with virtual_loop() as loop:
        limiter = RateLimiter(RateLimits(tokens_per_minute=600), burst_s=1.0, clock=loop.time)

        async def give_up() -> None:
            async with asyncio.timeout(1), limiter.slot(estimated_tokens=1_000):
                pass

        with pytest.raises(TimeoutError):
            loop.run_until_complete(give_up())
        assert start_times(loop, limiter, 1, tokens=10) == pytest.approx([1])


def test_one_limiter_serves_several_loops() -> None:
    """A notebook's loop and a worker's may share a judge."""
    limiter = RateLimiter(RateLimits(concurrency=1))
    for _ in range(2):
        with virtual_loop() as loop:
            assert len(start_times(loop, limiter, 3)) == 3


@pytest.mark.parametrize("name", ["concurrency", "requests_per_minute", "tokens_per_minute"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    """0 would block for ever: the message names the setting."""
    with pytest.raises(ConfigurationError, match=name):
        RateLimits(**{name: 0})


@pytest.mark.parametrize("limits", [RateLimits(requests_per_minute=60), RateLimits(tokens_per_minute=60)])
def test_who_would_wait_too_long_is_told_at_once(limits: RateLimits) -> None:
    """And has taken nobody's turn: the next one that can wait is let in when it would have been."""
    with virtual_loop() as loop:
        limiter = RateLimiter(limits, burst_s=2.0, clock=loop.time)

        async def call(longest_wait_s: float | None) -> float:
            async with limiter.slot(estimated_tokens=2, longest_wait_s=longest_wait_s):
                return loop.time()

        async def calls() -> list[float]:
            first = [await call(None), await call(None)]
            with pytest.raises(CallError, match="cap of this process") as refused:
                await call(0.5)
            assert refused.value.kind is FailureKind.CAP
            return [*first, await call(None)]

        times = loop.run_until_complete(calls())
        assert times[2] - times[1] <= 4.0
