"""What the parts of `collector_resilience.py` share: requests all different, a load with events, the report."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from _collect_load import Running, Sent, load
from _collect_traces import Traces
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel import semconv
from rag_otel.cli.terminal import table

RATE = 40.0
"""Requests a second under load."""
TRACES = 2
"""Traces in each of them."""


def ids(requests: list[bytes]) -> set[bytes]:
    messages = map(ExportTraceServiceRequest.FromString, requests)
    return {s.span_id for m in messages for r in m.resource_spans for c in r.scope_spans for s in c.spans}


def small(project: str | None = None) -> Iterator[bytes]:
    """Requests of a few traces, all different."""
    traces = Traces(int.from_bytes(os.urandom(4), "big"))
    while True:
        request = traces.request(TRACES)
        if project is not None:
            extra = ExportTraceServiceRequest.FromString(request)
            extra.resource_spans[0].resource.attributes.add(key=semconv.PROJECT_NAME).value.string_value = project
            request = extra.SerializeToString()
        yield request


def wait(condition: Callable[[], bool], within_s: float = 180.0, every_s: float = 0.2) -> bool:
    deadline = time.monotonic() + within_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(every_s)
    return condition()


def report(name: str, sent: Sent, seen: dict[bytes, int], *more: tuple[str, str]) -> None:
    """Prints what became of what was acknowledged."""
    wanted = ids(sent.accepted)
    missing = len(wanted - seen.keys())
    rows = [
        ("requests acknowledged", f"{sent.requests:,}"),
        ("refused, with a delay", f"{sent.refused:,}, {sent.retry_delays:,}"),
        ("not answered", f"{sent.failed:,}"),
        ("spans acknowledged", f"{len(wanted):,}"),
        ("of them missing", f"{missing:,}"),
        ("delivered more than once", f"{sum(seen.get(each, 0) > 1 for each in wanted):,}"),
        *more,
    ]
    print(f"\n{name}\n{table(rows)}", flush=True)


async def during(running: Running, seconds: float, *events: tuple[float, Callable[[], Any]], **options: Any) -> Sent:
    """A load, and what happens in the middle of it: (after so many seconds, what)."""
    options = {"per_second": RATE, **options}
    requests = options.pop("requests", None) or small()
    task = asyncio.create_task(load(running.grpc_port, requests, seconds=seconds, keep=True, **options))
    started = time.monotonic()
    for after, event in events:
        await asyncio.sleep(max(0.0, started + after - time.monotonic()))
        await asyncio.to_thread(event)
    return await task
