"""`rag-otel traces plan`: what a sampling policy would have evaluated of the last week's traces, and for how much.

It runs the policy and the budgets over the traces that Phoenix has stored, at the times at which they came, and
evaluates nothing. Only the embedded judge looks at traces, for rules with `risk_above`.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
from datetime import datetime

from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.build import build_budgets
from rag_otel.budgets.ledger import MemoryLedger
from rag_otel.cli.options import asking_nobody, json_option, judge_options, phoenix_options, price_of, settings_of
from rag_otel.cli.phoenix_access import check_project, phoenix_client, phoenix_errors, project_name, time_bounds
from rag_otel.cli.terminal import progress
from rag_otel.cli.traces.plan_report import Plan, figures, report
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.model import Evaluation, RagTrace
from rag_otel.pipeline import Pipeline
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.sampling.build import build_sampler
from rag_otel.settings import Settings
from rag_otel.setup.judging import compose_pipeline, compose_prescore
from rag_otel.setup.parts import Parts
from rag_otel.writers.annotations import annotator_kind
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.restored_spans import stored_traces


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", metavar="FILE", help="sampling policy in TOML or JSON (default: from the settings)")
    parser.add_argument(
        "--budget", metavar="LIMIT", action="append", help="`5 usd/day`, `200000 tokens/hour/tenant` (may be repeated)"
    )
    json_option(parser, "the figures")
    phoenix_options(parser, since="7d", until="1m")
    judge_options(parser, price=True, limits=False)


def run(arguments: argparse.Namespace) -> int:
    """Returns 0 if the plan was printed, 1 if Phoenix became unavailable."""
    settings = _settings(arguments)
    reader, since, until = _source(arguments, settings)
    pipeline = compose_pipeline(asking_nobody(settings), Parts(), default_cap=None, budgeted=False)
    paid = [each for each in pipeline.evaluators if annotator_kind(each.judge_name) == "LLM"]
    price = price_of(settings, arguments) if paid else None
    if paid and price is None:
        raise ConfigurationError(f"the price of {paid[0].judge_name} is unknown: give --price IN,OUT")
    plan = Plan(paid=len(paid), price=price or (0.0, 0.0), seconds=(until - since).total_seconds())
    try:
        with suppressed():
            asyncio.run(_simulate(plan, settings, pipeline, reader, since, until))
    except (RetryableError, PermanentError) as error:
        print(f"rag-otel traces plan: Phoenix at {settings.phoenix_endpoint}: {error}")
        return 1
    print(json.dumps(figures(plan)) if arguments.json else report(plan, settings))
    return 0


async def _simulate(
    plan: Plan, settings: Settings, pipeline: Pipeline, reader: PhoenixClient, since: datetime, until: datetime
) -> None:
    """Decides each trace at the time of its start. Raises the errors of the client."""
    now = [since.timestamp()]
    ledger = MemoryLedger(lambda: now[0])
    names = [each.name for each in pipeline.evaluators if annotator_kind(each.judge_name) == "LLM"]
    budgets = build_budgets(settings, paid=names, ledger=ledger)
    sampler = build_sampler(
        settings,
        prescore=compose_prescore(settings),
        allowance=(lambda window_s: None) if budgets is None else budgets.allowance,
        clock=lambda: now[0],
    )
    planned = dataclasses.replace(pipeline, sampler=sampler, budgets=budgets, cap=None)
    stored = stored_traces(reader, str(settings.project_name), since=since, until=until)
    for batch in progress(stored, description="reading"):
        plan.traces += len(batch)
        traces = [trace for stored in batch for trace in planned.rag_traces(stored.spans)]
        for trace in sorted(traces, key=lambda each: each.start_ns):
            now[0] = max(now[0], trace.start_ns / 1e9)
            await _decide(plan, planned, budgets, trace)


async def _decide(plan: Plan, pipeline: Pipeline, budgets: Budgets | None, trace: RagTrace) -> None:
    complete = await pipeline.with_texts(trace)
    decision, reason = await pipeline.admit(complete, pipeline.decide(trace.target))
    usage = plan.count(complete, decision, reason)
    if budgets is not None and decision.lease is not None:
        await budgets.settle(decision.lease, [Evaluation(name="planned", usage=usage)])


def _settings(arguments: argparse.Namespace) -> Settings:
    given = {"sampling_policy": arguments.policy, "budgets": arguments.budget}
    return settings_of(arguments, **given)


def _source(arguments: argparse.Namespace, settings: Settings) -> tuple[PhoenixClient, datetime, datetime]:
    reader, project = phoenix_client(settings), project_name(settings)
    with phoenix_errors(settings):
        check_project(reader, project)
    bounds = time_bounds(arguments)
    return reader, bounds["since"], bounds["until"]
