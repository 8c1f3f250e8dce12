"""The evaluation span: a child of the target span, of kind EVALUATOR, with the claims and verdicts as readable text.

If the result arrived after the target span was exported, or the trace was skipped, the evaluation span carries every
attribute of the result. Otherwise the target span has those attributes, and the evaluation span does not repeat them.

OpenInference (spec/annotations.md, "Post-Hoc Feedback") asks for a new span with exactly one link to the target. This
span is also a child of the target, because most trace views ignore links. It starts and ends at the end of the target:
a later end would make the trace look slower than it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel import semconv
from rag_otel.model import AttributeValue, EvaluatedTrace, Evaluation, EvaluationStatus, SpanRef
from rag_otel.rendering.claim_lines import evaluations_as_text
from rag_otel.writers.annotations import annotations_of
from rag_otel.writers.attributes import MOST_CLAIMS, evaluation_attributes, hidden_content, present
from rag_otel.writers.made_spans import made_span, span_id_of

_NOT_ON_TARGET = frozenset({EvaluationStatus.LATE, EvaluationStatus.SKIPPED})
When = Literal["always", "late"]


class EvaluationSpanWriter:
    """Emits one evaluation span for each result. With `when="late"`, only for results that are not on their target."""

    name = "evaluation_span"

    def __init__(
        self,
        emit: Callable[[ReadableSpan], None],
        resource: Callable[[], Resource],
        *,
        capture_content: bool = True,
        when: When = "always",
    ) -> None:
        """`emit` exports the spans of results without an `origin`. `resource` is called at each write, because the
        application may set its provider later."""
        self._emit = emit
        self._resource = resource
        self._capture_content = capture_content
        self._when = when

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        for result in batch:
            if self._when == "always" or result.status in _NOT_ON_TARGET:
                emit = self._emit if result.origin is None else result.origin.emit
                emit(self.span(result))

    def span(self, result: EvaluatedTrace) -> ReadableSpan:
        """Returns the evaluation span. The same result gives the same span id, so a repeated write is recognised."""
        target = result.trace.target
        names = ", ".join(evaluation.name for evaluation in result.evaluations) or str(result.status)
        return made_span(
            f"evaluation {names}",
            trace_id=target.trace_id,
            span_id=carrier_span_id(result),
            below=target.span_id,
            resource=self._resource() if result.origin is None else result.origin.resource,
            attributes=self._attributes(result),
            time_ns=result.trace.start_ns + result.trace.duration_ns,
        )

    def _attributes(self, result: EvaluatedTrace) -> dict[str, AttributeValue]:
        attributes: dict[str, AttributeValue] = {semconv.SPAN_KIND: semconv.KIND_EVALUATOR}
        if result.evaluations:
            hidden = hidden_content(result, capture_content=self._capture_content)
            text = evaluations_as_text(result.evaluations, hidden, max_claims=MOST_CLAIMS)
            attributes |= present({semconv.OUTPUT_VALUE: text, semconv.OUTPUT_MIME_TYPE: semconv.MIME_TEXT})
        if result.status not in _NOT_ON_TARGET:
            return attributes
        for n, item in enumerate(annotations_of(result, capture_content=self._capture_content)):
            attributes |= item.span_attributes(n)
        return attributes | evaluation_attributes(result, capture_content=self._capture_content)


def job_key(target: SpanRef, evaluation: Evaluation) -> str:
    """Identifies one evaluation of one span by one version of one judge. The same in every process; 32 hex digits."""
    parts = (
        target.trace_id,
        target.span_id,
        evaluation.name,
        evaluation.evaluator,
        evaluation.version,
        evaluation.judge,
    )
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def carrier_span_id(result: EvaluatedTrace) -> int:
    """Returns a valid span id (64 bits, not 0), derived from the target and the job keys of its evaluations."""
    target = result.trace.target
    keys = sorted(job_key(target, evaluation) for evaluation in result.evaluations)
    if not keys:
        keys = [f"{target.trace_id}\0{target.span_id}\0{result.status}"]
    return span_id_of("".join(keys))
