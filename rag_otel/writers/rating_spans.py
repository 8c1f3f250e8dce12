"""Users' ratings as spans, where no Phoenix takes annotations: OpenInference's post-hoc feedback.

OpenInference (spec/annotations.md, "Post-Hoc Feedback") asks for a new span of kind EVALUATOR that links its target.
The same rating always has the same span id, so a backend that knows ids stores it once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel import semconv
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.ratings.rating import Rating
from rag_otel.writers.attributes import present
from rag_otel.writers.made_spans import made_span, span_id_of
from rag_otel.writers.rating_annotations import rating_annotation


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
        item = rating_annotation(rating, capture_content=self._capture_content, user_key=self._user_key)
        said = (rating.score, rating.label, rating.comment)
        return made_span(
            f"feedback {rating.name}",
            trace_id=rating.trace_id,
            span_id=span_id_of(*map(str, (rating.trace_id, rating.span_id, rating.name, item.identifier, *said))),
            below=rating.span_id,
            resource=self._resource(),
            attributes={
                semconv.SPAN_KIND: semconv.KIND_EVALUATOR,
                **present({semconv.FEEDBACK_RATING: rating.value, semconv.FEEDBACK_TRACE: rating.trace_was}),
                **replace(item, metadata={}).span_attributes(),
            },
            time_ns=rating.time_ns,
        )
