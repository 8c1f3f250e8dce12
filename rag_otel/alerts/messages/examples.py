"""The answer that an alert shows, without content that privacy settings hide."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from rag_otel.alert import AlertExample
from rag_otel.model import ClaimVerdict, EvaluatedTrace, Evaluation
from rag_otel.safety.privacy import HiddenContent
from rag_otel.writers.attributes import hidden_content, unsupported


@dataclasses.dataclass(frozen=True, kw_only=True)
class Examples:
    """Turns a judged answer into the example that an alert carries; used by the rules and by every monitor."""

    capture_content: bool = True
    """False: no text of any answer."""
    link: Callable[[EvaluatedTrace], str | None] = lambda result: None
    """The address of the trace's page."""

    def of(self, result: EvaluatedTrace, evaluation: Evaluation) -> AlertExample:
        """Question, answer, unsupported claims with their nearest quotes, score, risk, link."""
        hidden = hidden_content(result, capture_content=self.capture_content)
        return AlertExample(
            question=None if hidden.question else result.trace.question,
            response=None if hidden.response else result.trace.response,
            score=evaluation.score,
            risk=evaluation.risk,
            claims=_claims(evaluation, hidden),
            target=result.trace.target,
            link=self.link(result),
            sampling_reason=str(result.decision.reason),
            rating=result.trace.rating,
            metric=evaluation.name,
        )


def _claims(evaluation: Evaluation, hidden: HiddenContent) -> tuple[ClaimVerdict, ...]:
    """The unsupported claims with the quotes nearest to them."""
    if hidden.response:
        return ()
    return tuple(
        dataclasses.replace(
            claim,
            quotes=() if hidden.documents else claim.quotes,
            explanation=None if hidden.anything else claim.explanation,
        )
        for claim in unsupported(evaluation)
    )
