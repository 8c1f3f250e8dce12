"""How fast traces that Phoenix has stored get their scores, against how fast Phoenix itself can hand over and take in.

    python benchmarks/backfill.py [TRACES]

Starts a Phoenix of its own (embedded SQLite), stores traces of three spans each made of the recorded answers of
examples/data, then measures, in one run on the same machine:

- Phoenix alone: the reading (traces and their spans), the asking for annotations and the writing of two annotations a
  trace, without anything being evaluated;
- `rag-otel backfill` over the same traces, with the embedded judge;
- the same over as many other traces with `--workers 2`: the judging is in other processes then;
- the same command again, which reads everything and writes nothing.

Beside wall time the CPU time of either side is given: on a machine with other work to do it is the steadier figure.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import secrets
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from rag_otel import semconv
from rag_otel.cli.demo.phoenix_server import PhoenixServer, start_phoenix
from rag_otel.cli.main import main as rag_otel
from rag_otel.cli.terminal import table
from rag_otel.delivery.http import post, to_json
from rag_otel.errors import RagOtelError
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

DATA = Path(__file__).parents[1] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
PROJECT = "backfill-benchmark"
OTHER = "backfill-benchmark-workers"
WORKERS = 2
AT_ONCE = 100
TARGET = 300


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


def trace_ids(reader: PhoenixClient, project: str = PROJECT) -> list[str]:
    """Of everything in the project; none while it does not exist."""
    try:
        return [row["trace_id"] for row in reader.traces(project)]
    except RagOtelError:
        return []


def phoenix_alone(server: PhoenixServer) -> None:
    """What a backfill asks of Phoenix, and nothing else."""
    reader = PhoenixClient(server.base_url, timeout_s=60)
    ids = trace_ids(reader)
    note = "x" * 300
    last: list[str] = []
    for first in range(0, len(ids), AT_ONCE):
        spans = reader.spans(PROJECT, trace_ids=ids[first : first + AT_ONCE])
        last = [span["context"]["span_id"] for span in spans if not span["parent_id"]]
        for _ in range(2):  # before judging, and to see that the last batch has arrived
            reader.annotations(PROJECT, last, names=["limit"])
        rows = [
            {
                "span_id": span_id,
                "name": name,
                "annotator_kind": "CODE",
                "identifier": "limit",
                "result": {"score": 0.5, "label": "faithful", "explanation": note},
            }
            for span_id in last
            for name in ("limit", "limit_risk")
        ]
        post(f"{server.base_url}/v1/span_annotations?sync=false", to_json({"data": rows}), timeout_s=60)
    while len(reader.annotations(PROJECT, last, names=["limit"])) < len(last):
        time.sleep(0.05)


def measured(server: PhoenixServer, name: str, traces: int, work: Callable[[], object]) -> list[str]:
    """A line of the table: traces a second, and milliseconds of CPU a trace on either side."""
    ours, theirs, started = time.process_time(), cpu_of(server.pid), time.perf_counter()
    children = cpu_of_children()
    work()
    seconds = time.perf_counter() - started
    ours, theirs = time.process_time() - ours, cpu_of(server.pid) - theirs
    judging = cpu_of_children() - children  # starting the processes included, which a longer run does not notice
    return [
        name,
        f"{traces / seconds:.0f}",
        f"{ours / traces * 1e3:.2f}",
        f"{judging / traces * 1e3:.2f}",
        f"{theirs / traces * 1e3:.2f}",
        f"{traces / max(ours, judging / WORKERS, theirs):.0f}",
    ]


def cpu_of_children() -> float:
    """CPU seconds of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def backfill(server: PhoenixServer, project: str = PROJECT, *options: str) -> None:
    where = ["--project", project, "--phoenix-endpoint", server.base_url, "--since", "1d"]
    assert rag_otel(["backfill", *where, *options]) == 0


def main(traces: int) -> None:
    with tempfile.TemporaryDirectory() as folder, start_phoenix(folder) as server:
        store(server, PROJECT, traces)
        store(server, OTHER, traces)
        lines = [
            measured(server, "Phoenix alone", traces, lambda: phoenix_alone(server)),
            measured(server, "rag-otel backfill", traces, lambda: backfill(server)),
            measured(
                server, f"--workers {WORKERS}", traces, lambda: backfill(server, OTHER, "--workers", str(WORKERS))
            ),
            measured(server, "the first again", traces, lambda: backfill(server)),
        ]
    header = (
        "what",
        "traces/s",
        "our CPU, ms a trace",
        "our processes', ms",
        "Phoenix's CPU, ms a trace",
        "traces/s with a core each",
    )
    print(table(lines, header=header))
    print(f"to reach: {TARGET} traces/s, or Phoenix's own limit")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("traces", type=int, nargs="?", default=1_000, help="traces that Phoenix holds")
    main(parser.parse_args().traces)
