"""When to try again, and what HTTP failures mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.errors import PermanentError, RetryableError
from rag_otel_evaluators.llm.failures import CallError, FailureKind, kind_of_status
from rag_otel_evaluators.llm.retry import RetryPolicy, read_retry_after


@given(st.integers(1, 60), st.none() | st.floats(0, 1e6), st.floats(0, 200))
def test_every_wait_is_within_its_bounds(attempt: int, retry_after_s: float | None, spent_s: float) -> None:
    """Never beyond attempts, deadline or longest wait, never before Retry-After."""
    policy = RetryPolicy()
    wait = policy.wait_s(attempt, retry_after_s, spent_s)
    if wait is not None:
        assert attempt < policy.attempts
        assert spent_s + wait < policy.deadline_s
        assert (retry_after_s or 0) <= wait <= policy.longest_wait_s * 1.25


def test_without_a_word_from_the_provider_waits_differ() -> None:
    """Jitter: callers that failed together do not come back together."""
    assert len({RetryPolicy().wait_s(3, None, 0) for _ in range(20)}) > 1


def test_a_wait_that_is_too_long_is_not_waited() -> None:
    """A daily quota's Retry-After ends the attempts at once."""
    assert RetryPolicy(longest_wait_s=30).wait_s(1, 3_600, 0) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 90.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(value: str | None, seconds: float | None) -> None:
    """Both forms of RFC 9110; nonsense counts as not given."""
    assert read_retry_after(value, now=10.0) == seconds


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "bad key", FailureKind.AUTH),
        (403, "not for you", FailureKind.AUTH),
        (402, "pay", FailureKind.BILLING),
        (429, "insufficient_quota", FailureKind.BILLING),
        (429, "slow down", FailureKind.RATE_LIMIT),
        (400, "Your credit balance is too low", FailureKind.BILLING),
        (400, "the claim about a payment cannot be read", FailureKind.REQUEST),
        (404, "no such model", FailureKind.ENDPOINT),
        (408, "", FailureKind.TIMEOUT),
        (422, "", FailureKind.REQUEST),
        (500, "", FailureKind.OVERLOAD),
        (529, "", FailureKind.OVERLOAD),
    ],
)
def test_a_status_has_a_kind(status: int, message: str, kind: FailureKind) -> None:
    """Each kind leads to its own treatment; an empty account that calls itself a rate limit is told apart."""
    assert kind_of_status(status, message) is kind


@pytest.mark.parametrize("kind", list(FailureKind))
def test_callers_see_one_of_two_errors(kind: FailureKind) -> None:
    """Try again, or do not: with the kind and the message in the text."""
    error = CallError(kind, "why", retry_after_s=3).as_error()
    assert isinstance(error, RetryableError if kind.retryable else PermanentError)
    assert str(error) == f"{kind}: why"
    if isinstance(error, RetryableError):
        assert error.retry_after_s == 3
