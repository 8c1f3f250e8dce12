"""Reads OTLP/JSON files and writes them again with more attributes on some spans. Everything else stays as it was.

Objects are edited as parsed JSON, so that unknown fields are kept. The output has one object a line.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rag_otel.model import AttributeValue
from rag_otel_collectors.stored.otlp_files import read_requests, spans_of

Change = Callable[[str, str], Mapping[str, AttributeValue] | None]
"""(trace id, span id), lower-case hex -> the attributes to set on that span, None for a span that stays as it is."""


def write_enriched(files: Sequence[str], output: Path, change: Change, *, replaced: tuple[str, ...] = ()) -> int:
    """Copy the objects of `files`, one after another, to `output`; returns how many spans were changed.

    A changed span loses what it has under the prefixes `replaced`, and keeps its other attributes in their order. The
    output appears whole or not at all, so it may be one of the inputs; `.gz` at its end compresses it. Raises
    InputError for what cannot be read and OSError for what cannot be written.
    """
    unfinished = output.with_name(f".{output.name}.unfinished")
    changed = 0
    try:
        with _create(unfinished, compressed=output.suffix == ".gz") as out:
            for file in files:
                for place, request in read_requests(file):
                    for _ in spans_of(request, place):  # says what is wrong with it, and where
                        pass
                    changed += enrich(request, change, replaced=replaced)
                    out.write(json.dumps(request, ensure_ascii=False, separators=(",", ":")) + "\n")
        os.replace(unfinished, output)
    finally:
        unfinished.unlink(missing_ok=True)
    return changed


def enrich(request: Mapping[str, Any], change: Change, *, replaced: tuple[str, ...] = ()) -> int:
    """Set attributes in one parsed export request, in place; returns how many spans were changed."""
    changed = 0
    for resource_spans in request.get("resourceSpans") or ():
        for scope_spans in resource_spans.get("scopeSpans") or ():
            for span in scope_spans.get("spans") or ():
                added = change(span["traceId"].lower(), span["spanId"].lower())
                if added is not None:
                    span["attributes"] = _changed(span.get("attributes") or [], added, replaced)
                    changed += 1
    return changed


def _changed(
    pairs: Sequence[Mapping[str, Any]], added: Mapping[str, AttributeValue], replaced: tuple[str, ...]
) -> list[Mapping[str, Any]]:
    kept = [pair for pair in pairs if pair.get("key") not in added and not str(pair.get("key")).startswith(replaced)]
    return [*kept, *({"key": key, "value": any_value(value)} for key, value in added.items())]


def any_value(value: AttributeValue) -> dict[str, Any]:
    """An attribute's value as an OTLP/JSON `AnyValue`: integers as strings, as the encoding wants them."""
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"arrayValue": {"values": [any_value(item) for item in value]}}


@contextlib.contextmanager
def _create(path: Path, *, compressed: bool) -> Iterator[TextIO]:
    if compressed:
        with gzip.open(path, "wt", encoding="utf-8") as packed:
            yield packed
    else:
        with path.open("w", encoding="utf-8") as plain:
            yield plain
