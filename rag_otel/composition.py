"""The composition root: settings and parts become one `Runtime`. The only module that knows all the others.

conventions -> sampler, cap -> evaluators -> attributes, writers, alerts
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.delivery.late import LateDelivery
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.evaluation.chunk_texts import ChunkTexts, resolver_named
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import AttributeValue, EvaluatedTrace, Evaluation, RagTrace
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import AlertChannel, Convention, Evaluator, Sampler, Writer
from rag_otel.runtime import JobSink, Runtime
from rag_otel.safety import privacy, redaction
from rag_otel.safety.background_import import background_import
from rag_otel.safety.extras import require_extra
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.sampling.build import build_sampler, policy_of
from rag_otel.sampling.cap import EvaluationCap
from rag_otel.sampling.local_only import LocalOnly
from rag_otel.settings import Settings
from rag_otel.settings.groups import AlertSettings, DriftSettings
from rag_otel.settings.rows import secrets_of
from rag_otel.telemetry.telemetry import Telemetry, telemetry_of
from rag_otel.writers.attributes import evaluation_attributes, status_attributes
from rag_otel.writers.evaluation_span import EvaluationSpanWriter, When
from rag_otel.writers.feedback import FAITHFULNESS, annotator_kind
from rag_otel.writers.phoenix_links import phoenix_page, trace_link

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets
    from rag_otel.delivery.dispatcher import Dispatcher
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.drift.judge_watch import JudgeWatch
    from rag_otel.durable.kept_traces import KeptTraces  # imports protobuf
    from rag_otel.ratings.rating import Rating
    from rag_otel_collectors.jobs.queue import QueueSettings
    from rag_otel_evaluators.llm.cache import AnswerCache

InBackground: TypeAlias = Callable[[Callable[[], object]], object]
"""Calls a function later, on another thread."""
EMBEDDED: Final = "embedded"
_CACHE_KEPT_S: Final = 7 * 86_400.0
"""A judge's answer is asked again after a week: models behind one name change."""
EMBEDDED_PER_MINUTE: Final = 600.0
"""Default cap of the embedded judge: ten evaluations a second cost a few percent of one core."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Objects that an application passes in, besides the settings."""

    evaluators: tuple[Evaluator, ...] = ()
    """Beside the metrics that the settings name."""
    writers: tuple[Writer, ...] = ()
    """Beside Phoenix annotations and evaluation spans."""
    sampler: Sampler | None = None
    """In place of the one that the settings describe."""

    def __post_init__(self) -> None:
        """Raises ConfigurationError where an object is not what its place takes."""
        _require_kind("evaluators", self.evaluators, Evaluator)
        _require_kind("writers", self.writers, Writer)


def _require_kind(place: str, given: object, kind: type[object]) -> None:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigurationError(f"{place} must be a list of objects, not {given!r}")
    for each in given:
        if isinstance(each, type) or not isinstance(each, kind):
            methods = sorted(name for name in vars(kind) if not name.startswith("_"))
            raise ConfigurationError(f"{place}: {each!r} is no object with {', '.join(methods)}")


def compose(
    settings: Settings, parts: Parts, *, emit: Callable[[ReadableSpan], None], resource: Callable[[], Resource]
) -> Runtime:
    """Everything but the provider. The heavy imports of judges happen here, or begin.

    `emit` exports a span of our own the way the application's spans go; `resource` is the provider's. Both are asked
    only when a late result is written, so the provider may come later. Raises ConfigurationError.
    """
    privacy.configure(capture_content=settings.capture_content)
    redaction.remember(secrets_of(settings))
    telemetry = telemetry_of(
        settings,
        resource=resource,
        meter_provider=settings.telemetry.meter_provider,
        logger_provider=settings.telemetry.logger_provider,
    )
    later: list[Callable[[], object]] = []
    settings = producing(settings)
    jobs = compose_jobs(settings, parts)
    pipeline = compose_pipeline(settings, parts, default_cap=EMBEDDED_PER_MINUTE, in_background=later.append)
    worker = BackgroundWorker()

    def delivery() -> Dispatcher:
        from rag_otel.drift.setup import build_judge_watch

        return compose_delivery(
            settings,
            parts,
            emit=emit,
            resource=resource,
            telemetry=telemetry,
            judge_watch=build_judge_watch(settings, pipeline, worker),
            budgets=pipeline.budgets,
        )

    made = Runtime(
        settings=settings,
        pipeline=pipeline,
        attributes=compose_attributes(settings),
        status_attributes=status_attributes,
        delivery=LateDelivery(delivery) if _watched_as_usual(settings, parts) else delivery(),
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


def _watched_as_usual(settings: Settings, parts: Parts) -> bool:
    """True where nothing about what watches results, and who is told, was set: nothing there can be wrong."""
    given = parts.writers or settings.judge.budgets or settings.state_folder or settings.sampling_policy is not None
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


def compose_pipeline(
    settings: Settings,
    parts: Parts,
    *,
    default_cap: float | None,
    in_background: InBackground | None = None,
    budgeted: bool = True,
) -> Pipeline:
    """What reads, decides and evaluates; `default_cap` is the evaluations per minute where the settings name none.
    With `budgeted=False` the budgets of the settings do not apply: a backfill has its own.

    The heavy imports of judges happen here; a language model's are handed to `in_background`.
    Raises ConfigurationError, also for a judge that may cost money and has no cap.
    """
    from rag_otel_collectors.conventions import default_conventions

    evaluates = settings.judge.job_queue_url is None
    if evaluates:
        _require_cap(settings, parts)
    cap = default_cap if evaluates and settings.evaluations_per_minute is None else settings.evaluations_per_minute
    evaluators = _all_evaluators(settings, parts, in_background=in_background) if evaluates else ()
    budgets = compose_budgets(settings, evaluators) if budgeted and evaluates else None
    texts = compose_texts(settings)
    _require_kind("conventions", settings.spans.conventions, Convention)
    built_in = default_conventions(
        mapping=settings.spans.attribute_mapping,
        recover_chunks=texts is None,
        conversation=settings.spans.conversation_context,
    )
    return Pipeline(
        conventions=(*settings.spans.conventions, *built_in),
        sampler=parts.sampler or _sampler(settings, budgets),
        evaluators=evaluators,
        cap=None if cap is None or math.isinf(cap) else EvaluationCap(cap),
        budgets=budgets,
        timeout_s=settings.judge.timeout,
        project=settings.project_name,
        texts=texts,
        calibrate=compose_calibration(settings),
        local_only=LocalOnly(settings.judge.local_only) if settings.judge.local_only else None,
    )


def producing(settings: Settings) -> Settings:
    """The settings of a process that publishes jobs: results are watched in the workers. Other settings as they are."""
    if settings.judge.job_queue_url is None:
        return settings
    alerts = dataclasses.replace(settings.alerts, health=False)
    return dataclasses.replace(settings, drift=DriftSettings(enabled=False, judge_watch=False), alerts=alerts)


def compose_jobs(settings: Settings, parts: Parts) -> JobSink | None:
    """What publishes evaluation jobs; None where traces are evaluated here. Raises ConfigurationError."""
    if settings.judge.job_queue_url is None:
        return None
    if parts.evaluators:
        raise ConfigurationError(
            "evaluators= cannot be combined with job_queue_url: the workers evaluate, with their own settings"
        )
    require_extra("queue", "faststream", "aio_pika", needed_by="job_queue_url")
    from rag_otel.durable.state_folder import StateFolder
    from rag_otel_collectors.jobs.publisher import JobPublisher

    return JobPublisher(
        queue_settings(settings),
        project=settings.project_name,
        state=None if settings.state_folder is None else StateFolder(str(Path(settings.state_folder) / "jobs")),
    )


def queue_settings(settings: Settings) -> QueueSettings:
    """The job queue that the settings name. Raises ConfigurationError."""
    from rag_otel_collectors.jobs.queue import QueueSettings

    if settings.judge.job_queue_url is None:
        raise ConfigurationError("no job queue: give --queue amqp://user:password@host:5672/ or RAG_OTEL_JOB_QUEUE_URL")
    return QueueSettings.at(settings.judge.job_queue_url)


def compose_calibration(settings: Settings) -> Callable[[Evaluation], Evaluation] | None:
    """What applies the calibration file; None without one. Raises ConfigurationError."""
    if settings.judge.calibration_file is None:
        return None
    from rag_otel.evaluation.calibration import calibration_of

    return calibration_of(settings.judge.calibration_file)


def _require_cap(settings: Settings, parts: Parts) -> None:
    """Refuses a judge that may cost money without a cap. Raises ConfigurationError."""
    judges = [evaluator.judge_name for evaluator in parts.evaluators if annotator_kind(evaluator.judge_name) == "LLM"]
    if settings.metrics and settings.judge.model != EMBEDDED:
        judges.insert(0, settings.judge.model)
    if judges and settings.evaluations_per_minute is None:
        raise ConfigurationError(
            f"judge {judges[0]!r} needs evaluations_per_minute (RAG_OTEL_EVALUATIONS_PER_MINUTE): the most "
            "evaluations a minute that you want it to do"
        )


def compose_budgets(settings: Settings, evaluators: Sequence[Evaluator]) -> Budgets | None:
    """What judging may cost; None: no limit. Raises ConfigurationError."""
    if not settings.judge.budgets and settings.sampling_policy is None:
        return None
    from rag_otel.budgets.build import build_budgets

    paid = [each.name for each in evaluators if annotator_kind(each.judge_name) == "LLM"]
    if not paid or settings.judge.model == EMBEDDED or not settings.metrics:
        return build_budgets(settings, paid=paid)
    from rag_otel_evaluators.build import price_of_judge

    return build_budgets(
        settings,
        paid=paid,
        judge=settings.judge.model,
        ask_price=partial(price_of_judge, settings.judge.model, settings.judge.input_price),
    )


def _sampler(settings: Settings, budgets: Budgets | None) -> Sampler:
    """By ratio, or by the policy. Processes agree on a policy's rates in the ledger, also without a budget."""
    if settings.sampling_policy is None:
        return build_sampler(settings)
    if budgets is not None:
        agree, allowance = budgets.ledger.agree, budgets.allowance
        return build_sampler(settings, prescore=compose_prescore(settings), allowance=allowance, agree=agree)
    from rag_otel.budgets.build import open_ledger

    return build_sampler(settings, prescore=compose_prescore(settings), agree=open_ledger(settings).agree)


def compose_prescore(settings: Settings) -> Callable[[RagTrace], Awaitable[float | None]] | None:
    """Judges a trace with the embedded judge, for rules with `risk_above`; None if the policy has none."""
    policy = policy_of(settings)
    if policy is None or not any(rule.risk_above is not None for rule in policy.force):
        return None
    from rag_otel_evaluators.metrics.registry import build

    (evaluator,) = build((FAITHFULNESS,))

    async def prescore(trace: RagTrace) -> float | None:
        result = await evaluate(
            evaluator,
            question=trace.question,
            chunks=trace.chunks,
            response=trace.response or "",
            conversation=trace.conversation,
            timeout_s=settings.judge.timeout,
        )
        return result.risk

    return prescore


def compose_texts(settings: Settings) -> ChunkTexts | None:
    """Fetches the texts of chunks; None without a resolver. Raises ConfigurationError."""
    resolver = settings.spans.chunk_resolver
    if isinstance(resolver, str):
        resolver = resolver_named(resolver)
    return None if resolver is None else ChunkTexts(resolver)


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
    from rag_otel.monitoring import Monitoring

    watched = (*settings.metrics, *(each.name for each in parts.evaluators))
    settings = dataclasses.replace(settings, metrics=watched)
    monitoring = Monitoring(settings, _channels(settings), link=_link(settings), judge=judge_watch, budgets=budgets)
    results = compose_writers(settings, emit, resource) if write_results else []
    writers = [*results, *parts.writers]
    return monitoring.delivery(writers, telemetry=telemetry, keep_results=keep_results)


def _all_evaluators(settings: Settings, parts: Parts, *, in_background: InBackground | None) -> tuple[Evaluator, ...]:
    """The metrics that the settings name, then the application's own. Raises ConfigurationError."""
    named = _evaluators(settings, in_background=in_background) if settings.metrics else ()
    every = (*named, *parts.evaluators)
    if not every:
        raise ConfigurationError("metrics (environment: RAG_OTEL_METRICS) is empty: name a metric, or give evaluators=")
    names = [each.name for each in every]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(
            f"two evaluators are named {', '.join(twice)}: evaluators= adds to metrics="
            f"[{', '.join(map(repr, settings.metrics))}]; leave the name out of one of them (metrics=[]: yours alone)"
        )
    return every


def _evaluators(settings: Settings, *, in_background: InBackground | None) -> tuple[Evaluator, ...]:
    if settings.judge.model == EMBEDDED and settings.judge.embedder is None:
        from rag_otel_evaluators.metrics.registry import build

        return build(settings.metrics)
    from rag_otel_evaluators.build import build_evaluators
    from rag_otel_evaluators.judges.config import EvaluatorsConfig, checked

    config = checked(
        EvaluatorsConfig,
        {
            "metrics": settings.metrics,
            "judge": {
                "model": settings.judge.model,
                "api_base": settings.judge.api_base,
                "strategy": settings.judge.strategy,
                "timeout": settings.judge.timeout,
                "requests_per_minute": settings.judge.calls_per_minute,
                "tokens_per_minute": settings.judge.tokens_per_minute,
                "input_price": settings.judge.input_price,
                "mask": settings.judge.mask,
                "mask_engine": settings.judge.mask_engine,
                "record_file": settings.judge.record_file,
            },
            "embedder": settings.judge.embedder,
            "language": settings.judge.language,
            "prompts": settings.judge.prompt_folder,
            "concurrency": settings.judge.concurrency,
        },
        source="settings",
    )
    with suppressed():  # requests of a judge's library during loading are not the application's
        return build_evaluators(config, ExitStack(), cache=_judge_cache(settings), in_background=in_background)


def _judge_cache(settings: Settings) -> AnswerCache | None:
    """The cache of the judge's answers. Raises ConfigurationError."""
    if settings.judge.cache is None:
        return None
    from rag_otel_evaluators.llm.cache_stores import open_cache

    return open_cache(settings.judge.cache, keep_s=_CACHE_KEPT_S)


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
    from rag_otel.writers.rating_annotations import RatingAnnotationWriter
    from rag_otel.writers.rating_spans import RatingSpanWriter

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
    _require_kind("channels", own, AlertChannel)
    if on_alert is not None and not callable(on_alert):
        raise ConfigurationError(f"on_alert must be a function of an alert, not {on_alert!r}")
    return [*channels, *([] if on_alert is None else [CallbackChannel(on_alert)]), *own]


def _link(settings: Settings) -> Callable[[EvaluatedTrace], str | None]:
    base_url = phoenix_page(settings)
    if base_url is None:
        return lambda result: None
    return lambda result: trace_link(base_url, result.trace.target.trace_id)
