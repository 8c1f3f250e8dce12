"""A Kafka of the test run's own: the mock cluster that librdkafka carries. Its broker is a real TCP server on loopback
with consumer groups, for clients of any process. It lives as long as the producer that it belongs to."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PARTITIONS = 4
"""Of every topic; a topic is there once somebody asks for it."""


class Kafka:
    """The brokers, and what a producer and an administrator do."""

    def __init__(self) -> None:
        quiet = logging.getLogger("tests.kafka")
        self._cluster = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "mock"}, logger=quiet)
        (broker,) = self._cluster.list_topics(timeout=10).brokers.values()
        self.brokers = f"{broker.host}:{broker.port}"
        self._producer = Producer({"bootstrap.servers": self.brokers, "linger.ms": 0})

    def stop(self) -> None:
        """The brokers are gone for good."""
        del self._producer, self._cluster

    def export(self, topic: str, *requests: ExportTraceServiceRequest) -> None:
        """What the OpenTelemetry Collector's Kafka exporter does with requests of one trace each: a message with the
        trace id in hex as its key."""
        for request in requests:
            key = request.resource_spans[0].scope_spans[0].spans[0].trace_id.hex()
            self.send(topic, request.SerializeToString(), key=key)
        self.flush()

    def send(self, topic: str, message: bytes | None, **options: Any) -> None:
        self._producer.produce(topic, message, **options)

    def flush(self) -> None:
        assert self._producer.flush(30) == 0

    def end(self, topic: str) -> dict[int, int]:
        """Partition -> the offset after its last message."""
        with self._reader("nobody") as reader:
            places = [TopicPartition(topic, number) for number in range(PARTITIONS)]
            return {each.partition: reader.get_watermark_offsets(each, timeout=10)[1] for each in places}

    def committed(self, topic: str, group: str) -> dict[int, int]:
        """Partition -> the offset that the group continues at."""
        with self._reader(group) as reader:
            places = reader.committed([TopicPartition(topic, number) for number in range(PARTITIONS)], timeout=10)
            return {each.partition: max(0, each.offset) for each in places}

    def messages(self, topic: str) -> list[tuple[bytes, bytes]]:
        """(key, value) of every message of a topic."""
        with self._reader("nobody") as reader:
            end = self.end(topic)
            reader.assign([TopicPartition(topic, number, 0) for number in end])
            wanted, found = sum(end.values()), []
            while len(found) < wanted:
                found += [(each.key(), each.value()) for each in reader.consume(100, 0.2) if not each.error()]
            return found

    @contextlib.contextmanager
    def _reader(self, group: str) -> Iterator[Consumer]:
        reader = Consumer({"bootstrap.servers": self.brokers, "group.id": group, "enable.auto.commit": False})
        try:
            yield reader
        finally:
            reader.close()


class FreezingKafka:
    """Brokers in a process of their own, which can stop answering with its connections open."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "testkit.kafka"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert self._process.stdout is not None
        self.brokers = self._process.stdout.readline().strip()

    def send_empty(self, topic: str) -> None:
        """A message without a value."""
        producer = Producer({"bootstrap.servers": self.brokers})
        producer.produce(topic, None)
        assert producer.flush(30) == 0

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


if __name__ == "__main__":
    alive = Kafka()
    print(alive.brokers, flush=True)
    sys.stdin.read()
