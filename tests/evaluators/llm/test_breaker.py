"""The circuit breaker: what opens it, what it says, how it closes."""

from __future__ import annotations

import logging

import pytest

from rag_otel_evaluators.llm.circuit_breaker import CONSECUTIVE_FAILURES, CircuitBreaker
from rag_otel_evaluators.llm.failures import CallError, FailureKind


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker("openai/judge", cool_down_s=30, longest_cool_down_s=100, clock=clock)


def fail(breaker: CircuitBreaker, kind: FailureKind, retry_after_s: float | None = None) -> None:
    breaker.admit()
    breaker.failed(CallError(kind, "what the provider said", retry_after_s=retry_after_s))


def refused_for(breaker: CircuitBreaker) -> float | None:
    """Seconds after which a refused call may be tried again."""
    with pytest.raises(CallError) as refusal:
        breaker.refuse()
    return refusal.value.retry_after_s


@pytest.mark.parametrize("kind", [FailureKind.AUTH, FailureKind.BILLING, FailureKind.ENDPOINT])
def test_a_lasting_fault_opens_it_at_once_and_is_told(
    breaker: CircuitBreaker, kind: FailureKind, caplog: pytest.LogCaptureFixture
) -> None:
    """Key, account, address: no second call is spent; state, refusal and log give the provider's reason."""
    with caplog.at_level(logging.WARNING, "rag_otel"):
        fail(breaker, kind)
    assert breaker.opened_by is not None
    assert breaker.opened_by.kind is kind
    assert refused_for(breaker) == 30
    with pytest.raises(CallError, match="what the provider said") as refusal:
        breaker.admit()
    assert refusal.value.kind is kind
    assert refusal.value.retry_after_s == 30
    assert "openai/judge" in caplog.text
    assert "what the provider said" in caplog.text


@pytest.mark.parametrize("kind", [kind for kind, needed in CONSECUTIVE_FAILURES.items() if needed > 1])
def test_passing_faults_open_it_only_in_a_row(breaker: CircuitBreaker, kind: FailureKind) -> None:
    """Also refused requests and answers that cannot be read. One that can, and the count starts again."""
    needed = CONSECUTIVE_FAILURES[kind]
    for _ in range(needed - 1):
        fail(breaker, kind)
    breaker.succeeded()
    for _ in range(needed - 1):
        fail(breaker, kind)
    assert breaker.opened_by is None
    fail(breaker, kind)
    assert breaker.opened_by is not None


def test_a_server_that_is_back_is_called_whatever_it_thinks_of_the_request(
    breaker: CircuitBreaker, clock: Clock
) -> None:
    """After an outage a refused or unreadable probe says that somebody answers."""
    fail(breaker, FailureKind.AUTH)
    clock.now = 30
    fail(breaker, FailureKind.REQUEST)
    assert breaker.opened_by is None


def test_after_the_cool_down_one_call_finds_out(breaker: CircuitBreaker, clock: Clock) -> None:
    """Half-open lets exactly one through; its answer closes the breaker for all."""
    fail(breaker, FailureKind.AUTH)
    clock.now = 30
    breaker.admit()
    with pytest.raises(CallError):
        breaker.admit()
    breaker.succeeded()
    breaker.admit()
    assert breaker.opened_by is None


def test_a_failed_try_doubles_the_wait_up_to_a_bound(breaker: CircuitBreaker, clock: Clock) -> None:
    """30, 60, 100 (the bound), 100 seconds; an answer brings it back to 30."""
    waits = []
    for _ in range(4):
        fail(breaker, FailureKind.ENDPOINT)
        waits.append(refused_for(breaker))
        clock.now += waits[-1] or 0
    breaker.succeeded()
    fail(breaker, FailureKind.ENDPOINT)
    assert [*waits, refused_for(breaker)] == [30, 60, 100, 100, 30]


def test_a_provider_that_names_a_longer_wait_gets_it(breaker: CircuitBreaker) -> None:
    """Retry-After is a lower bound of the cool-down."""
    fail(breaker, FailureKind.BILLING, retry_after_s=77)
    assert refused_for(breaker) == 77


def test_a_wait_of_days_does_not_hold_the_breaker_open_for_days(breaker: CircuitBreaker) -> None:
    """A Retry-After may come from a clock that is wrong: the longest cool-down bounds it."""
    fail(breaker, FailureKind.BILLING, retry_after_s=1e7)
    assert refused_for(breaker) == 100


def test_a_try_that_is_cancelled_lets_another_one_try(breaker: CircuitBreaker, clock: Clock) -> None:
    """Else a cancelled probe would keep the breaker open for ever."""
    fail(breaker, FailureKind.AUTH)
    clock.now = 30
    breaker.admit()
    breaker.abandoned()
    breaker.admit()
    assert breaker.opened_by is not None


def test_failures_of_calls_from_before_it_opened_do_not_lengthen_it(breaker: CircuitBreaker, clock: Clock) -> None:
    """Twenty calls under way when the key expires: one opening, one wait."""
    for _ in range(3):
        breaker.admit()
    for _ in range(3):
        breaker.failed(CallError(FailureKind.AUTH, "expired"))
        clock.now += 1
    assert refused_for(breaker) == 27
