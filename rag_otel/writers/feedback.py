"""A result as named scores. OpenInference and OpenTelemetry call them evaluations, Phoenix calls them annotations.

Each evaluation gives one named score under the metric's name. If it has a risk, it gives a second one:
`hallucination_risk` for faithfulness, `<metric>_risk` for other metrics. An evaluation without a score is written too,
with the reason as its label. Phoenix leaves it out of means, and its label counts show how many answers have no score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from rag_otel.evaluation.directions import LOWER_IS_BETTER, lower_is_better
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import AttributeValue, EvaluatedTrace, Evaluation, SamplingDecision
from rag_otel.safety.privacy import HiddenContent
from rag_otel.writers.attributes import hidden_content, present, unsupported

AnnotatorKind = Literal["CODE", "LLM"]
FAITHFULNESS: Final = "faithfulness"
HALLUCINATION_RISK: Final = "hallucination_risk"
_CODE_JUDGES: Final = frozenset({"", "embedded", "function", "hhem", "lexical", "local", "overlap"})
"""Judges that are not language models, by the part of their name before the first `:`, `@`, `/` or `-`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """One named score on one span."""

    name: str
    annotator_kind: AnnotatorKind
    score: float | None
    label: str | None
    explanation: str | None
    metadata: dict[str, AttributeValue]
    evaluation: Evaluation
    """Where it comes from."""
    is_risk: bool = False
    """The score is the risk of the evaluation."""


def feedback(result: EvaluatedTrace, *, capture_content: bool) -> Iterator[Feedback]:
    """Yields the named scores of a result. An evaluation without score, label and explanation gives none.

    If content is hidden, the explanation only counts claims.
    """
    hidden = hidden_content(result, capture_content=capture_content)
    for evaluation in result.evaluations:
        kind = annotator_kind(evaluation.judge)
        metadata = _metadata(evaluation, result.decision)
        explanation = _explanation(evaluation, hidden)
        label = evaluation.label or (str(evaluation.reason_code) if evaluation.reason_code else None)
        if evaluation.score is not None or label or explanation:
            yield Feedback(
                name=evaluation.name,
                annotator_kind=kind,
                score=evaluation.score,
                label=label,
                explanation=explanation,
                metadata=metadata,
                evaluation=evaluation,
            )
        if evaluation.risk is not None:
            yield Feedback(
                name=risk_name(evaluation.name),
                annotator_kind=kind,
                score=evaluation.risk,
                label=evaluation.label,
                explanation=explanation,
                metadata=metadata,
                evaluation=evaluation,
                is_risk=True,
            )


def risk_name(metric: str) -> str:
    """The name of a metric's risk in annotations and events."""
    return HALLUCINATION_RISK if metric == FAITHFULNESS else f"{metric}_risk"


def annotator_kind(judge: str) -> AnnotatorKind:
    """`LLM` for a judge that prompts a language model, `CODE` for every other judge."""
    family = re.split("[:@/-]", judge, maxsplit=1)[0]
    return "CODE" if family in _CODE_JUDGES else "LLM"


def _metadata(evaluation: Evaluation, decision: SamplingDecision) -> dict[str, AttributeValue]:
    counts = {"claim_count": len(evaluation.claims), "supported_count": evaluation.supported_claims}
    return present(
        {
            LOWER_IS_BETTER: lower_is_better(evaluation.name) or None,
            "evaluator": evaluation.evaluator,
            "version": evaluation.version,
            "judge": evaluation.judge,
            "answered_by": evaluation.answered_by,
            "prompts": evaluation.prompts,
            "reason_code": evaluation.reason_code,
            "error_type": evaluation.error_type,
            **(counts if evaluation.claims else {}),
            "sampling_reason": decision.reason,
            "sampling_probability": decision.probability,
        }
    )


def _explanation(evaluation: Evaluation, hidden: HiddenContent) -> str | None:
    if evaluation.explanation and not hidden.anything:
        return evaluation.explanation
    if not evaluation.claims:
        return None
    claims = unsupported(evaluation)
    counted = f"{len(claims)} of {len(evaluation.claims)} claims unsupported"
    if hidden.response or not claims:
        return counted
    return f"{counted}: " + " | ".join(claim.claim.text for claim in claims)
