"""A span of kind EVALUATOR below the target: the claims with their verdicts as text that a person reads at a glance.

A result that came after its span had left, and what turned out to have none, are told by this span alone: it then
carries every attribute of the result. Otherwise those stand on the target, and this span repeats none of them.

OpenInference (spec/annotations.md, "Post-Hoc Feedback") wants a new carrier span with exactly one link to the target.
Ours is also the target's child, so that it shows in the trace where nothing else reads links, and stands as an instant
at the target's end: a later end would stretch the whole trace and make every late-judged answer look slow.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Literal

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, TraceFlags

from rag_otel import semconv
from rag_otel.model import AttributeValue, EvaluatedTrace, Evaluation, EvaluationStatus, SpanRef
from rag_otel.rendering.claim_lines import evaluations_as_text
from rag_otel.writers.attributes import ClaimsFormat, evaluation_attributes, hidden_content, present
from rag_otel.writers.feedback import IDENTIFIER, feedback

_MISSED_THE_SPAN = frozenset({EvaluationStatus.LATE, EvaluationStatus.SKIPPED})
When = Literal["always", "late"]


class EvaluationSpanWriter:
    """Emits one evaluation span for each result; with `when="late"` only for results that missed their span."""

    name = "evaluation_span"

    def __init__(
        self,
        emit: Callable[[ReadableSpan], None],
        resource: Callable[[], Resource],
        *,
        capture_content: bool = True,
        claims_format: ClaimsFormat = "flat",
        max_claims: int = 30,
        when: When = "always",
    ) -> None:
        """`emit` sends a span to the exporters of results that do not say where their span went (`origin`);
        `resource` is asked at each write, as the provider may come later."""
        self._emit = emit
        self._resource = resource
        self._capture_content = capture_content
        self._claims_format: ClaimsFormat = claims_format
        self._max_claims = max_claims
        self._when = when

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        for result in batch:
            if self._when == "always" or result.status in _MISSED_THE_SPAN:
                emit = self._emit if result.origin is None else result.origin.emit
                emit(self.span(result))

    def span(self, result: EvaluatedTrace) -> ReadableSpan:
        """The carrier: same result, same span id, so that writing it again is recognised as the same span."""
        target = _context(result.trace.target)
        end_ns = result.trace.start_ns + result.trace.duration_ns
        names = ", ".join(evaluation.name for evaluation in result.evaluations) or str(result.status)
        return ReadableSpan(
            name=f"evaluation {names}",
            context=SpanContext(
                trace_id=target.trace_id,
                span_id=carrier_span_id(result),
                is_remote=False,
                trace_flags=target.trace_flags,
            ),
            parent=target,
            resource=self._resource() if result.origin is None else result.origin.resource,
            attributes=self._attributes(result),
            links=(Link(target),),
            start_time=end_ns,
            end_time=end_ns,
            instrumentation_scope=InstrumentationScope(semconv.SCOPE),
        )

    def _attributes(self, result: EvaluatedTrace) -> dict[str, AttributeValue]:
        attributes: dict[str, AttributeValue] = {semconv.SPAN_KIND: semconv.KIND_EVALUATOR}
        if result.evaluations:
            hidden = hidden_content(result, capture_content=self._capture_content)
            text = evaluations_as_text(result.evaluations, hidden, max_claims=self._max_claims)
            attributes |= present({semconv.OUTPUT_VALUE: text, semconv.OUTPUT_MIME_TYPE: semconv.MIME_TEXT})
        if result.status not in _MISSED_THE_SPAN:
            return attributes
        for n, item in enumerate(feedback(result, capture_content=self._capture_content)):
            fields = present(
                {
                    "name": item.name,
                    "score": item.score,
                    "label": item.label,
                    "explanation": item.explanation,
                    "annotator_kind": item.annotator_kind,
                    "identifier": IDENTIFIER,
                    "metadata": json.dumps(item.metadata, ensure_ascii=False),
                }
            )
            prefix = f"{semconv.OI_EVALUATIONS}.{n}.evaluation."
            attributes |= {prefix + key: value for key, value in fields.items()}
        return attributes | evaluation_attributes(
            result,
            capture_content=self._capture_content,
            claims_format=self._claims_format,
            max_claims=self._max_claims,
        )


def job_key(target: SpanRef, evaluation: Evaluation) -> str:
    """Identifies one evaluation of one span by one version of one judge, in every process; 32 hex digits."""
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
    """A valid span id (64 bits, not 0) out of the target and the job keys that the span carries."""
    target = result.trace.target
    keys = sorted(job_key(target, evaluation) for evaluation in result.evaluations)
    if not keys:
        keys = [f"{target.trace_id}\0{target.span_id}\0{result.status}"]
    return int.from_bytes(hashlib.blake2b("".join(keys).encode(), digest_size=8).digest(), "big") or 1


def _context(ref: SpanRef) -> SpanContext:
    # Sampled, or it would not have been evaluated; exporting processors drop what is not.
    return SpanContext(
        trace_id=int(ref.trace_id, 16),
        span_id=int(ref.span_id, 16),
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
