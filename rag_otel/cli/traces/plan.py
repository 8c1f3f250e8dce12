"""`rag-otel traces plan`: what a sampling policy would have evaluated of the last week's traces, and for how much.

It runs the policy and the budgets over the traces that Phoenix has stored, at the times at which they came, and
evaluates nothing. Only the embedded judge looks at traces, for rules with `risk_above`.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses

from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.build import build_budgets
from rag_otel.budgets.ledger import MemoryLedger
from rag_otel.cli.options import asking_nobody, json_option, judge_options, phoenix_options, price_of, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.terminal import CommandResult, progress
from rag_otel.cli.traces.plan_report import BackfillPlan, figures, report
from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation, RagTrace
from rag_otel.pipeline import Pipeline
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.sampling.build import build_sampler
from rag_otel.settings import Settings
from rag_otel.setup.judging import compose_pipeline, compose_prescore
from rag_otel.writers.annotations import annotator_kind
from rag_otel_collectors.stored.project import StoredProject


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", metavar="FILE", help="sampling policy in TOML or JSON (default: from the settings)")
    parser.add_argument(
        "--budget", metavar="LIMIT", action="append", help="`5 usd/day`, `200000 tokens/hour/tenant` (may be repeated)"
    )
    json_option(parser, "the figures")
    phoenix_options(parser, since="7d", until="1m")
    judge_options(parser, price=True, limits=False)


def run(arguments: argparse.Namespace) -> CommandResult:
    """Simulates the policy. Raises ConfigurationError and the client's errors."""
    settings = settings_of(arguments, sampling_policy=arguments.policy, budgets=arguments.budget)
    project = phoenix_project(arguments, settings)
    pipeline = compose_pipeline(asking_nobody(settings), budgeted=False)
    paid = [each for each in pipeline.evaluators if annotator_kind(each.judge_name) == "LLM"]
    price = price_of(settings, arguments) if paid else None
    if paid and price is None:
        raise ConfigurationError(f"the price of {paid[0].judge_name} is unknown: give --price IN,OUT")
    assert project.since is not None  # both options have a default
    assert project.until is not None
    seconds = (project.until - project.since).total_seconds()
    plan = BackfillPlan(paid=len(paid), price=price or (0.0, 0.0), seconds=seconds)
    with suppressed():
        asyncio.run(_simulate(plan, settings, pipeline, project, project.since.timestamp()))
    return CommandResult(text=report(plan, settings), data=figures(plan))


async def _simulate(
    plan: BackfillPlan, settings: Settings, pipeline: Pipeline, project: StoredProject, begin_s: float
) -> None:
    """Decides each trace at the time of its start. Raises the errors of the client."""
    now = [begin_s]
    ledger = MemoryLedger(lambda: now[0])
    names = [each.name for each in pipeline.evaluators if annotator_kind(each.judge_name) == "LLM"]
    budgets = build_budgets(settings, paid=names, ledger=ledger)
    prescore = compose_prescore(settings)
    sampler = build_sampler(settings, prescore=prescore, budgets=budgets, clock=lambda: now[0])
    planned = dataclasses.replace(pipeline, sampler=sampler, budgets=budgets, cap=None)
    for batch in progress(project.traces(), description="reading"):
        plan.traces += len(batch)
        traces = [trace for stored in batch for trace in planned.rag_traces(stored.spans)]
        for trace in sorted(traces, key=lambda each: each.start_ns):
            now[0] = max(now[0], trace.start_ns / 1e9)
            await _decide(plan, planned, budgets, trace)


async def _decide(plan: BackfillPlan, pipeline: Pipeline, budgets: Budgets | None, trace: RagTrace) -> None:
    complete = await pipeline.with_texts(trace)
    decision, reason = await pipeline.admit(complete, pipeline.decide(trace.target))
    usage = plan.count(complete, decision, reason)
    if budgets is not None and decision.lease is not None:
        await budgets.settle(decision.lease, [Evaluation(name="planned", usage=usage)])
