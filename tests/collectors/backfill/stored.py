"""Traces for backfill tests: as OTLP/JSON requests, and sent to a real Phoenix."""

from __future__ import annotations

import base64
import copy
import json
import secrets
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel import semconv
from testkit.polling import eventually
from tests.collectors.conventions.otlp_json import a_json_span, a_request, text_attributes
from tests.support.phoenix_server import PhoenixApi

START_NS = 1_767_225_600 * 10**9
"""2026-01-01, when the first of the traces starts; the others follow in steps of a minute."""


def a_trace(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A request with an observed call that has an answer and one document."""
    start = START_NS + number * 60 * 10**9
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 10**9)}
    span = a_json_span(secrets.token_hex(16), secrets.token_hex(8), **{**times, **changes})
    span["attributes"] += text_attributes({semconv.SPAN_KIND: semconv.KIND_CHAIN})
    return a_request(span)


def written(path: Path, *requests: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(request) + "\n" for request in requests))
    return path


def spans_in(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        span
        for resource_spans in request["resourceSpans"]
        for scope_spans in resource_spans["scopeSpans"]
        for span in scope_spans["spans"]
    ]


def with_fresh_ids(request: Mapping[str, Any]) -> dict[str, Any]:
    """The same spans with unused ids, because Phoenix ignores a second span with the same id."""
    renewed = copy.deepcopy(dict(request))
    mark = secrets.token_hex(3)
    for span in spans_in(renewed):
        for key in ("traceId", "spanId", "parentSpanId"):
            if span.get(key):
                span[key] = mark + span[key][len(mark) :]
    return renewed


def send(api: PhoenixApi, project: str, *requests: Mapping[str, Any]) -> None:
    """Sends requests to a Phoenix project and waits until it shows all their spans."""
    before = len(api.spans(project))
    for request in requests:
        message = json_format.ParseDict(
            _protobuf_json(request), ExportTraceServiceRequest(), ignore_unknown_fields=True
        )
        for resource_spans in message.resource_spans:
            attribute = resource_spans.resource.attributes.add()
            attribute.key, attribute.value.string_value = semconv.PROJECT_NAME, project
        post = urllib.request.Request(
            f"{api.base_url}/v1/traces",
            data=message.SerializeToString(),
            headers={"Content-Type": "application/x-protobuf"},
        )
        with urllib.request.urlopen(post, timeout=30) as answer:
            assert answer.status == 200
    sent = sum(len(spans_in(request)) for request in requests)
    eventually(lambda: len(api.spans(project)) == before + sent, within_s=120)


def _protobuf_json(value: Any) -> Any:
    """Converts hex ids in OTLP/JSON to base64, which protobuf's JSON uses."""
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode()
            if key in ("traceId", "spanId", "parentSpanId")
            else _protobuf_json(inner)
            for key, inner in value.items()
        }
    return [_protobuf_json(item) for item in value] if isinstance(value, list) else value
