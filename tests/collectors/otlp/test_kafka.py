"""The span stream: the collector reads export requests from Kafka and writes to a backend and to a topic."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel.cli.doctor_checks import CheckFailed, kafka_has_the_topic
from rag_otel.cli.main import main
from rag_otel.durable.dead_letters import FOLDER, DeadLetters
from rag_otel_collectors.otlp.requests.span_records import attributes_from
from testkit.collector import SCORE, Backend, CollectorProcess, a_backend, a_collector
from testkit.kafka import FreezingKafka, Kafka
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from testkit.polling import eventually

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def kafka() -> Kafka:
    return Kafka()


@pytest.fixture
def topic() -> str:
    return f"spans-{uuid.uuid4().hex}"


def source(kafka: Kafka, topic: str, *more: str) -> tuple[str, ...]:
    """Arguments of a collector that reads a topic with a group of its own. A dead consumer is noticed after six
    seconds."""
    given = (
        f"kafka_brokers={kafka.brokers}",
        f"kafka_topic={topic}",
        f"kafka_group={topic}",
        "kafka_properties=session.timeout.ms=6000",
    )
    return tuple(argument for each in (*given, *more) for argument in ("--set", each))


def scores(backend: Backend) -> dict[bytes, list[object]]:
    """Span id of an answer -> the score of each delivery."""
    found: dict[bytes, list[object]] = {}
    for span in backend.spans():
        if span.name == "answer":
            found.setdefault(span.span_id, []).append(attributes_from(span.attributes).get(SCORE))
    return found


def reads(collector: CollectorProcess, partitions: int) -> bool:
    return collector.metric("kafka_partitions") == partitions


def test_messages_are_evaluated_forwarded_and_committed(
    kafka: Kafka, topic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whole traces, a trace in two messages, and messages that are no requests, which do not stop their partition."""
    enriched = f"{topic}-enriched"
    traces = [a_rag_trace() for _ in range(8)]
    child, root = a_rag_trace()
    malformed = a_span(b"\x21" * 16, span_id=b"short")
    for partition in range(4):
        kafka.send(topic, b"\xffnot protobuf", partition=partition)
        kafka.send(topic, bytes(300_000), partition=partition)
        kafka.send(topic, None, partition=partition)
    kafka.export(topic, *(a_request(*trace) for trace in traces), a_request(child), a_request(malformed))
    kafka.export(topic, a_request(root))
    wanted = {span.span_id for trace in [*traces, [child, root]] for span in trace}
    with a_backend() as backend:
        settings = source(kafka, topic, "max_request_bytes=200000")
        arguments = ("--backend", backend.address, "--backend", f"kafka://{enriched}", *settings)
        with a_collector(tmp_path, *arguments) as collector:
            eventually(lambda: set(backend.ids()) == wanted, within_s=120)
            eventually(lambda: len(scores(backend)) == 9)
            assert collector.metric("requests_total", transport="kafka", outcome="dead_letter") == 9
            assert collector.metric("requests_total", transport="kafka", outcome="empty") == 4
            assert collector.stop() == 0
    assert all(values == [1.0] for values in scores(backend).values())
    assert kafka.committed(topic, topic) == kafka.end(topic)
    written = kafka.messages(enriched)
    assert len(written) == 9  # a message for each trace
    for key, value in written:
        request = ExportTraceServiceRequest.FromString(value)
        spans = [each for r in request.resource_spans for s in r.scope_spans for each in s.spans]
        assert {span.trace_id.hex().encode() for span in spans} == {key}
        assert any(SCORE in attributes_from(span.attributes) for span in spans)
    letters = list(DeadLetters(tmp_path / FOLDER).all())
    assert sorted(letter.rejected for letter in letters) == [0] * 8 + [1]
    assert main(["dead-letters", "list", "--folder", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert f"{topic}, partition 3, offset 0: not an OTLP export request in protobuf" in listed
    assert "larger than max_request_bytes (200000)" in listed


@pytest.mark.long
def test_kill_9_in_the_middle_of_the_stream_loses_nothing(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    """The next process continues. What it reads twice has the ids that it had, and one score."""
    traces = [a_rag_trace() for _ in range(60)]
    with a_backend() as backend:
        arguments = ("--backend", backend.address, *source(kafka, topic, "kafka_member=one"))
        with a_collector(tmp_path, *arguments) as collector:
            for number, trace in enumerate(traces):
                kafka.export(topic, *(a_request(span) for span in trace))
                if number == 20:
                    eventually(lambda: len(scores(backend)) >= 10, within_s=120)
                    collector.kill()
                    collector.start()
            eventually(lambda: len(scores(backend)) == len(traces), within_s=120)
            eventually(lambda: kafka.committed(topic, topic) == kafka.end(topic))
    assert set(backend.ids()) == {span.span_id for trace in traces for span in trace}
    assert all(set(values) == {1.0} for values in scores(backend).values())


@pytest.mark.long
def test_a_rebalance_loses_nothing(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    """A second collector joins the group under load, and the first one is killed: partitions move twice."""
    traces: list[list[Span]] = []

    def send(count: int) -> None:
        made = [a_rag_trace() for _ in range(count)]
        traces.extend(made)
        kafka.export(topic, *(a_request(*trace) for trace in made))

    with a_backend() as backend:
        arguments = ("--backend", backend.address, *source(kafka, topic))
        with a_collector(tmp_path / "one", *arguments) as first:
            send(20)
            eventually(lambda: reads(first, 4), within_s=120)
            with a_collector(tmp_path / "two", *arguments) as second:
                while not (reads(first, 2) and reads(second, 2)):
                    send(1)
                send(20)
                eventually(lambda: len(scores(backend)) > len(traces) // 2, within_s=120)
                first.kill()
                send(20)
                eventually(lambda: reads(second, 4), within_s=120)
                eventually(lambda: kafka.committed(topic, topic) == kafka.end(topic), within_s=120)
                first.start()  # delivers what it had accepted
                eventually(lambda: len(scores(backend)) == len(traces), within_s=120)
    assert set(backend.ids()) == {span.span_id for trace in traces for span in trace}
    assert all(set(values) == {1.0} for values in scores(backend).values())


def test_full_queues_pause_the_partitions(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    """With the backend away and the disk queue full, messages stay in Kafka, uncommitted, until there is room."""
    with a_backend() as backend:
        port = backend.port
    spans = [a_span(number.to_bytes(16, "big"), "x" * 20_000) for number in range(1, 200)]
    kafka.export(topic, *(a_request(span, scope="http") for span in spans))
    bounds = ("max_disk_bytes=1000000", "max_memory_bytes=100000", "max_request_bytes=100000")
    with a_collector(tmp_path, "--backend", f"grpc://127.0.0.1:{port}", *source(kafka, topic, *bounds)) as collector:
        eventually(lambda: collector.metric("kafka_paused") == 1, within_s=120)
        assert sum(kafka.committed(topic, topic).values()) < 60
        assert collector.metric("outbox_bytes") <= 1_000_000
        eventually(lambda: collector.metric("kafka_lag_messages") > 100, within_s=120)
        with a_backend(port) as backend:
            eventually(lambda: len(backend.ids()) >= len(spans), within_s=120)
            assert sorted(backend.ids()) == sorted(span.span_id for span in spans)
            eventually(lambda: kafka.committed(topic, topic) == kafka.end(topic))
            assert collector.metric("kafka_paused") == 0


def test_doctor_asks_the_brokers_for_the_topic(kafka: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_OTEL_COLLECTOR_KAFKA_TOPIC", topic)
    monkeypatch.setenv("RAG_OTEL_COLLECTOR_KAFKA_BROKERS", kafka.brokers)
    kafka.send(topic, b"")  # it is there now
    kafka.flush()
    assert kafka_has_the_topic(30) == f"Kafka has the topic {topic} (4 partitions)"
    monkeypatch.setenv("RAG_OTEL_COLLECTOR_KAFKA_BROKERS", "127.0.0.1:1")
    with pytest.raises(CheckFailed, match="does not offer the topic"):
        kafka_has_the_topic(1)


@pytest.mark.slow(reason="the client of Kafka lets go of dead brokers only after its own time limit")
def test_a_collector_whose_brokers_vanished_stops_in_time(topic: str, tmp_path: Path) -> None:
    """What it took is forwarded; that it could not be committed holds nothing up."""
    kafka = Kafka()
    trace = a_rag_trace()
    with (
        a_backend() as backend,
        a_collector(tmp_path, "--backend", backend.address, *source(kafka, topic)) as collector,
    ):
        kafka.export(topic, a_request(*trace))
        eventually(lambda: collector.metric("requests_total", transport="kafka", outcome="accepted") == 1, within_s=120)
        kafka.stop()
        eventually(lambda: collector.metric("kafka_in_trouble") == 1, within_s=120)
        assert collector.stop() == 0
        assert len(backend.ids()) == 2


def test_brokers_that_do_not_answer_do_not_keep_a_process_from_exiting(topic: str, tmp_path: Path) -> None:
    """Their connections are open, and librdkafka waits a minute for the answer to its last commit."""
    kafka = FreezingKafka()
    kafka.send_empty(topic)
    command = [sys.executable, "-m", "tests.collectors.otlp.leaving_consumer", kafka.brokers, topic, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reads\n"
        kafka.freeze()
        reader.communicate("stop\n", timeout=30)
        assert reader.returncode == 0
    finally:
        reader.kill()
        reader.communicate()
        kafka.stop()


def test_brokers_that_are_away_hold_up_nothing_else(tmp_path: Path) -> None:
    """OTLP is received, the trouble is shown, and the collector stops in time."""
    with a_backend() as backend:
        settings = ("--set", "kafka_brokers=127.0.0.1:1", "--backend", backend.address)
        with a_collector(tmp_path, *settings) as collector:
            eventually(lambda: collector.metric("kafka_in_trouble") == 1, within_s=120)
            trace = a_rag_trace()
            collector.export(a_request(*trace))
            eventually(lambda: len(backend.ids()) == 2)
            assert collector.get("/readyz")[0] == 200
            assert collector.stop() == 0
