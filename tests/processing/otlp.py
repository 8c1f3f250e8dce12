"""What a real OTLP/HTTP exporter sent to the receiver on loopback."""

from __future__ import annotations

import gzip
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from testkit.http_receiver import Receiver


def received(receiver: Receiver) -> list[tuple[str, dict[str, Any]]]:
    """(name, attributes) of every span in the order of arrival; `pid` is that of the process that sent it."""
    spans: list[tuple[str, dict[str, Any]]] = []
    for request in list(receiver.requests):
        body = gzip.decompress(request.body) if request.body[:2] == b"\x1f\x8b" else request.body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            shared = {item.key: _value(item.value) for item in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    attributes = {item.key: _value(item.value) for item in span.attributes}
                    spans.append((span.name, {**shared, **attributes}))
    return spans


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))
