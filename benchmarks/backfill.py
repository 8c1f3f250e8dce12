"""How fast stored traces get their scores, against how fast Phoenix itself can hand over and take in the same.

    python benchmarks/backfill.py [TRACES] [--rounds N] [--unjudged]

Starts a Phoenix of its own (embedded SQLite). In every round each of these gets a fresh project with the same traces
(three spans each, made of the recorded answers of examples/data), in an order that turns from round to round:

- "bare": reads the traces and their spans, asks once which have annotations, and sends what a backfill sends: the same
  evaluation spans and annotations of spans and traces, in requests for 100 traces each, as bytes that were ready before
  the clock started. It evaluates, checks and repeats nothing.
- "bare again": the same once more, for the machine's noise.
- "backfill, results known": the whole backfill, but the judge's results were looked up, not computed: a judge that
  takes no time. What it takes longer than "bare" is the cost of the backfill itself.
- "rag-otel traces backfill": the command, with the embedded judge in its process; "--workers 2": in two others.
- "nothing to do": the command again, over traces that have their scores. It reads and writes nothing.

Wall time and CPU time are from the start of each arm until Phoenix has stored its last result. On a machine whose cores
are shared CPU time is the steadier figure, but it grows too when others use the machine. Before each arm Phoenix is
waited for until it is idle. With --unjudged the embedded judge's arms are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import resource
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from rag_otel import semconv
from rag_otel.budgets.run import RunBudget
from rag_otel.cli.demo.phoenix_server import PhoenixServer, start_phoenix
from rag_otel.cli.main import main as rag_otel
from rag_otel.cli.options import settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.terminal import table
from rag_otel.cli.traces import backfill as command
from rag_otel.delivery.http import post
from rag_otel.errors import RagOtelError
from rag_otel.model import EvaluatedTrace, RagTrace, SamplingDecision, SpanRef
from rag_otel.setup.judging import compose_pipeline
from rag_otel.writers import phoenix_annotations, phoenix_backfill
from rag_otel.writers.phoenix_backfill import PhoenixBackfillWriter
from rag_otel_collectors.backfill.engine import Backfill, Tally
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.project import StoredProject

DATA = Path(__file__).parents[1] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
WORKERS = 2
AT_ONCE = 100
BARE, AGAIN, KNOWN = "bare", "bare again", "backfill, results known"
JUDGED, SPREAD, NOTHING = "rag-otel traces backfill", f"rag-otel traces backfill --workers {WORKERS}", "nothing to do"
ARMS = (BARE, KNOWN, JUDGED, AGAIN, SPREAD)
UNJUDGED = (BARE, KNOWN, AGAIN)
_IDLE_S = 0.03
"""CPU time in half a second of a Phoenix without work: its background tasks."""


def store(server: PhoenixServer, project: str, traces: int) -> None:
    """Send the traces and wait until Phoenix has them all."""
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    for first in range(0, traces, AT_ONCE):
        request = ExportTraceServiceRequest()
        resource_spans = request.resource_spans.add()
        attribute = resource_spans.resource.attributes.add()
        attribute.key, attribute.value.string_value = semconv.PROJECT_NAME, project
        scope_spans = resource_spans.scope_spans.add()
        for number in range(first, min(first + AT_ONCE, traces)):
            add_trace(scope_spans, rows[number % len(rows)], time.time_ns() - (traces - number + 600) * 10**9)
        post(
            server.traces_endpoint,
            request.SerializeToString(),
            headers={"Content-Type": "application/x-protobuf"},
            timeout_s=60,
        )
    reader = PhoenixClient(server.base_url, timeout_s=60)
    while len(trace_ids(reader, project)) < traces:
        time.sleep(0.5)


def add_trace(spans: ScopeSpans, row: dict[str, Any], start_ns: int) -> None:
    """A chain that retrieved and asked a model, as OpenInference's LangChain instrumentation records it."""
    trace_id, root_id = secrets.token_bytes(16), secrets.token_bytes(8)
    documents = {f"{semconv.DOCUMENTS}.{n}.{semconv.DOCUMENT_CONTENT}": text for n, text in enumerate(row["contexts"])}
    prompt = "\n\n".join([*row["contexts"], row["question"]])
    parts: list[tuple[str, str, dict[str, str]]] = [
        ("RunnableSequence", semconv.KIND_CHAIN, {semconv.OUTPUT_VALUE: row["response"]}),
        ("VectorStoreRetriever", semconv.KIND_RETRIEVER, documents),
        ("ChatOpenAI", semconv.KIND_LLM, {semconv.LLM_MODEL_NAME: row["model"], semconv.OUTPUT_VALUE: row["response"]}),
    ]
    for number, (name, kind, attributes) in enumerate(parts):
        span: Span = spans.spans.add()
        span.trace_id, span.name = trace_id, name
        span.span_id = root_id if number == 0 else secrets.token_bytes(8)
        span.parent_span_id = b"" if number == 0 else root_id
        span.start_time_unix_nano, span.end_time_unix_nano = start_ns + number * 10**6, start_ns + 10**9
        asked = prompt if kind == semconv.KIND_LLM else row["question"]
        for key, value in {semconv.SPAN_KIND: kind, semconv.INPUT_VALUE: asked, **attributes}.items():
            pair = span.attributes.add()
            pair.key, pair.value.string_value = key, value


def trace_ids(reader: PhoenixClient, project: str) -> list[str]:
    """Of everything in the project; none while it does not exist."""
    try:
        return [row["trace_id"] for row in reader.traces(project)]
    except RagOtelError:
        return []


# --- the arms ---------------------------------------------------------------------------------------------------------


class Prepared:
    """A project whose traces have been judged before the clock starts."""

    def __init__(self, server: PhoenixServer, project: str) -> None:
        self.server, self.project = server, project
        where = ["--project", project, "--phoenix-endpoint", server.base_url, "--since", "1d"]
        parser = argparse.ArgumentParser()
        command.configure(parser)
        self.arguments = parser.parse_args(where)
        self.settings = settings_of(self.arguments)
        self.pipeline = compose_pipeline(self.settings, budgeted=False)
        self.results = asyncio.run(self._judged())

    async def _judged(self) -> dict[SpanRef, EvaluatedTrace]:
        stored = StoredProject(client=PhoenixClient(self.server.base_url, timeout_s=60), name=self.project)
        found = {}
        for batch in stored.traces():
            for trace in (each for spans in batch for each in self.pipeline.rag_traces(spans.spans)):
                decision, _ = await self.pipeline.admit(trace, self.pipeline.decide(trace.target))
                names = tuple(each.name for each in self.pipeline.evaluators)
                decision = replace(decision, evaluators=names)
                found[trace.target] = await self.pipeline.evaluate(trace, decision)
        return found

    def bodies(self) -> list[list[tuple[str, bytes, dict[str, str]]]]:
        """What a backfill sends: for every batch of traces its requests (address, body, headers)."""
        sent: list[tuple[str, bytes, dict[str, str]]] = []

        def keep(url: str, body: bytes, *, headers: dict[str, str], timeout_s: float) -> bytes:
            sent.append((url, body, dict(headers)))
            return b""

        writer = PhoenixBackfillWriter(self.server.base_url, project=self.project)
        results, batches = list(self.results.values()), []
        with mock.patch.object(phoenix_backfill, "post", keep), mock.patch.object(phoenix_annotations, "post", keep):
            for first in range(0, len(results), AT_ONCE):
                writer.write(results[first : first + AT_ONCE])
                batches.append(sent[:])
                sent.clear()
        return batches


def bare(prepared: Prepared, bodies: Sequence[Sequence[tuple[str, bytes, dict[str, str]]]]) -> None:
    """Reads, asks once and writes."""
    reader = PhoenixClient(prepared.server.base_url, timeout_s=60)
    ids = trace_ids(reader, prepared.project)
    for number, first in enumerate(range(0, len(ids), AT_ONCE)):
        spans = reader.spans(prepared.project, trace_ids=ids[first : first + AT_ONCE])
        roots = [span["context"]["span_id"] for span in spans if not span["parent_id"]]
        reader.annotations(prepared.project, roots, names=["faithfulness"])
        for url, body, headers in bodies[number]:
            post(url, body, headers=headers, timeout_s=60)


def known(prepared: Prepared) -> None:
    """The backfill of the command, with results that are known."""

    async def lookup(trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        return prepared.results[trace.target]

    project = phoenix_project(prepared.arguments, prepared.settings)
    store = command.phoenix_store(project, prepared.settings, prepared.pipeline)
    backfill = Backfill(store=store, pipeline=prepared.pipeline, budget=RunBudget(), evaluate=lookup)
    tally = Tally()
    asyncio.run(backfill.run(tally))
    assert tally.evaluated == len(prepared.results)


def judged(prepared: Prepared, *options: str) -> None:
    where = ["--project", prepared.project, "--phoenix-endpoint", prepared.server.base_url, "--since", "1d"]
    with contextlib.redirect_stdout(io.StringIO()):
        assert rag_otel(["traces", "backfill", *where, *options]) == 0


def wait_until_stored(prepared: Prepared) -> None:
    """Until Phoenix has stored the last score and the last evaluation span. Both are stored in the order they came."""
    reader, last = PhoenixClient(prepared.server.base_url, timeout_s=60), list(prepared.results)[-1]
    while not reader.annotations(prepared.project, [last.span_id], names=["faithfulness"]):
        time.sleep(0.05)
    while semconv.KIND_EVALUATOR not in (
        span["span_kind"] for span in reader.spans(prepared.project, trace_ids=[last.trace_id])
    ):
        time.sleep(0.05)


def work_of(arm: str, prepared: Prepared) -> Callable[[], object]:
    if arm in (BARE, AGAIN):
        bodies = prepared.bodies()
        return lambda: bare(prepared, bodies)
    if arm == KNOWN:
        return lambda: known(prepared)
    return lambda: judged(prepared, *(["--workers", str(WORKERS)] if arm == SPREAD else []))


# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """Milliseconds for each trace: of wall time, and of CPU time of this process, its workers, and Phoenix."""

    wall: float
    ours: float
    workers: float
    theirs: float


def measured(prepared: Prepared, work: Callable[[], object]) -> Measured:
    """Does the work and waits until Phoenix has stored its results: until then the clock runs, for all arms alike."""
    server, traces = prepared.server, len(prepared.results)
    wait_until_idle(server)
    ours, theirs, started = time.process_time(), cpu_of(server.pid), time.perf_counter()
    children = cpu_of_children()
    work()
    wait_until_stored(prepared)
    wall = time.perf_counter() - started
    ours, theirs = time.process_time() - ours, cpu_of(server.pid) - theirs
    workers = cpu_of_children() - children  # starting the processes included, which a longer run does not notice
    return Measured(*(seconds / traces * 1e3 for seconds in (wall, ours, workers, theirs)))


FIELDS = ("wall", "ours", "workers", "theirs")


def wait_until_idle(server: PhoenixServer) -> None:
    while True:
        before = cpu_of(server.pid)
        time.sleep(0.5)
        if cpu_of(server.pid) - before < _IDLE_S:
            return


def cpu_of_children() -> float:
    """CPU seconds of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """CPU seconds that a process has used, its threads that have ended included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(traces: int, rounds: int, arms: Sequence[str]) -> None:
    found: dict[str, list[Measured]] = {arm: [] for arm in (*arms, NOTHING)}
    with tempfile.TemporaryDirectory() as folder, start_phoenix(folder) as server:
        for number in range(rounds):
            prepared = None
            for place in range(len(arms)):
                arm = arms[(place + number) % len(arms)]
                project = f"backfill-{number}-{place}"
                store(server, project, traces)
                prepared = Prepared(server, project)
                found[arm].append(measured(prepared, work_of(arm, prepared)))
                print(number + 1, arm, found[arm][-1], flush=True)
            last = prepared
            assert last is not None
            found[NOTHING].append(measured(last, lambda each=last: judged(each)))  # type: ignore[misc]
    report(found)


def report(found: dict[str, list[Measured]]) -> None:
    lines = []
    for arm, rounds in found.items():
        wall, ours, workers, theirs = (statistics.median(getattr(each, name) for each in rounds) for name in FIELDS)
        apart = 1e3 / max(ours, workers / WORKERS, theirs)
        figures = [f"{1e3 / wall:.0f}", f"{ours:.2f}", f"{workers:.2f}", f"{theirs:.2f}", f"{apart:.0f}"]
        lines.append([arm, *figures, ratios(found, arm, "wall"), ratios(found, arm, "theirs")])
    header = (
        "median of the rounds",
        "traces/s",
        "our CPU, ms a trace",
        "our workers', ms",
        "Phoenix's CPU, ms a trace",
        "traces/s with a core each",
        "wall time beside bare",
        "Phoenix's CPU beside bare",
    )
    print(table(lines, header=header))


def ratios(found: dict[str, list[Measured]], arm: str, field: str) -> str:
    """Beside "bare" of the same round, for all others beside the mean of "bare" and "bare again": median and range."""
    if arm == BARE:
        return "1"
    beside = []
    for number, each in enumerate(found[arm]):
        base = [getattr(found[name][number], field) for name in ((BARE,) if arm == AGAIN else (BARE, AGAIN))]
        beside.append(getattr(each, field) / statistics.mean(base))
    return f"{statistics.median(beside):.2f} ({min(beside):.2f} to {max(beside):.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("traces", type=int, nargs="?", default=300, help="traces of each project")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--unjudged", action="store_true", help="leave out the arms with the embedded judge")
    arguments = parser.parse_args()
    main(arguments.traces, arguments.rounds, UNJUDGED if arguments.unjudged else ARMS)
