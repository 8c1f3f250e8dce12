"""Several collectors behind a router by trace id: what the death of one loses, doubles or leaves incomplete.

    python -m benchmarks.several_collectors [--rounds 20]

Two collectors, one backend that records what it gets, and a router that does what the OpenTelemetry Collector's
load-balancing exporter does. Every trace comes as two requests, half a second apart. In each round one of the
collectors is killed with -9 under load; the router's list of endpoints changes a second later, and once more when the
collector is there again with its folder.
"""

from __future__ import annotations

import argparse
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
from rag_otel_collectors.otlp.protobuf.span_records import attributes_from
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.trace_router import TraceRouter
from tests.collectors.otlp.kit import SCORE, Backend, CollectorProcess, a_backend, a_collector
from tests.support.polling import eventually

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
    without_score: int
    """Answers whose chunks another collector had: the trace was in the middle when the list of endpoints changed."""
    again: int
    """Spans that arrived once more, with the same id."""


@contextlib.contextmanager
def load(router: TraceRouter) -> Iterator[None]:
    """Traces, the child of each first and the root later, until the block ends."""
    ended = threading.Event()

    def send() -> None:
        roots: deque[tuple[float, Span]] = deque()
        while roots or not ended.is_set():
            if not ended.is_set():
                child, root = a_rag_trace()
                router.export(a_request(child))
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


def a_round(router: TraceRouter, collectors: list[CollectorProcess], victim: int) -> None:
    """A death under load, and a return."""
    with load(router):
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
    statuses: dict[bytes, bool] = {}
    for span in backend.spans():
        if span.name == "answer":
            attributes = attributes_from(span.attributes)
            scores.setdefault(span.span_id, set()).add(attributes.get(SCORE))
            statuses[span.span_id] = statuses.get(span.span_id, False) or semconv.STATUS in attributes
    arrived = Counter(backend.ids())
    return Outcome(
        spans=len(wanted),
        lost=len(wanted - set(arrived)),
        answers=len(scores),
        doubled_scores=sum(len(each - {None}) > 1 for each in scores.values()),
        without_status=sum(not each for each in statuses.values()),
        without_score=sum(each == {None} for each in scores.values()),
        again=sum(times - 1 for times in arrived.values()),
    )


def run(rounds: int) -> Outcome:
    """Both collectors by turns."""
    with tempfile.TemporaryDirectory() as folder, a_backend() as backend, ExitStack() as running:
        made = [a_collector(Path(folder) / str(number), "--backend", backend.address) for number in range(2)]
        collectors = [running.enter_context(each) for each in made]
        router = TraceRouter([each.grpc_address for each in collectors])
        for number in range(rounds):
            a_round(router, collectors, number % 2)
            eventually(lambda: router.idle, within_s=120)
            eventually(lambda: outcome(router, backend).lost == 0, within_s=120)
            print(f"round {number + 1} done", flush=True)
        router.close()
        return outcome(router, backend)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    print(run(parser.parse_args().rounds))


if __name__ == "__main__":
    main()
