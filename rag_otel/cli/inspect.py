"""`rag-otel inspect FILE...`: prints every RAG trace in OTLP/JSON files, evaluable or not, one JSON object per line;
with `--project NAME` those that Phoenix holds.

With `--explain` each line also names the adapter, the spans and attributes that it read, and why the trace cannot be
evaluated. Traces without a RAG trace get a line too. On a terminal the explanation is printed as text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from rag_otel.cli.inspect_explain import as_text, explanation, no_rag_trace
from rag_otel.cli.options import phoenix_options, reading_options, reading_pipeline, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.errors import ConfigurationError, InputError
from rag_otel.model import RagTrace, SpanRecord
from rag_otel.pipeline import Pipeline
from rag_otel.setup.judging import compose_texts
from rag_otel_collectors.stored.assembly import AssembledTrace, TraceAssembler
from rag_otel_collectors.stored.otlp_files import read_spans


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="OTLP/JSON, one object or one per line, or Phoenix's export, optionally gzip; - reads standard input",
    )
    parser.add_argument(
        "--explain", action="store_true", help="name adapter, spans and attributes, and why a trace is not evaluable"
    )
    reading_options(parser)
    phoenix_options(parser, times=False)


def run(arguments: argparse.Namespace) -> int:
    """Prints the rows. A file that cannot be read is reported on standard error, and the next file is read."""
    settings = settings_of(arguments)
    if bool(arguments.files) == bool(arguments.project):
        raise ConfigurationError("name files to read, or a project of Phoenix's with --project NAME")
    pipeline = reading_pipeline(settings, compose_texts(settings))
    if arguments.project:
        stored = chain.from_iterable(phoenix_project(arguments, settings).traces())
        print_traces(stored, pipeline, explain=arguments.explain)
        return 0
    unreadable: list[str] = []
    read = TraceAssembler().assembled(_spans(arguments.files, unreadable))
    cut = print_traces(read, pipeline, explain=arguments.explain)
    if cut:
        print(
            f"rag-otel inspect: {cut} traces were printed before the end of the files, because too many were "
            "incomplete at once; some of their spans may not have been considered",
            file=sys.stderr,
        )
    return 2 if unreadable else 0


def _spans(files: Iterable[str], unreadable: list[str]) -> Iterator[SpanRecord]:
    """The spans of all files. A file that cannot be read is reported and added to `unreadable`."""
    for path in files:
        try:
            yield from read_spans(path)
        except InputError as error:
            unreadable.append(path)
            print(f"rag-otel inspect: {error}", file=sys.stderr)


def print_traces(traces: Iterable[AssembledTrace], pipeline: Pipeline, *, explain: bool) -> int:
    """Prints a line for each RAG trace. Returns how many traces were cut, see `AssembledTrace.cut`."""
    as_json, cut = not explain or not sys.stdout.isatty(), 0
    for trace in traces:
        cut += trace.cut
        found = _rag_traces(trace, pipeline)
        rows = [row(each) | ({"explain": explanation(each)} if explain else {}) for each in found]
        if explain and not found:
            rows = [no_rag_trace(trace, pipeline.conventions)]
        for line in rows:
            print(json.dumps(line, allow_nan=False) if as_json else as_text(line))
    return cut


def _rag_traces(trace: AssembledTrace, pipeline: Pipeline) -> list[RagTrace]:
    """The RAG traces of one trace in order of their start, with the texts of their chunks."""
    found = [asyncio.run(pipeline.with_texts(each)) for each in pipeline.rag_traces(trace.spans)]
    return sorted(found, key=lambda each: each.start_ns)


def _conversation(trace: RagTrace) -> list[dict[str, str]]:
    """The earlier turns and the memory that count as context, see the setting `conversation_context`."""
    return [{"id": chunk.id, "text": chunk.text} for chunk in trace.conversation.evidence]


def row(trace: RagTrace) -> dict[str, Any]:
    """Returns the line that is printed for a trace. None is printed as null: that part could not be read."""
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
        **({"conversation": conversation} if (conversation := _conversation(trace)) else {}),
        "unevaluable_reason": trace.unevaluable_reason,
    }
