"""What writes results and users' ratings: annotations where the settings name a Phoenix, and spans."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.protocols import Writer
from rag_otel.settings import Settings
from rag_otel.writers.evaluation_span import EvaluationSpanWriter

if TYPE_CHECKING:
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.ratings.rating import Rating


def compose_writers(
    settings: Settings, emit: Callable[[ReadableSpan], None], resource: Callable[[], Resource]
) -> list[Writer]:
    """What writes results: evaluation spans and, where the settings name a Phoenix, annotations.

    `emit` exports a span of our own; `resource` is that of the spans. Both are asked when a result is written.
    """
    when = settings.spans.evaluation_spans
    if when == "auto":  # Phoenix shows an evaluation span at a click; elsewhere it would be one more span to pay for
        when = "late" if settings.phoenix_endpoint is None else "always"
    content = settings.capture_content
    writers: list[Writer] = [EvaluationSpanWriter(emit=emit, resource=resource, when=when, capture_content=content)]
    if settings.spans.annotations and settings.phoenix_endpoint:
        from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter  # it imports http and ssl

        key = settings.phoenix_api_key
        writers.append(PhoenixAnnotationWriter(settings.phoenix_endpoint, api_key=key, capture_content=content))
    return writers


def compose_ratings(
    settings: Settings,
    *,
    emit: Callable[[ReadableSpan], object] | None,
    resource: Callable[[], Resource] = Resource.create,
) -> ExportQueue[Rating] | None:
    """What records users' ratings: annotations where the settings name a Phoenix, else spans; None where there is
    neither. Its thread starts with the first rating."""
    # Imported with the first rating: most processes take none.
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.ratings.rating import rating_bytes
    from rag_otel.writers.ratings import RatingAnnotationWriter, RatingSpanWriter

    writer: RatingAnnotationWriter | RatingSpanWriter
    if settings.spans.annotations and settings.phoenix_endpoint:
        writer = RatingAnnotationWriter(
            settings.phoenix_endpoint,
            api_key=settings.phoenix_api_key,
            capture_content=settings.capture_content,
            user_key=settings.feedback_key,
        )
    elif emit is not None:
        writer = RatingSpanWriter(
            emit, resource, capture_content=settings.capture_content, user_key=settings.feedback_key
        )
    else:
        return None
    return ExportQueue(writer.name, writer.write, size_of=rating_bytes, policy=writer.export_policy)
