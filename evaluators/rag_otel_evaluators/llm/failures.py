"""Kinds of failed calls, as far as they decide what happens next."""

from __future__ import annotations

import enum
from typing import Final

from rag_otel.errors import PermanentError, RagOtelError, RetryableError
from rag_otel.model import ReasonCode, Usage


class FailureKind(enum.StrEnum):
    """What went wrong with a call."""

    AUTH = "auth"
    """The key is missing, wrong or not allowed (401, 403)."""
    BILLING = "billing"
    """No credit, or the quota is used up (402, `insufficient_quota`)."""
    ENDPOINT = "endpoint"
    """There is no such model or address (404), or the server does not do what it is asked for (501)."""
    REQUEST = "request"
    """The provider refuses this very request (400, 422): too long, filtered, not understood."""
    RATE_LIMIT = "rate_limit"
    """429."""
    OVERLOAD = "overload"
    """5xx."""
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    """No answer at all: refused, reset, no such host."""
    UNREADABLE = "unreadable"
    """An answer came and was paid for, and nothing could be read of it."""
    CAP = "cap"
    """Our own cap on calls, tokens or dollars a minute: the call would have had to wait longer than anybody waits."""

    @property
    def retryable(self) -> bool:
        """True when the same call may succeed later."""
        return self in _RETRYABLE


_RETRYABLE: Final = frozenset(FailureKind) - {
    *(FailureKind.AUTH, FailureKind.BILLING, FailureKind.ENDPOINT, FailureKind.REQUEST)
}

# OpenAI and compatible servers also answer 429 for an account without credit.
_BILLING_WORDS: Final = ("insufficient_quota", "exceeded your current quota", "billing", "credit balance", "payment")
# Anthropic's and others' 400 for an empty account: here a lone word would catch a claim about payments.
_BILLING_PHRASES: Final = ("credit balance is too low", "insufficient_quota", "insufficient balance")


class CallError(RagOtelError):
    """One call that failed; a transport raises it."""

    def __init__(
        self, kind: FailureKind, message: str, *, retry_after_s: float | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.retry_after_s = retry_after_s
        """Seconds that the provider asked us to wait; None where it did not say."""
        self.usage = usage
        """Of kind UNREADABLE: what the call has cost."""

    def as_error(self) -> RetryableError | PermanentError:
        """The same failure as callers of a model see it."""
        if self.kind is FailureKind.TIMEOUT:
            return CallTimeoutError(str(self), retry_after_s=self.retry_after_s)
        if self.kind is FailureKind.CAP:
            return SpendingCapError(str(self), retry_after_s=self.retry_after_s)
        if self.kind.retryable:
            return RetryableError(str(self), retry_after_s=self.retry_after_s)
        return PermanentError(str(self))


class CallTimeoutError(RetryableError):
    """A call that was sent and not answered in time. It may be on the bill: it counts as one of a step's two calls."""

    reason_code = ReasonCode.TIMEOUT
    worth_repeating = False
    """True where enough time is left for the step's second call."""


class SpendingCapError(RetryableError):
    """A call that was not made, because of our own cap a minute."""

    reason_code = ReasonCode.BUDGET


def kind_of_status(status: int, message: str) -> FailureKind:
    """The kind of an HTTP error status, with the provider's message where the status alone is ambiguous."""
    text = message.lower()
    match status:
        case 402:
            return FailureKind.BILLING
        case 401 | 403:
            return FailureKind.AUTH
        case 404 | 410 | 501:
            return FailureKind.ENDPOINT
        case 408:
            return FailureKind.TIMEOUT
        case 429:
            return FailureKind.BILLING if any(word in text for word in _BILLING_WORDS) else FailureKind.RATE_LIMIT
    if status >= 500:
        return FailureKind.OVERLOAD
    return FailureKind.BILLING if any(phrase in text for phrase in _BILLING_PHRASES) else FailureKind.REQUEST
