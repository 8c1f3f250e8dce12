"""A router like the OpenTelemetry Collector's load-balancing exporter: by trace id, over several OTLP/gRPC endpoints.

A consistent hash ring as that exporter has it (CRC-32, 100 points for each endpoint on 36,000 positions). What is not
acknowledged is sent again, to the endpoint that the ring names then.
"""

from __future__ import annotations

import bisect
import queue
import threading
import time
import zlib
from collections.abc import Sequence
from typing import Final

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel_collectors.otlp.requests.wire import by_trace

METHOD: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_POINTS: Final = 100
_POSITIONS: Final = 36_000
_PAUSE_S: Final = 0.1


class Ring:
    """Trace id -> endpoint. Another endpoint moves only its share of the traces."""

    def __init__(self, endpoints: Sequence[str]) -> None:
        points: dict[int, str] = {}
        for endpoint in endpoints:
            for number in range(_POINTS):
                points.setdefault(zlib.crc32(endpoint.encode() + bytes([number])) % _POSITIONS, endpoint)
        self._positions = sorted(points)
        self._endpoints = [points[position] for position in self._positions]

    def endpoint(self, trace_id: bytes) -> str:
        at = bisect.bisect_left(self._positions, zlib.crc32(trace_id) % _POSITIONS)
        return self._endpoints[at % len(self._endpoints)]


class TraceRouter:
    """Sends on one thread, in order, a request for each trace. Close it to stop."""

    def __init__(self, endpoints: Sequence[str]) -> None:
        """`endpoints`: host:port."""
        self.acknowledged: list[bytes] = []
        """The requests that an endpoint has taken."""
        self.sent_again = 0
        self._endpoints = list(endpoints)
        self._ring = Ring(endpoints)
        self._channels: dict[str, grpc.Channel] = {}
        self._waiting: queue.SimpleQueue[tuple[bytes, bytes] | None] = queue.SimpleQueue()
        self._pending = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def replace(self, endpoints: Sequence[str]) -> None:
        """The list of endpoints is another one now, as the resolver finds it."""
        self._endpoints, self._ring = list(endpoints), Ring(endpoints)

    def export(self, request: ExportTraceServiceRequest) -> None:
        for trace_id, part in by_trace(request.SerializeToString()).items():
            self._pending += 1
            self._waiting.put((trace_id, part))

    @property
    def idle(self) -> bool:
        """True when everything is acknowledged."""
        return len(self.acknowledged) == self._pending

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join(30)
        for channel in self._channels.values():
            channel.close()

    def _run(self) -> None:
        while (item := self._waiting.get()) is not None:
            try:
                self._send(self._ring.endpoint(item[0]), item[1])
            except grpc.RpcError:
                self.sent_again += 1
                self._waiting.put(item)
                time.sleep(_PAUSE_S)
            else:
                self.acknowledged.append(item[1])

    def _send(self, endpoint: str, request: bytes) -> None:
        channel = self._channels.get(endpoint)
        if channel is None:
            channel = self._channels[endpoint] = grpc.insecure_channel(endpoint)
        channel.unary_unary(METHOD)(request, timeout=5)
