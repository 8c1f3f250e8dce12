"""`rag-otel traces backfill`: evaluates traces that are already stored in Phoenix or in OTLP/JSON files.

It evaluates only traces without a score of this evaluator version and judge. So after an interruption the same command
continues, and after a complete run it finds nothing to do.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from rag_otel.budgets.run import RunBudget
from rag_otel.cli.options import (
    asking_nobody,
    json_option,
    judge_options,
    phoenix_options,
    price_of,
    reading_options,
    require_price_of_budget,
    settings_of,
)
from rag_otel.cli.phoenix_project import PHOENIX_TIMEOUT_S, phoenix_project
from rag_otel.cli.terminal import CommandResult
from rag_otel.cli.traces.backfill_report import conclude, counts
from rag_otel.cli.worker import Workers
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.pipeline import Pipeline
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import Settings
from rag_otel.setup.judging import compose_pipeline
from rag_otel.writers.annotations import annotator_kind
from rag_otel.writers.phoenix_backfill import PhoenixBackfillWriter
from rag_otel.writers.phoenix_links import phoenix_page, project_link
from rag_otel_collectors.backfill.engine import Backfill, Store, Tally
from rag_otel_collectors.backfill.file_source import FileStore
from rag_otel_collectors.backfill.phoenix_source import PhoenixStore
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_evaluators.cooperative import time_slice
from rag_otel_evaluators.judges.config import JudgeConfig

_SLICE_S: Final = 0.005
"""An evaluation yields to the event loop after this time, so that reading and writing continue."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="OTLP/JSON files, instead of a Phoenix project")
    parser.add_argument("--output", type=Path, metavar="FILE", help="output file: the files' traces with their scores")
    parser.add_argument(
        "--sample-ratio", type=float, metavar="SHARE", help="share of traces to evaluate, 0..1 (default: 1)"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="evaluate in N processes (default: in this process)")
    parser.add_argument("--dry-run", action="store_true", help="count traces and estimate the cost; evaluate nothing")
    json_option(parser, "the counts")
    reading_options(parser)
    phoenix_options(parser, since="7d", until="1m")
    judge_options(parser, price=True)


def run(arguments: argparse.Namespace) -> CommandResult:
    """Exit code 0 if done or stopped at the budget, 1 if evaluations failed or Phoenix became unavailable."""
    settings = settings_of(arguments)
    _check(arguments, settings)
    if not arguments.dry_run:
        require_price_of_budget(arguments.budget_usd, JudgeConfig(model=settings.judge.model))
    workers = _workers(arguments, settings)
    judging = asking_nobody(settings) if arguments.dry_run else settings
    pipeline = compose_pipeline(judging, budgeted=False)
    with contextlib.ExitStack() as resources:
        files = _file_store(arguments, settings, pipeline) if arguments.files else None
        if files is not None:
            resources.callback(files.close)
        store = files or phoenix_store(phoenix_project(arguments, settings), settings, pipeline)
        tally, started, notes, lines = Tally(), time.perf_counter(), list[str](), list[str]()
        try:
            _backfill(store, pipeline, workers, arguments, tally)
            if files is not None and not arguments.dry_run:
                changed = files.finish()
                lines.append(f"{arguments.output}: {f'{changed:,} spans changed' if changed else 'nothing to change'}")
        except KeyboardInterrupt:
            print(conclude(tally, pipeline, seconds=time.perf_counter() - started), file=sys.stderr)
            print("interrupted: run the same command again to continue", file=sys.stderr)
            raise
        except (RetryableError, PermanentError) as error:
            notes.append(f"{error}; run the same command again to continue")
    if files is None and not arguments.dry_run:
        lines.insert(0, f"  look at {project_link(phoenix_page(settings) or '', settings.project_name or '')}")
    if files is not None and files.cut:
        lines.insert(
            0,
            f"{files.cut:,} traces were evaluated before the end of the files, because too many were incomplete at "
            "once; some of their spans may not have been considered",
        )
    price = price_of(settings, arguments) if arguments.dry_run else None
    seconds = time.perf_counter() - started
    summary = conclude(tally, pipeline, seconds=seconds, dry_run=arguments.dry_run, price=price)
    return CommandResult(
        text="\n".join([summary, *lines]), data=counts(tally), notes=notes, code=1 if tally.failed or notes else 0
    )


def _file_store(arguments: argparse.Namespace, settings: Settings, pipeline: Pipeline) -> FileStore:
    return FileStore(
        arguments.files,
        arguments.output,
        pipeline.evaluators,
        capture_content=settings.capture_content,
        dry_run=arguments.dry_run,
    )


def _workers(arguments: argparse.Namespace, settings: Settings) -> Workers | None:
    if arguments.workers is None or arguments.dry_run:
        return None
    if annotator_kind(settings.judge.model) == "LLM":
        raise ConfigurationError(
            f"--workers is for judges that run on this machine; {settings.judge.model} waits for a server: "
            "use --concurrency"
        )
    return Workers(settings, arguments.workers)


def _backfill(
    store: Store, pipeline: Pipeline, workers: Workers | None, arguments: argparse.Namespace, tally: Tally
) -> None:
    with suppressed(), time_slice(_SLICE_S), _bar(tally) as bar:
        backfill = Backfill(
            store=store,
            pipeline=pipeline,
            budget=RunBudget(evaluations=arguments.budget, usd=arguments.budget_usd),
            concurrency=arguments.concurrency,
            dry_run=arguments.dry_run,
            evaluate=workers.evaluate if workers else None,
            progress=bar,
        )
        asyncio.run(_run(backfill, workers, tally))


async def _run(backfill: Backfill, workers: Workers | None, tally: Tally) -> None:
    async with workers or contextlib.nullcontext():
        await backfill.run(tally)


@contextlib.contextmanager
def _bar(tally: Tally) -> Iterator[Any]:
    """A progress bar on a terminal. It has no total, because the number of traces is unknown until all are read."""
    quiet = not sys.stderr.isatty()
    with tqdm(desc="backfill", unit=" traces", file=sys.stderr, disable=quiet, leave=False) as bar:

        def advance(traces: int) -> None:
            cost = f", ${tally.cost_usd:.4f}" if tally.cost_usd else ""
            bar.set_postfix_str(f"{tally.evaluated:,} evaluated, {tally.already:,} had scores{cost}", refresh=False)
            bar.update(traces)

        yield advance


def _check(arguments: argparse.Namespace, settings: Settings) -> None:
    if arguments.files and arguments.project:
        raise ConfigurationError("--project is for traces in Phoenix, not for files")
    if arguments.files and arguments.output is None:
        raise ConfigurationError("--output FILE is missing: the file for the traces with their scores")
    if arguments.output is not None and not arguments.files:
        raise ConfigurationError("--output is for files; traces in Phoenix get annotations in Phoenix")
    if not arguments.files and settings.phoenix_endpoint is None:
        raise ConfigurationError(
            "neither FILEs nor Phoenix are given: name FILEs, or --phoenix-endpoint URL "
            "(environment: RAG_OTEL_PHOENIX_ENDPOINT)"
        )


def phoenix_store(
    project: StoredProject,
    settings: Settings,
    pipeline: Pipeline,
    *,
    kind: type[PhoenixStore] = PhoenixStore,
    **more: Any,
) -> PhoenixStore:
    """The project as a store; `kind` and `more`: of another class, with these arguments."""
    writer = PhoenixBackfillWriter(
        str(settings.phoenix_endpoint),
        project=project.name,
        capture_content=settings.capture_content,
        api_key=settings.phoenix_api_key,
        timeout_s=PHOENIX_TIMEOUT_S,
    )
    return kind(project, writer, pipeline.evaluators, **more)
