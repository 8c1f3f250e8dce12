"""What judges: the pipeline of conventions, sampler, evaluators, cap and budgets that the settings describe."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.chunk_texts import ChunkTexts, resolver_named
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.evaluation.support import FAITHFULNESS
from rag_otel.model import Evaluation, RagTrace
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Evaluator, Sampler
from rag_otel.safety.extras import require_extra
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.sampling.amount import EvaluationCap
from rag_otel.sampling.build import build_sampler, policy_of
from rag_otel.sampling.local_only import LocalOnly
from rag_otel.settings import Settings
from rag_otel.settings.groups import DriftSettings
from rag_otel.settings.judge_names import EMBEDDED
from rag_otel.writers.annotations import annotator_kind

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets
    from rag_otel_collectors.jobs.publisher import JobPublisher
    from rag_otel_collectors.jobs.queue import QueueSettings
    from rag_otel_evaluators.build import InBackground

_CACHE_KEPT_S: Final = 7 * 86_400.0
"""A judge's answer is asked again after a week: models behind one name change."""
EMBEDDED_PER_MINUTE: Final = 600.0
"""Default cap of the embedded judge: ten evaluations a second cost a few percent of one core."""


def compose_pipeline(
    settings: Settings,
    *,
    default_cap: float | None = None,
    in_background: InBackground | None = None,
    budgeted: bool = True,
) -> Pipeline:
    """What reads, decides and evaluates. `default_cap`: evaluations per minute where the settings name none; None: any
    number. With `budgeted=False` the budgets of the settings do not apply: a backfill has its own.

    The heavy imports of judges happen here; a language model's are handed to `in_background`.
    Raises ConfigurationError, also for a judge that may cost money and has no cap.
    """
    from rag_otel_collectors.conventions import default_conventions

    evaluates = settings.judge.job_queue_url is None
    if evaluates:
        _require_cap(settings)
    cap = default_cap if evaluates and settings.evaluations_per_minute is None else settings.evaluations_per_minute
    evaluators = _all_evaluators(settings, in_background=in_background) if evaluates else ()
    budgets = compose_budgets(settings, evaluators) if budgeted and evaluates else None
    texts = compose_texts(settings)
    built_in = default_conventions(
        mapping=settings.spans.attribute_mapping,
        recover_chunks=texts is None,
        conversation=settings.spans.conversation_context,
    )
    return Pipeline(
        conventions=(*settings.spans.conventions, *built_in),
        sampler=settings.sampler or _sampler(settings, budgets),
        evaluators=evaluators,
        cap=None if cap is None or math.isinf(cap) else EvaluationCap(cap),
        budgets=budgets,
        timeout_s=settings.judge.timeout,
        project=settings.project_name,
        texts=texts,
        calibrate=_calibration(settings),
        local_only=LocalOnly(settings.judge.local_only) if settings.judge.local_only else None,
    )


def _calibration(settings: Settings) -> Callable[[Evaluation], Evaluation] | None:
    """What applies the calibration file; None without one. Raises ConfigurationError."""
    if settings.judge.calibration_file is None:
        return None
    from rag_otel.evaluation.calibration import calibration_of

    return calibration_of(settings.judge.calibration_file)


def _require_cap(settings: Settings) -> None:
    """Refuses a judge that may cost money without a cap. Raises ConfigurationError."""
    judges = [each.judge_name for each in settings.evaluators if annotator_kind(each.judge_name) == "LLM"]
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

    return build_budgets(settings, paid=paid, ask_price=partial(price_of_judge, settings.judge.model))


def _sampler(settings: Settings, budgets: Budgets | None) -> Sampler:
    """By ratio, or by the policy. Processes agree on a policy's rates in the ledger, also without a budget."""
    if settings.sampling_policy is None:
        return build_sampler(settings)
    from rag_otel.budgets.build import open_ledger

    ledger = open_ledger(settings) if budgets is None else budgets.ledger
    return build_sampler(settings, prescore=compose_prescore(settings), budgets=budgets, agree=ledger.agree)


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


def _all_evaluators(settings: Settings, *, in_background: InBackground | None) -> tuple[Evaluator, ...]:
    """The metrics that the settings name, then the application's own. Raises ConfigurationError."""
    named = _evaluators(settings, in_background=in_background) if settings.metrics else ()
    every = (*named, *settings.evaluators)
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
    judge = settings.judge
    if judge.is_embedded:
        from rag_otel_evaluators.metrics.registry import build

        return build(settings.metrics)
    from rag_otel_evaluators.build import build_evaluators
    from rag_otel_evaluators.judges.config import EvaluatorsConfig, JudgeConfig, checked
    from rag_otel_evaluators.llm.cache import open_cache

    config = checked(
        EvaluatorsConfig,
        {
            "metrics": settings.metrics,
            # Settings of the judge have the same names there; what else it has are no settings of an application.
            "judge": {name: getattr(judge, name) for name in JudgeConfig.model_fields if hasattr(judge, name)},
            "embedder": judge.embedder,
            "language": judge.language,
            "prompts": judge.prompt_folder,
            "concurrency": judge.concurrency,
        },
        source="settings",
    )
    cache = None if judge.cache is None else open_cache(judge.cache, keep_s=_CACHE_KEPT_S)
    with suppressed():  # requests of a judge's library during loading are not the application's
        return build_evaluators(config, ExitStack(), cache=cache, in_background=in_background)


# --- where workers judge in place of this process ------------------------------------------------------------------


def producing(settings: Settings) -> Settings:
    """The settings of a process that publishes jobs: results are watched in the workers. Other settings as they are."""
    if settings.judge.job_queue_url is None:
        return settings
    alerts = dataclasses.replace(settings.alerts, health=False)
    return dataclasses.replace(settings, drift=DriftSettings(enabled=False, judge_watch=False), alerts=alerts)


def compose_jobs(settings: Settings) -> JobPublisher | None:
    """What publishes evaluation jobs; None where traces are evaluated here. Raises ConfigurationError."""
    if settings.judge.job_queue_url is None:
        return None
    if settings.evaluators:
        raise ConfigurationError(
            "evaluators= cannot be combined with job_queue_url: the workers evaluate, with their own settings"
        )
    require_extra("scale", "faststream", "aio_pika", needed_by="job_queue_url")
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
