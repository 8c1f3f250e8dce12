"""`rag-otel labels feedback`: evaluates answers in Phoenix that people have rated and that have no result yet.

Most ratings come after the sampler has left the trace out. This command reads such traces back, once or every so many
seconds. Their results weigh nothing in means of all traffic, because it was not the sampler that selected them.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys
from typing import Any

from rag_otel.budgets.run import RunBudget
from rag_otel.cli.interrupts import told_within, until_told_to_stop
from rag_otel.cli.options import (
    judge_options,
    phoenix_options,
    reading_options,
    require_price_of_budget,
    settings_of,
)
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.traces.backfill import phoenix_store
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.pipeline import Pipeline
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import Settings
from rag_otel.setup.delivering import compose_delivery
from rag_otel.setup.judging import compose_pipeline
from rag_otel_collectors.backfill.engine import Backfill, Tally
from rag_otel_collectors.backfill.rated_source import RatedSampler, RatedStore
from rag_otel_collectors.stored.labels import names_in
from rag_otel_evaluators.judges.config import JudgeConfig

_FLUSH_S = 30.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--annotation", default="", metavar="A,B", help="only annotations of these names")
    parser.add_argument("--below", type=float, metavar="RATING", help="only ratings below this, 0..1: complaints")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="go on: look again after so many seconds")
    parser.add_argument("--dry-run", action="store_true", help="count what would be evaluated; evaluate nothing")
    reading_options(parser)
    phoenix_options(parser, since="1d", until="1m")
    judge_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Returns 0 if everything was evaluated, 1 if evaluations failed or Phoenix became unavailable."""
    settings = settings_of(arguments)
    require_price_of_budget(arguments.budget_usd, JudgeConfig(model=settings.judge.model))
    settings = dataclasses.replace(settings, sampler=RatedSampler())
    pipeline = compose_pipeline(settings, budgeted=False)
    # The command writes the results itself; the delivery raises alerts and watches for drift. That results stay away
    # for hours is no sign of trouble here.
    watched = dataclasses.replace(
        settings,
        alerts=dataclasses.replace(settings.alerts, health=False),
        drift=dataclasses.replace(settings.drift, judge_watch=False),
    )
    delivery = compose_delivery(watched)
    try:
        return asyncio.run(_look(arguments, settings, pipeline, delivery))
    finally:
        delivery.flush(_FLUSH_S)
        delivery.shutdown(_FLUSH_S)


async def _look(arguments: argparse.Namespace, settings: Settings, pipeline: Pipeline, delivery: Dispatcher) -> int:
    budget = RunBudget(evaluations=arguments.budget, usd=arguments.budget_usd)
    stop = asyncio.Event() if arguments.every is None else until_told_to_stop()
    while True:
        code, spent = await _once(arguments, settings, pipeline, delivery, budget)
        if arguments.every is None or spent:
            return code
        if await told_within(stop, arguments.every):
            return 0


async def _once(
    arguments: argparse.Namespace, settings: Settings, pipeline: Pipeline, delivery: Dispatcher, budget: RunBudget
) -> tuple[int, bool]:
    """One look: the exit code, and whether the budget is spent."""
    more: dict[str, Any] = {"names": names_in(arguments.annotation), "below": arguments.below, "tell": delivery.submit}
    tally, trouble = Tally(), ""
    with suppressed():
        try:
            project = phoenix_project(arguments, settings)
            looking = Backfill(
                store=phoenix_store(project, settings, pipeline, kind=RatedStore, **more),
                pipeline=pipeline,
                budget=budget,
                concurrency=arguments.concurrency,
                dry_run=arguments.dry_run,
            )
            await looking.run(tally)
        except (RetryableError, PermanentError) as error:
            trouble = str(error)
    if trouble:
        print(f"rag-otel labels feedback: {trouble}", file=sys.stderr)
    if arguments.every is None or tally.due or trouble:
        print(_report(tally, dry_run=arguments.dry_run), flush=True)
    return (1 if trouble or tally.failed else 0), tally.out_of_budget


def _report(tally: Tally, *, dry_run: bool) -> str:
    evaluated = f"{tally.due:,} would be evaluated" if dry_run else f"{tally.evaluated:,} evaluated"
    parts = [f"{tally.rag_traces:,} answers in rated traces: {evaluated}"]
    if tally.already:
        parts.append(f"{tally.already:,} had a result or were not rated themselves")
    if tally.unevaluable:
        reasons = ", ".join(f"{count:,} {name}" for name, count in tally.unevaluable.most_common())
        parts.append(f"{tally.unevaluable.total():,} cannot be evaluated ({reasons})")
    if tally.failed:
        parts.append(f"{tally.failed.total():,} evaluations failed")
    if tally.out_of_budget:
        parts.append("the budget is spent")
    return ", ".join(parts)
