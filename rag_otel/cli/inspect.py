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
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rag_otel.cli.inspect_explain import as_text, explanation, no_rag_trace
from rag_otel.cli.options import phoenix_options, reading_options, reading_pipeline, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.errors import ConfigurationError, InputError
from rag_otel.model import RagTrace
from rag_otel.pipeline import Pipeline
from rag_otel.settings import Settings
from rag_otel.setup.judging import compose_texts
from rag_otel_collectors.stored.assembly import AssembledTrace, TraceAssembler
from rag_otel_collectors.stored.otlp_files import read_spans
from rag_otel_collectors.stored.restored_spans import stored_traces


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
    printer = _printer(settings, explain=arguments.explain)
    if arguments.project:
        project = phoenix_project(arguments, settings)
        for batch in stored_traces(project.client, project.name):
            printer.print(batch)
        return 0
    assembler = TraceAssembler()
    failed = cut = 0
    for path in arguments.files:
        try:
            for span in read_spans(path):
                released = assembler.add(span)
                cut += len(released)
                printer.print(released)
        except InputError as error:
            failed += 1
            print(f"rag-otel inspect: {error}", file=sys.stderr)
    printer.print(assembler.flush())
    if cut:
        print(
            f"rag-otel inspect: {cut} traces were printed before the end of the files, because too many were "
            "incomplete at once; some of their spans may not have been considered",
            file=sys.stderr,
        )
    return 2 if failed else 0


def _printer(settings: Settings, *, explain: bool) -> Printer:
    return Printer(pipeline=reading_pipeline(settings, compose_texts(settings)), explain=explain)


@dataclass(frozen=True, kw_only=True)
class Printer:
    pipeline: Pipeline
    explain: bool

    def print(self, assembled: Iterable[AssembledTrace]) -> None:
        for trace in assembled:
            found = self._rag_traces(trace)
            rows = [row(each) | ({"explain": explanation(each)} if self.explain else {}) for each in found]
            if self.explain and not found:
                rows = [no_rag_trace(trace, self.pipeline.conventions)]
            for line in rows:
                as_json = not self.explain or not sys.stdout.isatty()
                print(json.dumps(line, allow_nan=False) if as_json else as_text(line))

    def _rag_traces(self, trace: AssembledTrace) -> list[RagTrace]:
        """The RAG traces of one trace in order of their start, with the texts of their chunks."""
        found = [asyncio.run(self.pipeline.with_texts(each)) for each in self.pipeline.rag_traces(trace.spans)]
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
