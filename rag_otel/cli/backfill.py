"""`rag-otel backfill`: evaluates traces that are already stored in Phoenix or in OTLP/JSON files.

It evaluates only traces without a score of this evaluator version and judge. So after an interruption the same command
continues, and after a complete run it finds nothing to do.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from rag_otel.budgets.run import RunBudget
from rag_otel.cli.backfill_report import conclude
from rag_otel.cli.phoenix_access import (
    PHOENIX_TIMEOUT_S,
    check_project,
    phoenix_client,
    phoenix_errors,
    project_name,
    time_bounds,
)
from rag_otel.cli.worker import Workers
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.pipeline import Pipeline
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import Settings, resolve
from rag_otel.setup.delivering import compose_attributes
from rag_otel.setup.judging import compose_pipeline
from rag_otel.setup.parts import Parts
from rag_otel.writers.feedback import annotator_kind
from rag_otel.writers.phoenix_backfill import PhoenixBackfillWriter
from rag_otel_collectors.backfill.engine import Backfill, Store, Tally
from rag_otel_collectors.backfill.file_source import FileStore
from rag_otel_collectors.backfill.phoenix_source import PhoenixStore
from rag_otel_evaluators.cooperative import time_slice

_SLICE_S: Final = 0.005
"""An evaluation yields to the event loop after this time, so that reading and writing continue."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="OTLP/JSON files, instead of a Phoenix project")
    parser.add_argument("--output", type=Path, metavar="FILE", help="output file: the files' traces with their scores")
    parser.add_argument("--project", metavar="NAME", help="Phoenix project (default: from the settings)")
    parser.add_argument("--phoenix-endpoint", metavar="URL", help="Phoenix's address (default: from the environment)")
    parser.add_argument(
        "--since", metavar="WHEN", help="only traces that started at or after this time: 7d, 12h, 30m, 2026-05-01T12:00"
    )
    parser.add_argument(
        "--until", metavar="WHEN", default="1m", help="only traces that started before this time (default: 1m ago)"
    )
    parser.add_argument("--metrics", help="comma-separated names (default: faithfulness)")
    parser.add_argument("--judge", help="the judge: embedded (the default), openai/gpt-4o-mini, ...")
    parser.add_argument("--mapping", metavar="FILE", help="custom attribute names, in TOML or JSON")
    parser.add_argument(
        "--chunk-resolver", metavar="MODULE:FUNCTION", help="function that fetches the texts of chunks by their ids"
    )
    parser.add_argument("--sample-ratio", type=float, help="share of traces to evaluate, 0..1 (default: 1)")
    parser.add_argument("--budget", type=int, metavar="N", help="stop after N evaluations (one per metric and answer)")
    parser.add_argument("--budget-usd", type=float, metavar="DOLLARS", help="stop when the judges have cost this much")
    parser.add_argument("--concurrency", type=int, default=16, help="answers evaluated at once (default: 16)")
    parser.add_argument("--workers", type=int, metavar="N", help="evaluate in N processes (default: in this process)")
    parser.add_argument("--dry-run", action="store_true", help="count traces and estimate the cost; evaluate nothing")
    parser.add_argument(
        "--price",
        metavar="IN,OUT",
        type=_price,
        help="the judge's price in dollars per million tokens, for --dry-run",
    )


def run(arguments: argparse.Namespace) -> int:
    """Returns 0 if done or stopped at the budget, 1 if evaluations failed or Phoenix became unavailable."""
    _check(arguments)
    settings = settings_of(arguments)
    workers = _workers(arguments, settings)
    pipeline = compose_pipeline(settings, Parts(), default_cap=None, budgeted=False)
    files = (
        FileStore(
            arguments.files,
            arguments.output,
            pipeline.evaluators,
            compose_attributes(settings),
            dry_run=arguments.dry_run,
        )
        if arguments.files
        else None
    )
    if files is None and settings.phoenix_endpoint is None:
        raise ConfigurationError(
            "neither FILEs nor Phoenix are given: name FILEs, or --phoenix-endpoint URL "
            "(environment: RAG_OTEL_PHOENIX_ENDPOINT)"
        )
    store = files or phoenix_store(arguments, settings, pipeline)
    tally, started = Tally(), time.perf_counter()
    try:
        _backfill(store, pipeline, workers, arguments, tally)
        changed = files.finish() if files and not arguments.dry_run else None
    except KeyboardInterrupt:
        print(conclude(tally, pipeline, seconds=time.perf_counter() - started), file=sys.stderr)
        print("interrupted: run the same command again to continue", file=sys.stderr)
        raise
    except (RetryableError, PermanentError) as error:
        print(conclude(tally, pipeline, seconds=time.perf_counter() - started), file=sys.stderr)
        print(f"rag-otel backfill: {error}; run the same command again to continue", file=sys.stderr)
        return 1
    finally:
        if files:
            files.close()
    seconds = time.perf_counter() - started
    print(conclude(tally, pipeline, seconds=seconds, dry_run=arguments.dry_run, price=arguments.price))
    if files and files.cut:
        print(
            f"{files.cut:,} traces were evaluated before the end of the files, because too many were incomplete at "
            "once; some of their spans may not have been considered"
        )
    if changed is not None:
        print(f"{arguments.output}: {changed:,} spans changed" if changed else f"{arguments.output}: nothing to change")
    return 1 if tally.failed else 0


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


def _check(arguments: argparse.Namespace) -> None:
    if arguments.files and (arguments.project or arguments.since):
        raise ConfigurationError("--project and --since are for traces in Phoenix, not for files")
    if arguments.files and arguments.output is None:
        raise ConfigurationError("--output FILE is missing: the file for the traces with their scores")
    if arguments.output is not None and not arguments.files:
        raise ConfigurationError("--output is for files; traces in Phoenix get annotations in Phoenix")
    for name in ("budget", "budget_usd", "concurrency", "workers"):
        value = getattr(arguments, name)
        if value is not None and value <= 0:
            raise ConfigurationError(f"--{name.replace('_', '-')} must be above 0, not {value}")


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings of a command that evaluates stored traces. Raises ConfigurationError."""
    given = {name: getattr(arguments, name) for name in ("phoenix_endpoint", "judge", "metrics", "sample_ratio")}
    own = {"attribute_mapping": arguments.mapping, "chunk_resolver": arguments.chunk_resolver}
    # A backfill is limited by its budget, not by evaluations per minute.
    uncapped = {"evaluations_per_minute": math.inf, "project_name": arguments.project}
    settings = resolve({**given, **own, **uncapped}).settings
    if settings.spans.chunk_resolver is not None:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does: the resolver is in a module of the user
    return settings


def phoenix_store(
    arguments: argparse.Namespace,
    settings: Settings,
    pipeline: Pipeline,
    *,
    kind: type[PhoenixStore] = PhoenixStore,
    **more: Any,
) -> PhoenixStore:
    """The project that the arguments name, as a store; `kind` and `more`: of another class, with these arguments.
    Raises ConfigurationError."""
    reader, project = phoenix_client(settings), project_name(settings)
    if arguments.since is None:
        raise ConfigurationError("the start time is missing: --since 7d, or --since and a date")
    with phoenix_errors(settings):
        check_project(reader, project)
    return kind(
        reader,
        PhoenixBackfillWriter(
            str(settings.phoenix_endpoint),
            project=project,
            capture_content=settings.capture_content,
            api_key=settings.phoenix_api_key,
            timeout_s=PHOENIX_TIMEOUT_S,
        ),
        pipeline.evaluators,
        project=project,
        **time_bounds(arguments),
        **more,
    )


def _price(text: str) -> tuple[float, float]:
    into, _, out = text.partition(",")
    return float(into), float(out)
