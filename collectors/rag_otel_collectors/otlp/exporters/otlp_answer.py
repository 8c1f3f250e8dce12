"""What a backend's answer to an OTLP export means for the spans: taken, refused for good, or some of them rejected.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response and #otlpgrpc-response. Imports protobuf.
"""

from __future__ import annotations

from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

HTTP_REFUSALS: Final = frozenset({400, 413, 415, 422})
"""Sending the same again is no use. Every other failure may pass, also a wrong key or address."""
GRPC_REFUSALS: Final = frozenset({"INVALID_ARGUMENT", "FAILED_PRECONDITION"})
TOO_LARGE: Final = "larger than max"
"""What gRPC servers say of a message above their limit, under a status that also stands for overload."""
_EXCERPT: Final = 200


def rejected_spans(answer: bytes) -> tuple[int, str]:
    """How many spans a successful answer rejects all the same, and why."""
    try:
        partial = ExportTraceServiceResponse.FromString(answer).partial_success
    except DecodeError:  # Phoenix and others answer with nothing, or with JSON
        return 0, ""
    return int(partial.rejected_spans), " ".join(partial.error_message.split())[:_EXCERPT]


def http_failure(status: int, answer: bytes) -> str:
    """A failed answer in one line."""
    return f"HTTP {status}: {' '.join(answer[:_EXCERPT].decode('utf-8', 'replace').split())}"


def grpc_refusal(code: str, details: str | None) -> bool:
    """True where a gRPC status says that sending the same again is no use."""
    too_large = code == "RESOURCE_EXHAUSTED" and TOO_LARGE in (details or "").lower()
    return code in GRPC_REFUSALS or too_large
