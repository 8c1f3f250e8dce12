"""Settings, connected: the one place where a `Runtime` is made for an application.

what judges (`judging`) -> what writes (`writing`), watches and tells (`delivering`) -> `Runtime`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.delivery.late import LateDelivery
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.safety import privacy, redaction
from rag_otel.safety.background_import import background_import
from rag_otel.settings import Settings
from rag_otel.settings.groups import AlertSettings, DriftSettings
from rag_otel.settings.rows import secrets_of
from rag_otel.setup.judging import EMBEDDED_PER_MINUTE, compose_jobs, compose_pipeline, producing
from rag_otel.setup.runtime import Runtime
from rag_otel.setup.writing import compose_writers
from rag_otel.telemetry.telemetry import telemetry_of

if TYPE_CHECKING:
    from rag_otel.delivery.dispatcher import Dispatcher
    from rag_otel.durable.kept_traces import KeptTraces  # imports protobuf


def compose(
    settings: Settings,
    *,
    explicit: bool,
    emit: Callable[[ReadableSpan], None],
    resource: Callable[[], Resource],
) -> Runtime:
    """Everything but the provider. The heavy imports of judges happen here, or begin.

    `emit` exports a span of our own the way the application's spans go; `resource` is the provider's. Both are asked
    only when a late result is written, so the provider may come later. Raises ConfigurationError.
    """
    privacy.configure(capture_content=settings.capture_content)
    redaction.remember(secrets_of(settings))
    telemetry = telemetry_of(settings, resource=resource)
    later: list[Callable[[], object]] = []
    settings = producing(settings)
    jobs = compose_jobs(settings)
    pipeline = compose_pipeline(settings, default_cap=EMBEDDED_PER_MINUTE, in_background=later.append)
    worker = BackgroundWorker()

    def delivery() -> Dispatcher:
        from rag_otel.drift.setup import build_judge_watch
        from rag_otel.setup.delivering import compose_delivery

        return compose_delivery(
            settings,
            compose_writers(settings, emit, resource),
            telemetry=telemetry,
            judge_watch=build_judge_watch(settings, pipeline, worker),
            budgets=pipeline.budgets,
        )

    made = Runtime(
        settings=settings,
        pipeline=pipeline,
        delivery=LateDelivery(delivery) if _watched_as_usual(settings) else delivery(),
        explicit=explicit,
        worker=worker,
        telemetry=telemetry,
        jobs=jobs,
        kept_traces=_kept_traces(settings),
        sentences=_sentences,
    )
    if jobs is not None:
        later.append(jobs.prepare)
    background_import(*later)  # last: the interpreter runs one thread at a time, and the application waits for this one
    return made


def _watched_as_usual(settings: Settings) -> bool:
    """True where nothing about what watches results, and who is told, was set: nothing there can be wrong."""
    given = settings.writers or settings.judge.budgets or settings.state_folder or settings.sampling_policy is not None
    return not given and settings.alerts == AlertSettings() and settings.drift == DriftSettings()


def _sentences(text: str) -> Iterable[tuple[int, int]]:
    """(start, end) of each sentence, as the judges cut them."""
    from rag_otel_evaluators.text.sentences import sentence_spans

    return sentence_spans(text)


def _kept_traces(settings: Settings) -> KeptTraces | None:
    """What keeps admitted traces on disk. Raises ConfigurationError."""
    if settings.state_folder is None:
        return None
    from rag_otel.durable.kept_traces import FOLDER, KeptTraces
    from rag_otel.durable.state_folder import StateFolder

    return KeptTraces(StateFolder(Path(settings.state_folder) / FOLDER))
