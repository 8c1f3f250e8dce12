"""`rag-otel demo`: a week of real answers with a model swap in it, evaluated, and Phoenix open on the result."""

from __future__ import annotations

import argparse
import contextlib
import logging
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import rag_otel
from rag_otel import semconv
from rag_otel.alerts.channels.log import LOGGER_NAME
from rag_otel.cli.demo.phoenix_server import DEFAULT_PORT, PhoenixServer, free_port, start_phoenix
from rag_otel.cli.demo.report import BASELINE_COUNT, StoryAnswer, drift_report, outcomes, report
from rag_otel.cli.demo.story import OutOfFoldFaithfulness, StoryQuestion, TimeShift, examples_folder, load_app, week
from rag_otel.cli.phoenix_project import once_stored
from rag_otel.cli.terminal import progress
from rag_otel.errors import RagOtelError
from rag_otel.writers.memory import MemoryWriter
from rag_otel.writers.phoenix_links import UNFAITHFUL_ANSWERS
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

PROJECT: Final = "rag-otel-demo"
_WAIT_S: Final = 120.0
_MORE_THAN_THE_DEMO_ASKS: Final = 1_000_000.0

LOOK_AT: Final = """\
  Phoenix is open at {page}

  What to look at:
    the five answers above: each link opens the trace; its evaluation span shows every claim with
        verdict, chunk and quote
    {page}/traces
        the chart "Trace annotation scores": the share of faithful answers of each day; the last three
        days are the cheaper model's
    {page}/spans
        all unfaithful answers: paste this into the filter box
          {unfaithful}

  The week's drift as a page, from what Phoenix holds:
    {command} drift --phoenix-endpoint {server} --project {project} --baseline-count {count} --html drift.html
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--check", action="store_true", help="exit with 0 once Phoenix has all of it, with 1 if it has not"
    )
    parser.add_argument("--port", type=int, help=f"Phoenix's port (default: {DEFAULT_PORT}, or a free one)")
    parser.add_argument("--dir", type=Path, default=Path(".demo"), help="where Phoenix keeps its data (default: .demo)")


def run(arguments: argparse.Namespace) -> int:
    """Run the story; with `--check` 0 when Phoenix has it all, else 1; without, Phoenix stays until Ctrl-C."""
    examples = examples_folder()
    port = arguments.port or free_port(0 if arguments.check else DEFAULT_PORT)
    folder = arguments.dir / f"phoenix-{port}"
    shutil.rmtree(folder, ignore_errors=True)  # nothing listens on the port, so the folder is not in use
    print("Starting Phoenix (half a minute at the first start) ...", flush=True)
    with start_phoenix(folder, port=port) as server:
        found = tell(examples, server.base_url)
        print(f"\n{report(found, base_url=server.base_url)}\n\n{drift_report(found)}\n")
        reader = PhoenixClient(server.base_url)
        if arguments.check:
            stored = _is_stored(reader, PROJECT, [each.result.trace.target.span_id for each in found])
            print(f"Phoenix has {'all' if stored else 'not all'} of the {len(found)} spans with their annotations")
            return 0 if stored else 1
        print(
            LOOK_AT.format(
                page=reader.project_page(PROJECT),
                unfaithful=UNFAITHFUL_ANSWERS,
                command=_command(),
                server=server.base_url,
                project=PROJECT,
                count=BASELINE_COUNT,
            )
        )
        print("  Ctrl-C stops it.", flush=True)
        return _until_ctrl_c(server)


def _until_ctrl_c(server: PhoenixServer) -> int:
    """Phoenix takes seconds to end: the user is told at once that it does."""
    try:
        return server.wait()
    except KeyboardInterrupt:
        print("\nStopping Phoenix. Goodbye.", flush=True)
        return 130


def _command() -> str:
    """The command line that starts this program."""
    called = Path(sys.argv[0])
    with contextlib.suppress(ValueError):
        called = called.absolute().relative_to(Path.cwd())
    return str(called)


def tell(examples: Path, base_url: str, project: str = PROJECT) -> list[StoryAnswer]:
    """Ask the app the week's questions, let rag-otel evaluate them, wait until Phoenix has everything."""
    clock = TimeShift(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{base_url}/v1/traces")))
    provider = TracerProvider(
        resource=Resource.create({semconv.PROJECT_NAME: project, semconv.SERVICE_NAME: "quickstart"})
    )
    provider.add_span_processor(clock)
    memory = MemoryWriter()
    # The demo's table names the risky answers itself: an alert in between would only disturb it.
    logging.getLogger(LOGGER_NAME).addHandler(logging.NullHandler())
    logging.getLogger(LOGGER_NAME).propagate = False
    rag_otel.instrument(
        provider,
        metrics=[],
        evaluators=[OutOfFoldFaithfulness(examples)],
        writers=[memory],
        phoenix_endpoint=base_url,
        project_name=project,
        evaluations_per_minute=_MORE_THAN_THE_DEMO_ASKS,
        drift=False,  # it goes by the traces' own clock, and the demo's is shifted on the way to Phoenix
    )
    try:
        story = week(examples, now_ns=time.time_ns())
        app = load_app(examples)
        for asked in progress(story, total=len(story), description="answering and evaluating"):
            clock.now_ns = asked.at_ns
            app.answer(asked.question, asked.model)
        rag_otel.flush(timeout=_WAIT_S)
        ids = [found.trace.target.span_id for found in memory.results]
        once_stored(lambda: _is_stored(PhoenixClient(base_url), project, ids), _WAIT_S)
    finally:
        rag_otel.uninstrument()
        provider.shutdown()
    return outcomes(_by_question(story), memory.results)


def _by_question(story: Sequence[StoryQuestion]) -> dict[tuple[str, str], StoryQuestion]:
    return {(asked.question, asked.model): asked for asked in story}


def _is_stored(reader: PhoenixClient, project: str, span_ids: Sequence[str]) -> bool:
    """True once every span has come and has an annotation."""
    with contextlib.suppress(RagOtelError):  # the project exists once its first span has come
        annotated = {row["span_id"] for row in reader.annotations(project, span_ids)}
        return annotated >= set(span_ids) and len(reader.spans(project)) >= len(span_ids)
    return False
