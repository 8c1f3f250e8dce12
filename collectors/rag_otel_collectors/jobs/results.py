"""Delivers the results of a job before the job is acknowledged: evaluation spans over OTLP, annotations to Phoenix.

The writers are those of the application and of the collector. Here they are called directly, without a queue between:
whether the destination has taken the result decides what becomes of the job.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.errors import PermanentError
from rag_otel.model import EvaluatedTrace
from rag_otel.processing.sdk_spans import SpanOrigin
from rag_otel.protocols import Writer
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel_collectors.jobs.job import EvaluationJob
from rag_otel_collectors.otlp.exporters.connection import Connection


class ResultWriter:
    """Writes results to backends and through writers. Belongs to one event loop."""

    def __init__(
        self,
        connections: Sequence[Connection],
        make_writers: Callable[[Callable[[ReadableSpan], None]], Sequence[Writer]],
    ) -> None:
        """`make_writers` gets a function that exports a span."""
        self._connections = connections
        self._writers = make_writers(_no_origin)

    async def write(self, job: EvaluationJob, result: EvaluatedTrace) -> None:
        """Returns when every destination has taken the result. Raises RetryableError or PermanentError.

        After an error all destinations get the result again. The ids are the same, so it is stored once.
        """
        spans: list[ReadableSpan] = []
        resource = Resource({key: _plain(value) for key, value in job.resource.items()})
        whole = dataclasses.replace(result, origin=SpanOrigin(emit=spans.append, resource=resource))
        await asyncio.to_thread(self._call_writers, whole)
        if spans:
            request = encode_spans(spans).SerializeToString()
            await asyncio.gather(*(_send(connection, request) for connection in self._connections))

    async def close(self) -> None:
        """Closes the connections. Safe to call twice."""
        for connection in self._connections:
            await connection.close()

    def _call_writers(self, result: EvaluatedTrace) -> None:
        with suppressed():
            for writer in self._writers:
                writer.write([result])


async def _send(connection: Connection, request: bytes) -> None:
    rejected = await connection.send(request)
    if rejected.spans:
        raise PermanentError(f"the backend rejected the evaluation span: {rejected.reason or 'no reason given'}")


def _plain(value: Any) -> Any:
    """JSON has no tuples, and attributes no lists."""
    return tuple(value) if isinstance(value, list) else value


def _no_origin(span: object) -> None:
    """Never called: every result of a job has an origin."""
    raise AssertionError("a result without an origin")
