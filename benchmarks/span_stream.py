"""The span stream over Kafka: what kills of collectors lose or double.

    python -m benchmarks.span_stream [--rounds 20] [--part kills|group]

`kills`: one collector under a lasting name is killed with -9 in the middle of each round and started again with its
folder. `group`: two collectors of one group; in each round one of them is killed and started again, so that its
partitions move. Every trace is two messages, and all are evaluated. The broker is librdkafka's mock cluster, and the
backend records what it gets. A score is doubled if one answer arrives with two different scores.
"""

from __future__ import annotations

import argparse
import random
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel_collectors.otlp.requests.span_records import attributes_from
from testkit.collector import SCORE, Backend, CollectorProcess, a_backend, a_collector
from testkit.kafka import Kafka
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually

TRACES = 60
"""In a round."""
PAUSE_S = 0.02
"""Between two of them."""


def stream(kafka: Kafka, topic: str, collectors: Sequence[CollectorProcess], number: int) -> list[list[Span]]:
    """One round: its traces; one of the collectors is killed somewhere in the middle, and started again at the end."""
    victim = collectors[number % len(collectors)]
    moment = random.Random(number).randrange(TRACES // 4, 3 * TRACES // 4)
    traces = [a_rag_trace() for _ in range(TRACES)]
    for each, trace in enumerate(traces):
        kafka.export(topic, *(a_request(span) for span in trace))
        if each == moment:
            victim.kill()
            if len(collectors) == 1:
                victim.start()
        time.sleep(PAUSE_S)
    if len(collectors) > 1:
        victim.start()
    return traces


def rounds(kafka: Kafka, count: int, members: int) -> None:
    topic = f"spans-{secrets.token_hex(4)}"
    given = [f"kafka_brokers={kafka.brokers}", f"kafka_topic={topic}", f"kafka_group={topic}"]
    given.append("kafka_properties=session.timeout.ms=6000")
    traces: list[list[Span]] = []
    with tempfile.TemporaryDirectory() as folder, a_backend() as backend, ExitStack() as running:
        collectors = []
        for member in range(members):
            name = [f"kafka_member={member}"] if members == 1 else []
            arguments = [argument for each in (*given, *name) for argument in ("--set", each)]
            collector = a_collector(Path(folder) / str(member), "--backend", backend.address, *arguments)
            collectors.append(running.enter_context(collector))
        for number in range(count):
            traces += stream(kafka, topic, collectors, number)
            wanted = {span.span_id for trace in traces for span in trace}
            eventually(lambda want=wanted: want <= set(backend.ids()), within_s=180)  # type: ignore[misc]
            eventually(lambda: kafka.committed(topic, topic) == kafka.end(topic), within_s=180)
            print(f"{members} collectors: round {number + 1} done", flush=True)
        report(f"kill -9 of one of {members}, {count} rounds", traces, backend)


def report(what: str, traces: Sequence[Sequence[Span]], backend: Backend) -> None:
    wanted = {span.span_id for trace in traces for span in trace}
    arrived = Counter(backend.ids())
    scores: dict[bytes, set[object]] = {}
    with_status: set[bytes] = set()
    for span in backend.spans():
        if span.name == "answer":
            attributes = attributes_from(span.attributes)
            scores.setdefault(span.span_id, set()).add(attributes.get(SCORE))
            with_status |= {span.span_id} if semconv.STATUS in attributes else set()
    print(
        f"{what}: {len(traces)} traces, {len(wanted)} spans, lost {len(wanted - set(arrived))}, "
        f"doubled scores {sum(len(each - {None}) > 1 for each in scores.values())}, "
        f"answers without a status {len(traces) - len(with_status)}, "
        f"without a score {sum(each == {None} for each in scores.values())}, "
        f"spans that came again with the same id {sum(times - 1 for times in arrived.values())}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--part", choices=("kills", "group"))
    options = parser.parse_args()
    kafka = Kafka()
    if options.part in (None, "kills"):
        rounds(kafka, options.rounds, 1)
    if options.part in (None, "group"):
        rounds(kafka, options.rounds, 2)


if __name__ == "__main__":
    main()
