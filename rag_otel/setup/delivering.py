"""What becomes of results: attributes, annotations and evaluation spans, alerts; and of users' ratings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.errors import ConfigurationError
from rag_otel.model import AttributeValue, EvaluatedTrace
from rag_otel.protocols import AlertChannel, Writer
from rag_otel.settings import Settings
from rag_otel.setup.parts import Parts, require_kind
from rag_otel.telemetry.telemetry import Telemetry
from rag_otel.writers.attributes import evaluation_attributes
from rag_otel.writers.evaluation_span import EvaluationSpanWriter, When
from rag_otel.writers.phoenix_links import links_to_traces

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets
    from rag_otel.delivery.dispatcher import Dispatcher
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.drift.judge_watch import JudgeWatch
    from rag_otel.ratings.rating import Rating


def compose_attributes(settings: Settings) -> Callable[[EvaluatedTrace], dict[str, AttributeValue]]:
    """What turns a result into attributes of its span, as the settings want them."""
    return partial(evaluation_attributes, capture_content=settings.capture_content)


def compose_delivery(
    settings: Settings,
    parts: Parts,
    *,
    emit: Callable[[ReadableSpan], None],
    resource: Callable[[], Resource],
    telemetry: Telemetry | None = None,
    keep_results: bool = False,
    write_results: bool = True,
    judge_watch: JudgeWatch | None = None,
    budgets: Budgets | None = None,
) -> Dispatcher:
    """The writers, the monitors and the alerts; `emit` and `resource` as for `compose`. Imports no judge, and starts a
    thread only where a state folder holds what the last process could not deliver.

    With `write_results=False` the caller itself writes annotations and evaluation spans (`compose_writers`).
    With `keep_results` and a state folder Phoenix's annotations survive the process as alerts do; with a `judge_watch`
    drift alerts tell whether the app or the judge has moved. What is left of the `budgets` is told.
    """
    from rag_otel.setup.watching import Monitoring

    watched = (*settings.metrics, *(each.name for each in parts.evaluators))
    settings = dataclasses.replace(settings, metrics=watched)
    monitoring = Monitoring(
        settings, _channels(settings), link=links_to_traces(settings), judge=judge_watch, budgets=budgets
    )
    results = compose_writers(settings, emit, resource) if write_results else []
    writers = [*results, *parts.writers]
    return monitoring.delivery(writers, telemetry=telemetry, keep_results=keep_results)


def compose_writers(
    settings: Settings, emit: Callable[[ReadableSpan], None], resource: Callable[[], Resource]
) -> list[Writer]:
    """What writes results: evaluation spans and, where the settings name a Phoenix, annotations."""
    writers: list[Writer] = [
        EvaluationSpanWriter(
            emit=emit,
            resource=resource,
            capture_content=settings.capture_content,
            when=_when(settings),
        )
    ]
    if settings.spans.annotations and settings.phoenix_endpoint:
        from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter  # it imports http and ssl

        writers.append(
            PhoenixAnnotationWriter(
                settings.phoenix_endpoint,
                api_key=settings.phoenix_api_key,
                capture_content=settings.capture_content,
            )
        )
    return writers


def _when(settings: Settings) -> When:
    """Phoenix shows an evaluation span at a click; elsewhere it would be one more span to pay for."""
    if settings.spans.evaluation_spans != "auto":
        return settings.spans.evaluation_spans
    return "late" if settings.phoenix_endpoint is None else "always"


def _channels(settings: Settings) -> list[AlertChannel]:
    """The log, those that the settings name, those of the application. Raises ConfigurationError."""
    from rag_otel.alerts.channels.callback import CallbackChannel
    from rag_otel.alerts.channels.configured import configured_channels
    from rag_otel.alerts.channels.log import LogChannel

    channels = [LogChannel(texts=settings.alerts.log_texts), *configured_channels(settings)]
    own, on_alert = settings.alerts.channels, settings.alerts.on_alert
    require_kind("channels", own, AlertChannel)
    if on_alert is not None and not callable(on_alert):
        raise ConfigurationError(f"on_alert must be a function of an alert, not {on_alert!r}")
    return [*channels, *([] if on_alert is None else [CallbackChannel(on_alert)]), *own]


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
