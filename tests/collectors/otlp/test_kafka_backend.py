"""The exporter to a topic, when its producer cannot go on: the batch is sent again, and nothing of it is lost."""

from __future__ import annotations

import ctypes
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel.errors import RetryableError
from rag_otel_collectors.otlp.exporters.connection import BackendAwayError, BackendSettings
from rag_otel_collectors.otlp.exporters.kafka_backend import KafkaConnection
from testkit.kafka import Kafka
from testkit.otlp_requests import a_rag_trace, a_request

pytestmark = pytest.mark.server
TRACES = 6
_OUT_OF_ORDER = 45


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    broker = Kafka()
    yield broker
    broker.stop()


def connection(kafka: Kafka, topic: str, *, timeout_s: float = 30.0, **properties: str) -> KafkaConnection:
    named = {name.replace("_", "."): value for name, value in properties.items()}
    return KafkaConnection(
        BackendSettings(
            endpoint=topic,
            protocol="kafka",
            timeout_s=timeout_s,
            properties={"bootstrap.servers": kafka.brokers, **named},
        )
    )


def a_batch() -> tuple[bytes, set[bytes]]:
    """A request of several traces, and their spans' ids."""
    spans = [span for _ in range(TRACES) for span in a_rag_trace()]
    return a_request(*spans).SerializeToString(), {span.span_id for span in spans}


def spans_of(kafka: Kafka, topic: str) -> set[bytes]:
    return {
        span.span_id
        for _, value in kafka.messages(topic)
        for resource in ExportTraceServiceRequest.FromString(value).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    }


def fail_for_good(producer: Any) -> None:
    """Raise a fatal error in a producer, by the function that librdkafka has for tests of it."""
    library = next(Path(confluent_kafka.__file__).parent.parent.glob("confluent_kafka.libs/librdkafka*"), None)
    if library is None:
        pytest.skip("this build of confluent-kafka does not carry librdkafka beside it")
    raise_it = ctypes.CDLL(str(library)).rd_kafka_test_fatal_error
    raise_it.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
    handle = ctypes.c_void_p.from_address(id(producer) + object.__basicsize__)  # the first field of the client's object
    assert raise_it(handle, _OUT_OF_ORDER, b"for a test") == 0


async def test_a_full_queue_is_waited_for(kafka: Kafka) -> None:
    """A batch has more messages than the producer's queue."""
    topic = f"full-{uuid.uuid4().hex}"
    sending = connection(kafka, topic, queue_buffering_max_messages="2")
    batch, ids = a_batch()
    await sending.send(batch)
    assert spans_of(kafka, topic) == ids
    await sending.close()


async def test_a_queue_that_stays_full_is_an_outage(kafka: Kafka) -> None:
    """The broker is away: the batch is kept by whoever sends it."""
    gone = Kafka()
    sending = connection(gone, "spans", timeout_s=0.5, queue_buffering_max_messages="2")
    gone.stop()
    with pytest.raises(BackendAwayError):
        await sending.send(a_batch()[0])
    await sending.close()


async def test_after_a_fatal_error_the_producer_is_made_anew(kafka: Kafka, caplog: pytest.LogCaptureFixture) -> None:
    """Also if it comes while messages wait. The next attempt works."""
    topic = f"fatal-{uuid.uuid4().hex}"
    sending = connection(kafka, topic, linger_ms="1000")
    batch, ids = a_batch()
    fail_for_good(sending._producer)
    with pytest.raises(RetryableError):
        await sending.send(batch)
    assert "cannot go on and is made anew" in caplog.text
    sending._producer.produce(topic, b"", key="waits", on_delivery=lambda error, message: None)
    fail_for_good(sending._producer)
    with pytest.raises(RetryableError):
        await sending.send(batch)
    await sending.send(batch)
    assert spans_of(kafka, topic) == ids
    await sending.close()
