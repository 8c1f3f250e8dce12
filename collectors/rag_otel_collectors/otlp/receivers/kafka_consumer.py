"""Reads spans from a topic of Kafka: each message is one export request in protobuf, as the OpenTelemetry Collector's
Kafka exporter writes it (`encoding: otlp_proto`).

A message is delivered once its spans are on disk, which is the rule for every request (`intake`). Only then its offset
is stored for the next commit. The messages of a partition are taken one after another, so no commit is ahead of a
message that is not delivered. What a killed process took after its last commit is read again, and recognised
(`taken_messages`). A message that cannot be taken for good goes to the dead letters. While the intake refuses, the
partitions are paused and the messages wait here.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from rag_otel.durable.dead_letters import DeadLetters
from rag_otel.errors import InputError, RetryableError
from rag_otel.evaluation.daemon_executor import DaemonExecutor
from rag_otel.safety.guard import LimitedLog, guarded, logger
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.kafka import KafkaLag, make_client, place_of
from rag_otel_collectors.otlp.receivers.intake import RefusedError
from rag_otel_collectors.otlp.receivers.reception import Reception
from rag_otel_collectors.otlp.receivers.taken_messages import TakenMessages
from rag_otel_collectors.otlp.settings_table import CollectorSettings

KAFKA: Final = "kafka"
_BATCH: Final = 100
_POLL_S: Final = 0.2
_LAG_EVERY_S: Final = 5.0
_LEAVE_S: Final = 10.0
"""For the last commit, while brokers do not answer."""
_FETCHED_KB: Final = 16 * 1024
T = TypeVar("T")


class KafkaReceiver:
    """One consumer of a group. librdkafka's calls block, so they run on a thread of their own; everything else belongs
    to the event loop's thread, which waits meanwhile: no state is used by both at a time."""

    def __init__(
        self, settings: CollectorSettings, reception: Reception, dead_letters: DeadLetters, known: TakenMessages
    ) -> None:
        """Reads `kafka_topic` as a member of `kafka_group`."""
        self._settings = settings
        self._reception = reception
        self._dead_letters = dead_letters
        self._known = known
        self._thread = DaemonExecutor(1)  # a call that hangs does not keep the process from exiting
        self._consumer: Any = None
        self._left = False
        self._waiting: deque[Any] = deque()
        """Messages that were read and not taken yet, in their order."""
        self._taken: dict[tuple[str, int], int] = {}
        """(topic, partition) -> the offset to continue at, where it is not stored yet."""
        self._paused: set[tuple[str, int]] = set()
        """(topic, partition) of those that the client was told to pause."""
        self._assignment: Sequence[Any] = ()
        self._stored: dict[tuple[str, int], int] = {}
        """(topic, partition) -> the offset that was handed over for the next commit."""
        self._log = LimitedLog()
        self.trouble: str | None = None
        """What Kafka's client reported last; None since it works again."""
        self.lag = 0
        """Messages of the assigned partitions that are not committed yet, as of some seconds ago."""
        self._gauges()

    @property
    def paused(self) -> bool:
        """True while messages wait for room on disk or in memory."""
        return bool(self._waiting)

    async def start(self) -> None:
        """Join the group. Raises ConfigurationError. Brokers that are away are tried again."""
        await self._call(self._open)

    async def run(self) -> None:
        """Read until cancelled. After a failure it begins anew at the last committed offsets."""
        if self._consumer is None:
            await self._call(self._open)
        watch = asyncio.create_task(self._watch_lag())
        try:
            while True:
                found = await self._call(self._poll)
                self._waiting.extend(found)  # only now: `_lost` may have put another queue in its place meanwhile
                while self._waiting and self._take(self._waiting[0]):
                    self._waiting.popleft()
                    await asyncio.sleep(0)  # the servers want to work too
        except Exception:
            await self._call(self._close)
            raise
        finally:
            watch.cancel()

    async def stop(self) -> None:
        """Commit what was delivered and leave the group. Safe to call twice."""
        if self._left:
            return
        self._left = True
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._call(self._close)
        except TimeoutError:
            logger.warning("rag-otel: Kafka did not answer while its partitions were given up")
        self._known.close()

    # --- on the event loop --------------------------------------------------------------------------------------------

    def _take(self, message: Any) -> bool:
        """False where the message must wait."""
        if message.error() is not None:
            self._failed(message.error())
            return True
        self.trouble = None
        request = message.value()
        if request is None:
            self._reception.count(KAFKA, "empty")
        elif self._known.has(message.partition(), message.offset(), request):
            self._reception.count(KAFKA, "repeated")
        elif len(request) > self._reception.max_request_bytes:
            self._bury(message, f"larger than max_request_bytes ({self._reception.max_request_bytes})")
        elif not self._accept(message, request):
            return False
        if request is not None:
            self._note(message, request)
        self._taken[message.topic(), message.partition()] = message.offset() + 1
        return True

    def _accept(self, message: Any, request: bytes) -> bool:
        intake = self._reception.intake
        if intake.refusal(len(request)) is not None:
            return False
        try:
            accepted = intake.accept(request)
        except RefusedError:
            return False
        except InputError as error:
            self._bury(message, str(error))
        except Exception as error:  # noqa: BLE001 - one message must not stop its partition
            self._log.error("internal error while taking a message of Kafka", repr(error), cause=error)
            self._bury(message, f"internal error: {error!r}")
        else:
            self._reception.count(KAFKA, "accepted")
            if accepted.rejected_spans:  # nobody is there to be told
                self._bury(message, accepted.message, accepted.rejected_spans)
        return True

    def _note(self, message: Any, request: bytes) -> None:
        try:
            self._known.add(message.partition(), message.offset(), request)
        except OSError as error:
            self._reception.metrics.add(names.DISK_ERRORS)
            self._log.error("messages that were taken cannot be noted", error)

    def _bury(self, message: Any, reason: str, rejected: int | None = None) -> None:
        place = f"{message.topic()}, partition {message.partition()}, offset {message.offset()}"
        self._log.error("a message of Kafka goes to the dead letters", f"{place}: {reason}")
        kept = self._dead_letters.add(message.value(), backend=KAFKA, reason=f"{place}: {reason}", rejected=rejected)
        self._reception.count(KAFKA, "dead_letter" if kept else "lost")

    def _failed(self, error: Any) -> None:
        self.trouble = error.str()
        self._reception.metrics.add(names.KAFKA_ERRORS, error=error.name())
        self._log.error("Kafka", f"{error.name()}: {error.str()}")
        if error.fatal():
            raise ConnectionError(f"Kafka's client cannot go on: {error.str()}")

    async def _watch_lag(self) -> None:
        lag = KafkaLag(self._settings.kafka_group, self._settings.kafka_client)
        while True:
            with guarded("collector.kafka_lag"):
                try:
                    if self._assignment:
                        self.lag, self.trouble = await lag.of(self._assignment), None
                    else:
                        self.lag = 0
                except RetryableError as error:
                    self.trouble = str(error)
            await asyncio.sleep(_LAG_EVERY_S)

    async def _call(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def _gauges(self) -> None:
        gauge = self._reception.metrics.gauge
        gauge("kafka_lag_messages", "Messages of the assigned partitions that are not committed", lambda: self.lag)
        gauge("kafka_partitions", "Partitions that this collector reads", lambda: len(self._assignment))
        gauge("kafka_paused", "1 while messages wait for room on disk or in memory", lambda: bool(self._paused))
        gauge("kafka_in_trouble", "1 while the last report of Kafka's client was an error", lambda: bool(self.trouble))

    # --- on the client's thread ---------------------------------------------------------------------------------------

    def _open(self) -> None:
        settings = self._settings
        properties = {
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": "cooperative-sticky",
            "queued.max.messages.kbytes": _FETCHED_KB,
            **settings.kafka_client,
            "group.id": settings.kafka_group,
            "enable.auto.commit": True,
            "auto.commit.interval.ms": 250,
            "enable.auto.offset.store": False,
            "error_cb": self._failed_on_its_thread,
        }
        if settings.kafka_member is not None:
            properties["group.instance.id"] = settings.kafka_member
        self._consumer = make_client("Consumer", properties)
        self._consumer.subscribe(
            [settings.kafka_topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )

    def _close(self) -> None:
        consumer, self._consumer = self._consumer, None
        self._waiting.clear()
        if consumer is not None:
            self._store(consumer)
            consumer.close()
        self._paused, self._assignment, self.lag = set(), (), 0

    def _poll(self) -> Sequence[Any]:
        consumer = self._consumer
        self._store(consumer)
        self._pause(consumer)
        found: Sequence[Any] = consumer.consume(_BATCH, _POLL_S)
        self._assignment = consumer.assignment()
        return found

    def _pause(self, consumer: Any) -> None:
        """Pause all partitions while messages wait, and resume them afterwards.

        Only those that are paused: told to resume another one, librdkafka drops what it has fetched of it and goes on
        behind that.
        """
        assigned = consumer.assignment()
        if self.paused:
            running = [each for each in assigned if place_of(each) not in self._paused]
            if running:
                consumer.pause(running)
        elif self._paused:
            consumer.resume([each for each in assigned if place_of(each) in self._paused])
        self._paused = {place_of(each) for each in assigned} if self.paused else set()

    def _store(self, consumer: Any) -> None:
        """Hand the places to librdkafka, which commits them four times a second and when a partition is given up."""
        from confluent_kafka import KafkaException, TopicPartition

        taken, self._taken = self._taken, {}
        for (topic, partition), offset in taken.items():
            try:
                consumer.store_offsets(offsets=[TopicPartition(topic, partition, offset)])
                self._stored[topic, partition] = offset
            except KafkaException:  # given up meanwhile: its next owner reads these messages again
                logger.info("rag-otel: partition %d of %s was given up before its last commit", partition, topic)

    def _assigned(self, _: Any, partitions: Sequence[Any]) -> None:
        if partitions:
            logger.info("rag-otel: reads %s of Kafka now", _listed(partitions))

    def _revoked(self, consumer: Any, partitions: Sequence[Any]) -> None:
        """Commit before they are given up: their next owner continues there."""
        from confluent_kafka import KafkaException, TopicPartition

        places = list(map(place_of, partitions))
        if paused := [each for each in partitions if place_of(each) in self._paused]:
            consumer.resume(paused)  # they may come back
        offsets = [TopicPartition(*place, self._stored[place]) for place in places if place in self._stored]
        try:
            if offsets:
                consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:  # they will be read again, from the commit before
            logger.info("rag-otel: the last offsets were not committed: %s", error.args[0].str())
        self._lost(consumer, partitions)

    def _lost(self, _: Any, partitions: Sequence[Any]) -> None:
        """Their next owner reads what was not delivered."""
        gone = set(map(place_of, partitions))
        self._paused -= gone
        self._stored = {place: offset for place, offset in self._stored.items() if place not in gone}
        self._waiting = deque(each for each in self._waiting if (each.topic(), each.partition()) not in gone)
        if partitions:
            logger.info("rag-otel: gave up %s of Kafka", _listed(partitions))

    def _failed_on_its_thread(self, error: Any) -> None:
        """librdkafka tells about brokers that are away; it tries again by itself. What is fatal comes as a message."""
        self.trouble = error.str()
        self._log.error("Kafka", f"{error.name()}: {error.str()}")


def _listed(partitions: Sequence[Any]) -> str:
    return ", ".join(f"{each.topic}/{each.partition}" for each in partitions)
