"""What HTTP failures mean."""

from __future__ import annotations

import pytest

from rag_otel.errors import PermanentError, RetryableError
from rag_otel_evaluators.llm.failures import CallError, FailureKind, kind_of_status


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
