"""What the tests of decision models share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rag_otel.delivery.retry import RetryPolicy
from rag_otel_evaluators.judges.decision_model import decision_model, limits_of
from rag_otel_evaluators.judges.decisions import DecisionJudge
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

OPENAI: Final = "decisions/openai/gpt-6-luna"
SYSTEM_ONE: Final = "decisions/systemone/jev-1.13.0"
KEY: Final = "k-0123456789-9876543210"
NO_WAIT: Final = RetryPolicy(attempts=3, base_s=0.01, longest_wait_s=0.02)
CHUNKS: Final = ["Pro costs 20 dollars a month. It is sold in Berlin.", "Free costs nothing. It is for everybody."]
CLAIMS: Final = ["Pro costs 20 dollars a month.", "Pro costs 30 dollars a month.", "Whales sing at night."]
ANSWER: Final = " ".join(CLAIMS)
QUESTION: Final = "What does Pro cost?"

Metric = Callable[..., Faithfulness]


def metric_at(
    address: str, model: str = SYSTEM_ONE, *, judge: dict[str, Any] | None = None, **settings: Any
) -> Faithfulness:
    """`faithfulness` with a decision model behind an address; `judge`: arguments of `DecisionJudge`."""
    limits, refuses_whole = limits_of(model)
    options: dict[str, Any] = {"limits": limits, "refuses_whole": refuses_whole, **(judge or {})}
    asked: dict[str, Any] = {"api_base": address, "api_key": KEY, "retry": NO_WAIT, **settings}
    return Faithfulness(judge=DecisionJudge(model=decision_model(model, **asked), **options))
