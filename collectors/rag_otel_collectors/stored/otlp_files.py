"""Reads spans from OTLP/JSON files: one object, or one object per line (the OpenTelemetry Collector's file exporter).

Files may be compressed with gzip. Lines are read one by one. A file with one object over several lines must fit into
memory.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.model import SpanRecord
from rag_otel_collectors.otlp.protobuf.json_request import request_from
from rag_otel_collectors.otlp.protobuf.span_records import records_of
from rag_otel_collectors.stored.restored_spans import exported_span

STDIN: Final = "-"
_GZIP: Final = b"\x1f\x8b"
_TRACES: Final = "resourceSpans"
_OTHER_SIGNALS: Final = ("resourceMetrics", "resourceLogs", "resourceProfiles")
"""Metrics, logs and profiles, which the OpenTelemetry Collector may write to the same file."""
_EXPECTED: Final = "expected OTLP/JSON: an object with resourceSpans, or one on each line"
_PHOENIX_KEYS: Final = frozenset({"trace_id", "context"})
"""One of them is on every span that Phoenix gives out."""
_DECODER: Final = json.JSONDecoder()
_BLANKS: Final = re.compile(r"\s*")


def read_spans(path: str) -> Iterator[SpanRecord]:
    """Yields every span of a file in order. `-` is standard input.

    Raises InputError that names the file, the line and what was expected.
    """
    for place, request in read_requests(path):
        yield from spans_of(request, place)


def read_requests(path: str) -> Iterator[tuple[str, Any]]:
    """Yields (place, parsed object) of every JSON object in a file. Raises the same errors as `read_spans`."""
    name = "standard input" if path == STDIN else path
    try:
        with _open(path) as raw:
            yield from _requests(_text(raw), name)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 text; {_EXPECTED} ({error.reason} at byte {error.start})") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _open(path: str) -> io.BufferedReader:
    return open(sys.stdin.fileno(), "rb", closefd=False) if path == STDIN else open(path, "rb")


def _text(raw: io.BufferedReader) -> io.TextIOWrapper:
    compressed = raw.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
    return io.TextIOWrapper(gzip.open(raw) if compressed else raw, encoding="utf-8-sig")


def _requests(lines: io.TextIOWrapper, name: str) -> Iterator[tuple[str, Any]]:
    """Yields (place, parsed object) of each object: one per line, or from the whole text if an object spans lines."""
    empty = True
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            if not empty or not line.lstrip().startswith(("{", "[")):
                raise InputError(
                    f"{name}, line {number}: not JSON; {_EXPECTED} ({getattr(error, 'msg', error)})"
                ) from None
            yield from _objects(line + lines.read(), name, number)
            return
        empty = False
        yield f"{name}, line {number}", request
    if empty:
        raise InputError(f"{name}: empty; {_EXPECTED}")


def _objects(text: str, name: str, first_line: int) -> Iterator[tuple[str, Any]]:
    """Yields the objects of a text. Objects may have any line breaks."""
    position, line = 0, first_line
    while position < len(text):
        try:
            request, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            line = first_line + error.lineno - 1
            raise InputError(f"{name}, line {line}: not JSON; {_EXPECTED} ({error.msg})") from None
        except RecursionError:
            raise InputError(f"{name}, line {line}: nested too deeply; {_EXPECTED}") from None
        yield f"{name}, line {line}", request
        end += len(_BLANKS.match(text, end)[0])  # type: ignore[index]  # the pattern always matches
        line += text.count("\n", position, end)
        position = end


def spans_of(request: Any, place: str) -> Iterator[SpanRecord]:
    """Yields the spans of one object that was read at `place`: an OTLP request, or a part of Phoenix's export.

    Raises InputError that names the place.
    """
    exported = _phoenix_rows(request)
    if exported is not None:
        try:
            yield from map(exported_span, exported)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        return
    if not isinstance(request, Mapping) or not any(key in request for key in (_TRACES, *_OTHER_SIGNALS)):
        raise InputError(f"{place}: {_EXPECTED}, not {_described(request)}")
    try:
        yield from records_of(request_from(request))
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _phoenix_rows(request: Any) -> Sequence[Mapping[str, Any]] | None:
    """The spans of a page of Phoenix's export, of a list of them, or of one alone; None for anything else."""
    listed = request.get("data") if isinstance(request, Mapping) else request
    rows = listed if isinstance(listed, list) and listed else [request]
    return rows if all(isinstance(row, Mapping) and _PHOENIX_KEYS & row.keys() for row in rows) else None


def _described(request: Any) -> str:
    if isinstance(request, Mapping):
        return f"an object with {', '.join(map(repr, list(request)[:4])) or 'nothing in it'}"
    return "a list" if isinstance(request, list) else f"{request!r:.40}"
