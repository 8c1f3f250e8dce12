"""Users' ratings as spans, where no Phoenix takes annotations: OpenInference's post-hoc feedback.

OpenInference (spec/annotations.md, "Post-Hoc Feedback") asks for a new span of kind EVALUATOR that links its target.
The same rating always has the same span id, so a backend that knows ids stores it once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, TraceFlags

from rag_otel import semconv
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.model import AttributeValue
from rag_otel.ratings.rating import Rating
from rag_otel.writers.attributes import present
from rag_otel.writers.rating_texts import identifier, masked_comment, masked_label


class RatingSpanWriter:
    """Emits one span for each rating: in the rated trace, below the rated span where the application names it."""

    name = "feedback"
    export_policy = ExportPolicy(max_items=1024, max_bytes=4 * 2**20)

    def __init__(
        self,
        emit: Callable[[ReadableSpan], object],
        resource: Callable[[], Resource],
        *,
        capture_content: bool = True,
        user_key: str | None = None,
    ) -> None:
        """`emit` exports a span the way the application's spans go. The others: as for annotations."""
        self._user_key = user_key
        self._emit = emit
        self._resource = resource
        self._capture_content = capture_content

    def write(self, batch: Sequence[Rating]) -> None:
        for each in batch:
            self._emit(self.span(each))

    def span(self, rating: Rating) -> ReadableSpan:
        """The feedback span of a rating."""
        target = None if rating.span_id is None else _context(rating.trace_id, int(rating.span_id, 16))
        return ReadableSpan(
            name=f"feedback {rating.name}",
            context=_context(rating.trace_id, _span_id(rating, identifier(rating, key=self._user_key))),
            parent=target,
            resource=self._resource(),
            attributes=self._attributes(rating),
            links=() if target is None else (Link(target),),
            start_time=rating.time_ns,
            end_time=rating.time_ns,
            instrumentation_scope=InstrumentationScope(semconv.SCOPE),
        )

    def _attributes(self, rating: Rating) -> dict[str, AttributeValue]:
        prefix = f"{semconv.OI_EVALUATIONS}.0.evaluation."
        return present(
            {
                semconv.SPAN_KIND: semconv.KIND_EVALUATOR,
                semconv.FEEDBACK_RATING: rating.value,
                semconv.FEEDBACK_TRACE: rating.trace_was or None,
                prefix + "name": rating.name,
                prefix + "annotator_kind": "HUMAN",
                prefix + "score": rating.score,
                prefix + "label": masked_label(rating, capture_content=self._capture_content),
                prefix + "explanation": masked_comment(rating, capture_content=self._capture_content),
                prefix + "identifier": identifier(rating, key=self._user_key),
            }
        )


def _span_id(rating: Rating, said_by: str) -> int:
    parts = (rating.trace_id, rating.span_id, rating.name, said_by)
    said = (rating.score, rating.label, rating.comment)
    text = "\0".join(map(str, (*parts, *said)))
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big") or 1


def _context(trace_id: str, span_id: int) -> SpanContext:
    return SpanContext(
        trace_id=int(trace_id, 16), span_id=span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED)
    )
