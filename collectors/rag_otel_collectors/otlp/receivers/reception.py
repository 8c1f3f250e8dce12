"""What both servers are given: where requests go, who may send them, and how large they may be."""

from __future__ import annotations

from dataclasses import dataclass

from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.receivers.api_keys import ApiKeys
from rag_otel_collectors.otlp.receivers.intake import Intake
from rag_otel_collectors.otlp.receivers.tls import ServerTls


@dataclass(frozen=True, kw_only=True)
class Reception:
    """The same for gRPC and for HTTP."""

    intake: Intake
    metrics: Metrics
    keys: ApiKeys
    tls: ServerTls | None = None
    max_request_bytes: int = 16 * 2**20

    def count(self, transport: str, outcome: str) -> None:
        """Count a request by what became of it."""
        self.metrics.add(names.REQUESTS, transport=transport, outcome=outcome)

    def count_closed(self, transport: str, reason: str) -> None:
        """Count a connection that was closed to make room for others."""
        self.metrics.add(names.CLOSED, transport=transport, reason=reason)
