"""Annotations: named scores with a label and a reason, of a result, a rating or a session.

Phoenix calls them annotations, OpenInference and OpenTelemetry call them evaluations. Each evaluation gives one under
the metric's name. If it has a risk, it gives a second one: `hallucination_risk` for faithfulness, `<metric>_risk` for
other metrics. An evaluation without a score is written too, with the reason as its label. Phoenix leaves it out of
means, and its label counts show how many answers have no score.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from rag_otel import semconv
from rag_otel.evaluation.directions import LOWER_IS_BETTER, lower_is_better
from rag_otel.evaluation.support import FAITHFULNESS
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import AttributeValue, EvaluatedTrace, Evaluation, SamplingDecision
from rag_otel.safety.privacy import HiddenContent
from rag_otel.writers.attributes import hidden_content, present, unsupported

AnnotatorKind = Literal["CODE", "LLM", "HUMAN"]
IDENTIFIER: Final = "rag-otel"
"""The same for every metric and version. Phoenix averages annotations of one name with different identifiers."""
HALLUCINATION_RISK: Final = "hallucination_risk"
_CODE_JUDGES: Final = frozenset({"", "embedded", "function", "hhem", "lexical", "local", "overlap"})
"""Judges that are not language models, by the part of their name before the first `:`, `@`, `/` or `-`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One named score."""

    name: str
    annotator_kind: AnnotatorKind
    score: float | None = None
    label: str | None = None
    explanation: str | None = None
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    identifier: str | None = IDENTIFIER
    """None for a document, which Phoenix identifies by its position."""

    def row(self, **place: str | int) -> dict[str, Any]:
        """A row of `PhoenixApi.annotate`. `place`: what it is about, `span_id=...` or `trace_id=...`."""
        return {
            **place,
            "name": self.name,
            "annotator_kind": self.annotator_kind,
            **({} if self.identifier is None else {"identifier": self.identifier}),
            "result": self._result,
            "metadata": dict(self.metadata),
        }

    def span_attributes(self, number: int = 0) -> dict[str, AttributeValue]:
        """As attributes of a feedback span (OpenInference, spec/annotations.md)."""
        fields = {
            "name": self.name,
            **self._result,
            "annotator_kind": self.annotator_kind,
            "identifier": self.identifier,
            "metadata": json.dumps(self.metadata, ensure_ascii=False) if self.metadata else None,
        }
        return present({f"{semconv.OI_EVALUATIONS}.{number}.evaluation.{key}": value for key, value in fields.items()})

    @property
    def _result(self) -> dict[str, AttributeValue]:
        return present({"score": self.score, "label": self.label, "explanation": self.explanation})


def annotations_of(result: EvaluatedTrace, *, capture_content: bool) -> Iterator[Annotation]:
    """Yields the named scores of a result. If content is hidden, the explanation only counts claims."""
    hidden = hidden_content(result, capture_content=capture_content)
    for evaluation in result.evaluations:
        own = annotation_of(evaluation, result.decision, hidden)
        if own is not None:
            yield own
        if evaluation.risk is not None:
            yield Annotation(
                name=risk_name(evaluation.name),
                annotator_kind=annotator_kind(evaluation.judge),
                score=evaluation.risk,
                label=evaluation.label,
                explanation=_explanation(evaluation, hidden),
                metadata=_metadata(evaluation, result.decision),
            )


def annotation_of(evaluation: Evaluation, decision: SamplingDecision, hidden: HiddenContent) -> Annotation | None:
    """The score under the metric's name; None for an evaluation without score, label and explanation."""
    explanation = _explanation(evaluation, hidden)
    label = evaluation.label or (str(evaluation.reason_code) if evaluation.reason_code else None)
    if evaluation.score is None and not label and not explanation:
        return None
    return Annotation(
        name=evaluation.name,
        annotator_kind=annotator_kind(evaluation.judge),
        score=evaluation.score,
        label=label,
        explanation=explanation,
        metadata=_metadata(evaluation, decision),
    )


def risk_name(metric: str) -> str:
    """The name of a metric's risk in annotations and events."""
    return HALLUCINATION_RISK if metric == FAITHFULNESS else f"{metric}_risk"


def annotator_kind(judge: str) -> Literal["CODE", "LLM"]:
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
