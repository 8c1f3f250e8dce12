"""Writes a copy of OTLP/JSON files with added attributes on some spans. Everything else stays unchanged.

The parsed JSON objects are edited, so unknown fields are kept. The output has one object per line.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rag_otel.formats.rows import json_values
from rag_otel.model import AttributeValue
from rag_otel_collectors.stored.otlp_files import OTLP_JSON, spans_of

Change = Callable[[str, str], Mapping[str, AttributeValue] | None]
"""(trace id, span id) in lower-case hex -> the attributes to set on that span. None: the span stays unchanged."""


def write_enriched(files: Sequence[str], output: Path, change: Change, *, replaced: tuple[str, ...] = ()) -> int:
    """Copies the objects of `files`, one file after another, to `output`. Returns the number of changed spans.

    A changed span loses its attributes with the prefixes `replaced` and keeps the others in their order. The output is
    renamed into place when it is complete, so it may be one of the inputs. A name that ends in `.gz` is compressed.
    Raises InputError if an input cannot be read, and OSError if the output cannot be written.
    """
    unfinished = output.with_name(f".{output.name}.unfinished")
    changed = 0
    try:
        with _create(unfinished, compressed=output.suffix == ".gz") as out:
            for file in files:
                for place, request in json_values(file, OTLP_JSON):
                    for _ in spans_of(request, place):  # validates the request
                        pass
                    changed += enrich(request, change, replaced=replaced)
                    out.write(json.dumps(request, ensure_ascii=False, separators=(",", ":")) + "\n")
        os.replace(unfinished, output)
    finally:
        unfinished.unlink(missing_ok=True)
    return changed


def enrich(request: Mapping[str, Any], change: Change, *, replaced: tuple[str, ...] = ()) -> int:
    """Sets attributes in one parsed export request, in place. Returns the number of changed spans."""
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
    """Converts an attribute's value to an OTLP/JSON `AnyValue`. The encoding requires integers as strings."""
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
