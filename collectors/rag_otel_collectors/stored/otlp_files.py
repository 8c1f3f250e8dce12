"""Reads spans from OTLP/JSON files: one object, or one object per line (the OpenTelemetry Collector's file exporter).

Files may be compressed with gzip. Lines are read one by one. A file with one object over several lines must fit into
memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.formats.rows import json_values
from rag_otel.model import SpanRecord
from rag_otel_collectors.otlp.requests.json_request import request_from
from rag_otel_collectors.otlp.requests.span_records import records_of
from rag_otel_collectors.stored.restored_spans import exported_span

_TRACES: Final = "resourceSpans"
_OTHER_SIGNALS: Final = ("resourceMetrics", "resourceLogs", "resourceProfiles")
"""Metrics, logs and profiles, which the OpenTelemetry Collector may write to the same file."""
OTLP_JSON: Final = "expected OTLP/JSON: an object with resourceSpans, or one on each line"
_PHOENIX_KEYS: Final = frozenset({"trace_id", "context"})
"""One of them is on every span that Phoenix gives out."""


def read_spans(path: str) -> Iterator[SpanRecord]:
    """Yields every span of a file in order. `-` is standard input.

    Raises InputError that names the file, the line and what was expected.
    """
    for place, request in json_values(path, OTLP_JSON):
        yield from spans_of(request, place)


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
        raise InputError(f"{place}: {OTLP_JSON}, not {_described(request)}")
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
