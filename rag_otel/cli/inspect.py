"""`rag-otel inspect FILE...`: every RAG trace in OTLP/JSON files, evaluable or not, one JSON object a line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rag_otel.errors import InputError
from rag_otel.model import RagTrace, SpanRecord
from rag_otel_collectors.assembly import AssembledTrace, TraceAssembler
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.files import read_spans


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="OTLP/JSON, one object or one per line, gzip or not; - reads standard input",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the rows. A file that cannot be read is named on standard error, the others are read all the same."""
    assembler = TraceAssembler()
    failed = cut = 0
    for path in arguments.files:
        try:
            for span in read_spans(path):
                released = assembler.add(span)
                cut += len(released)
                _print(released)
        except InputError as error:
            failed += 1
            print(f"rag-otel inspect: {error}", file=sys.stderr)
    _print(assembler.flush())
    if cut:
        print(f"rag-otel inspect: {cut} traces were printed before the end: too many at once", file=sys.stderr)
    return 2 if failed else 0


def _print(assembled: Iterable[AssembledTrace]) -> None:
    for trace in assembled:
        for rag_trace in _rag_traces(trace.spans):
            print(json.dumps(row(rag_trace), allow_nan=False))


def _rag_traces(spans: Sequence[SpanRecord]) -> list[RagTrace]:
    """What every dialect reads in one trace, by start."""
    found = [trace for convention in default_conventions() for trace in convention.read(spans)]
    return sorted(found, key=lambda trace: trace.start_ns)


def row(trace: RagTrace) -> dict[str, Any]:
    """The line that is printed for a trace; null is what could not be read."""
    return {
        "trace_id": trace.target.trace_id,
        "span_id": trace.target.span_id,
        "convention": trace.convention,
        "question": trace.question,
        "chunks": [
            {"id": chunk.id, "text": chunk.text, "position": chunk.position, "score": chunk.score}
            for chunk in trace.chunks
        ],
        "response": trace.response,
        "model": trace.model,
        "session_id": trace.session_id,
        "unevaluable_reason": trace.unevaluable_reason,
    }
