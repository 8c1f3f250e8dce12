"""How the calls of a model are bounded, repeated, kept and masked: the same arguments for every kind of model."""

from __future__ import annotations

from typing import TypedDict

from rag_otel.delivery.retry import RetryPolicy
from rag_otel_evaluators.llm.cache import AnswerCache
from rag_otel_evaluators.llm.circuit_breaker import CircuitBreaker
from rag_otel_evaluators.llm.egress import Egress
from rag_otel_evaluators.llm.rate_limits import RateLimits


class CallOptions(TypedDict, total=False):
    """Arguments of `llm_model`, `openai_model`, `decision_model` and `llm_embedder`, as of `ResilientModel`."""

    timeout_s: float
    """Seconds for one call."""
    retry: RetryPolicy | None
    limits: RateLimits | None
    breaker: CircuitBreaker | None
    cache: AnswerCache | None
    egress: Egress | None
    """What is masked in the messages, and who records them. Without it secrets are masked; None: nothing is."""
