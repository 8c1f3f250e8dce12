"""Two collectors behind a router by trace id, one of which is killed under load, and what became of the spans."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel_collectors.otlp.requests.span_records import attributes_from
from testkit.collector import SCORE, Backend, CollectorProcess, a_backend, a_collector
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually
from testkit.trace_router import TraceRouter

APART_S = 0.5
"""Between the two halves of a trace."""
PAUSE_S = 0.03
"""Between two traces."""
PART_S = 1.5
"""Of a round, between two events."""
NOTICED_S = 1.0
"""Until the list of endpoints lacks the collector that died."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of the acknowledged spans."""

    spans: int
    lost: int
    answers: int
    doubled_scores: int
    """Answers that arrived with two different scores."""
    without_status: int
    """Traces none of whose spans has a status."""
    without_score: int
    """Answers whose chunks another collector had: the trace was in the middle when the list of endpoints changed."""
    again: int
    """Spans that arrived once more, with the same id."""


@contextlib.contextmanager
def load(router: TraceRouter, *, whole: bool) -> Iterator[None]:
    """Traces until the block ends: each as a whole, or the child first and the root later."""
    ended = threading.Event()

    def send() -> None:
        roots: deque[tuple[float, Span]] = deque()
        while roots or not ended.is_set():
            if not ended.is_set():
                child, root = a_rag_trace()
                router.export(a_request(child, root) if whole else a_request(child))
                if not whole:
                    roots.append((time.monotonic() + APART_S, root))
            while roots and roots[0][0] <= time.monotonic():
                router.export(a_request(roots.popleft()[1]))
            time.sleep(PAUSE_S)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def a_round(router: TraceRouter, collectors: list[CollectorProcess], victim: int, *, whole: bool) -> None:
    """A death under load, and a return."""
    with load(router, whole=whole):
        time.sleep(PART_S)
        collectors[victim].kill()
        time.sleep(NOTICED_S)
        router.replace([each.grpc_address for number, each in enumerate(collectors) if number != victim])
        time.sleep(PART_S)
        collectors[victim].start()
        router.replace([each.grpc_address for each in collectors])
        time.sleep(PART_S)


def outcome(router: TraceRouter, backend: Backend) -> Outcome:
    requests = map(ExportTraceServiceRequest.FromString, list(router.acknowledged))
    wanted = {span.span_id for r in requests for e in r.resource_spans for s in e.scope_spans for span in s.spans}
    scores: dict[bytes, set[object]] = {}
    with_status: set[bytes] = set()
    for span in backend.spans():
        attributes = attributes_from(span.attributes)
        if semconv.STATUS in attributes:
            with_status.add(span.trace_id)
        if span.name == "answer":
            scores.setdefault(span.span_id, set()).add(attributes.get(SCORE))
    traces = {span.trace_id for span in backend.spans()}
    arrived = Counter(backend.ids())
    return Outcome(
        spans=len(wanted),
        lost=len(wanted - set(arrived)),
        answers=len(scores),
        doubled_scores=sum(len(each - {None}) > 1 for each in scores.values()),
        without_status=len(traces - with_status),
        without_score=sum(each == {None} for each in scores.values()),
        again=sum(times - 1 for times in arrived.values()),
    )


def kill_rounds(rounds: int, *, whole: bool) -> Outcome:
    """Kills both collectors by turns. `whole`: each trace is one request, as `groupbytrace` makes it."""
    with tempfile.TemporaryDirectory() as folder, a_backend() as backend, ExitStack() as running:
        made = [a_collector(Path(folder) / str(number), "--backend", backend.address) for number in range(2)]
        collectors = [running.enter_context(each) for each in made]
        router = TraceRouter([each.grpc_address for each in collectors])
        for number in range(rounds):
            a_round(router, collectors, number % 2, whole=whole)
            eventually(lambda: router.idle, within_s=120)
            eventually(lambda: outcome(router, backend).lost == 0, within_s=120)
            print(f"round {number + 1} done", flush=True)
        router.close()
        return outcome(router, backend)
