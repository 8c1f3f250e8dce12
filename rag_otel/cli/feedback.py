"""`rag-otel feedback`: evaluates answers in Phoenix that people have rated and that have no result yet.

Most ratings come after the sampler has left the trace out. This command reads such traces back, once or every so many
seconds. Their results weigh nothing in means of all traffic, because it was not the sampler that selected them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import signal
import sys
from typing import Any

from opentelemetry.sdk.resources import Resource

from rag_otel.budgets.run import RunBudget
from rag_otel.cli.backfill import phoenix_store, settings_of
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.pipeline import Pipeline
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import Settings
from rag_otel.setup.delivering import compose_delivery
from rag_otel.setup.judging import compose_pipeline
from rag_otel.setup.parts import Parts
from rag_otel_collectors.backfill.engine import Backfill, Tally
from rag_otel_collectors.backfill.rated_source import RatedSampler, RatedStore
from rag_otel_collectors.stored.labels import names_in

_FLUSH_S = 30.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="NAME", help="Phoenix project (default: from the settings)")
    parser.add_argument("--phoenix-endpoint", metavar="URL", help="Phoenix's address (default: from the environment)")
    parser.add_argument("--since", metavar="WHEN", default="1d", help="traces that started since then (default: 1d)")
    parser.add_argument("--until", metavar="WHEN", default="1m", help="traces that started before (default: 1m ago)")
    parser.add_argument("--annotation", default="", metavar="A,B", help="only annotations of these names")
    parser.add_argument("--below", type=float, metavar="RATING", help="only ratings below this, 0..1: complaints")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="go on: look again after so many seconds")
    parser.add_argument("--metrics", help="comma-separated names (default: faithfulness)")
    parser.add_argument("--judge", help="the judge: embedded (the default), openai/gpt-4o-mini, ...")
    parser.add_argument("--mapping", metavar="FILE", help="custom attribute names, in TOML or JSON")
    parser.add_argument("--chunk-resolver", metavar="MODULE:FUNCTION", help="function that fetches the texts of chunks")
    parser.add_argument("--budget", type=int, metavar="N", help="stop after N evaluations (one per metric and answer)")
    parser.add_argument("--budget-usd", type=float, metavar="DOLLARS", help="stop when the judges have cost this much")
    parser.add_argument("--concurrency", type=int, default=16, help="answers evaluated at once (default: 16)")
    parser.add_argument("--dry-run", action="store_true", help="count what would be evaluated; evaluate nothing")
    parser.set_defaults(sample_ratio=None)


def run(arguments: argparse.Namespace) -> int:
    """Returns 0 if everything was evaluated, 1 if evaluations failed or Phoenix became unavailable."""
    _check(arguments)
    settings = settings_of(arguments)
    pipeline = compose_pipeline(settings, Parts(sampler=RatedSampler()), default_cap=None, budgeted=False)
    # The command writes the results itself; the delivery raises alerts and watches for drift. That results stay away
    # for hours is no sign of trouble here.
    watched = dataclasses.replace(
        settings,
        alerts=dataclasses.replace(settings.alerts, health=False),
        drift=dataclasses.replace(settings.drift, judge_watch=False),
    )
    delivery = compose_delivery(watched, Parts(), emit=lambda span: None, resource=Resource.create, write_results=False)
    try:
        return asyncio.run(_look(arguments, settings, pipeline, delivery))
    finally:
        delivery.flush(_FLUSH_S)
        delivery.shutdown(_FLUSH_S)


def _check(arguments: argparse.Namespace) -> None:
    for name in ("budget", "budget_usd", "concurrency", "every", "below"):
        value = getattr(arguments, name)
        if value is not None and value <= 0:
            raise ConfigurationError(f"--{name.replace('_', '-')} must be above 0, not {value}")


async def _look(arguments: argparse.Namespace, settings: Settings, pipeline: Pipeline, delivery: Dispatcher) -> int:
    budget = RunBudget(evaluations=arguments.budget, usd=arguments.budget_usd)
    stop = asyncio.Event()
    if arguments.every is not None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    while True:
        code, spent = await _once(arguments, settings, pipeline, delivery, budget)
        if arguments.every is None or spent:
            return code
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), arguments.every)
            return 0


async def _once(
    arguments: argparse.Namespace, settings: Settings, pipeline: Pipeline, delivery: Dispatcher, budget: RunBudget
) -> tuple[int, bool]:
    """One look: the exit code, and whether the budget is spent."""
    more: dict[str, Any] = {"names": names_in(arguments.annotation), "below": arguments.below, "tell": delivery.submit}
    tally, trouble = Tally(), ""
    with suppressed():
        store = phoenix_store(arguments, settings, pipeline, kind=RatedStore, **more)
        looking = Backfill(
            store=store,
            pipeline=pipeline,
            budget=budget,
            concurrency=arguments.concurrency,
            dry_run=arguments.dry_run,
        )
        try:
            await looking.run(tally)
        except (RetryableError, PermanentError) as error:
            trouble = str(error)
    if trouble:
        print(f"rag-otel feedback: {trouble}", file=sys.stderr)
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
