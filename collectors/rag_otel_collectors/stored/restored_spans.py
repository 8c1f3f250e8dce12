"""Restores the spans that were sent from those that Phoenix gives out.

Phoenix changes spans when it stores them. It returns dotted keys as flat keys. It parses some JSON texts (`metadata` of
spans and documents) and returns their fields as separate keys. It returns the kind of a span outside of its attributes.
It does not keep the instrumentation scope, the resource and the count of dropped attributes. The dialects recognise a
few frameworks by their scope, so the scope is inferred from attributes that only these frameworks write.
Observed with arize-phoenix 20.26 (`phoenix/trace/attributes.py`, `GET /v1/projects/{project}/spans`).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from rag_otel import semconv
from rag_otel.errors import InputError
from rag_otel.model import SpanRecord, StatusCode
from rag_otel_collectors.otlp.requests.json_request import span_from
from rag_otel_collectors.otlp.requests.span_records import record_of

_UNKNOWN_KIND: Final = "UNKNOWN"
"""The kind that Phoenix gives to a span without a kind."""
_PARSED: Final = re.compile(
    r"(?P<key>(?:.+\.)?(?:metadata|llm\.prompt_template\.variables|tool\.parameters))\.(?P<path>.+)"
)
"""Keys below an attribute whose JSON Phoenix has parsed. `key` is as long as possible."""
_UNDERSCORE: Final = re.compile(r"_([a-z])")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_STATUS: Final = {"OK": StatusCode.OK, "ERROR": StatusCode.ERROR}
_OURS: Final = (semconv.INCOMPLETE, semconv.OMITTED_DOCUMENTS)
_OUR_PREFIXES: Final = (f"{semconv.DOCUMENTS}.0.", semconv.TAG_PREFIX)
"""On a CHAIN span these identify `@observe`, because instrumentations write documents only on RETRIEVER spans."""
_SCOPE_BY_ENDING: Final = (
    ("postprocess_nodes", "openinference.instrumentation.llama_index"),
    (".forward", "openinference.instrumentation.dspy"),
    (".run", "openinference.instrumentation.haystack"),
)
"""Endings of span names of the frameworks that the dialects recognise by scope."""
_OPENLIT: Final = "openlit"
_OPENLIT_MARK: Final = "gen_ai.sdk.version"
_TRACELOOP_LLAMA_INDEX: Final = "opentelemetry.instrumentation.llamaindex"
_GEN_AI: Final = "gen_ai."
_SYNTHESIZED: Final = (semconv.SPAN_KIND, "input.", "output.", "llm.", "retrieval.", "embedding.", "tool.")
"""OpenInference attributes that Phoenix adds to spans of the GenAI conventions. They are removed, because with them two
dialects would own the span."""


def stored_span(row: Mapping[str, Any]) -> SpanRecord:
    """Converts one row of `GET /v1/projects/{project}/spans` to the span that was sent. Its resource is empty."""
    kind = {} if row["span_kind"] == _UNKNOWN_KIND else {semconv.SPAN_KIND: row["span_kind"]}
    attributes = _without_synthesized(nested(row["attributes"]) | kind)
    return SpanRecord(
        trace_id=row["context"]["trace_id"],
        span_id=row["context"]["span_id"],
        parent_id=row["parent_id"] or None,
        name=row["name"],
        attributes=attributes,
        scope=inferred_scope(row["name"], attributes),
        status=_STATUS.get(row["status_code"], StatusCode.UNSET),
        start_ns=_nanoseconds(row["start_time"]),
        end_ns=_nanoseconds(row["end_time"]),
        events=tuple((event["name"], event["attributes"]) for event in row["events"]),
    )


def exported_span(row: Mapping[str, Any]) -> SpanRecord:
    """One span of Phoenix's own export (`GET /v1/projects/{project}/spans/otlpv1`: OTLP/JSON with `trace_id` in place
    of `traceId`), or a row of `GET .../spans`. Raises InputError."""
    if isinstance(row.get("context"), Mapping):
        try:
            return stored_span(row)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"span {row.get('name')!r}: {type(error).__name__}: {error}") from None
    record = record_of(span_from(_camel_case(row)), {}, "")
    attributes = _without_synthesized(nested(record.attributes))
    return dataclasses.replace(record, attributes=attributes, scope=inferred_scope(record.name, attributes))


def _camel_case(value: Any) -> Any:
    """Structure with the names of OTLP/JSON; names of attributes are values here and stay."""
    if isinstance(value, Mapping):
        return {_UNDERSCORE.sub(lambda match: match[1].upper(), key): _camel_case(each) for key, each in value.items()}
    return [_camel_case(each) for each in value] if isinstance(value, list) else value


def nested(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Restores attributes whose JSON Phoenix has parsed: `metadata.a.b` becomes `{"a": {"b": ...}}` in `metadata`."""
    flat: dict[str, Any] = {}
    parsed: dict[str, dict[str, Any]] = {}
    for key, value in attributes.items():
        found = _PARSED.fullmatch(key)
        if found is None:
            flat[key] = value
        else:
            level = parsed.setdefault(found["key"], {})
            *path, leaf = found["path"].split(".")
            for name in path:
                inner = level.setdefault(name, {})
                level = inner if isinstance(inner, dict) else level
            level[leaf] = value
    return flat | {key: value for key, value in parsed.items() if key not in flat}


def inferred_scope(name: str, attributes: Mapping[str, Any]) -> str:
    """Infers the instrumentation scope of a stored span if the dialects need it. Empty for all other spans."""
    if _OPENLIT_MARK in attributes:
        return _OPENLIT
    if semconv.TRACELOOP_KIND in attributes:
        in_langchain = semconv.TRACELOOP_WORKFLOW in attributes
        return _TRACELOOP_LLAMA_INDEX if name.endswith(".task") and not in_langchain else ""
    if attributes.get(semconv.SPAN_KIND) != semconv.KIND_CHAIN:
        return ""
    if any(key in attributes for key in _OURS) or any(key.startswith(_OUR_PREFIXES) for key in attributes):
        return semconv.SCOPE
    return next((scope for ending, scope in _SCOPE_BY_ENDING if name.endswith(ending)), "")


def _without_synthesized(attributes: dict[str, Any]) -> dict[str, Any]:
    """Removes the attributes that Phoenix derives from `gen_ai.*` attributes."""
    if not any(key.startswith(_GEN_AI) for key in attributes):
        return attributes
    return {key: value for key, value in attributes.items() if not key.startswith(_SYNTHESIZED)}


def _nanoseconds(text: str) -> int:
    """Converts an ISO 8601 time with microseconds to integer nanoseconds since the epoch."""
    since_epoch = datetime.fromisoformat(text) - _EPOCH
    return (since_epoch.days * 86_400 + since_epoch.seconds) * 10**9 + since_epoch.microseconds * 1_000
