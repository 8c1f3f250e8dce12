"""What the collector's Kafka clients are told (the brokers, the security, librdkafka's properties by their own names),
and what the brokers are asked about a topic.

Source of the names: https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.safety.extras import require_extra

BROKERS: Final = "bootstrap.servers"
_PASSWORD: Final = "sasl.password"
_SECRET_PARTS: Final = ("password", "secret", "pem", "oauthbearer.config", "basic.auth")
_OURS: Final = {
    "group.id": "kafka_group",
    "group.instance.id": "kafka_member",
    "enable.auto.commit": None,
    "enable.auto.offset.store": None,
    "auto.commit.interval.ms": None,
}
"""Properties that rag-otel sets: by which setting, or None where nothing else would be safe."""
_ASK_S: Final = 5.0


def client_properties(brokers: Sequence[str], properties: Iterable[str], password: str | None) -> dict[str, str]:
    """The properties of every client, from `host:port` and `name=value`. Raises ConfigurationError."""
    found = {BROKERS: ",".join(brokers)}
    for each in properties:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not name:
            raise ConfigurationError(f"kafka_properties must be name=value, not {name!r} without a value")
        if name in _OURS:
            setting = _OURS[name]
            way_out = f"set {setting} instead" if setting else "leave it out: the collector commits what it has stored"
            raise ConfigurationError(f"kafka_properties must not contain {name}: {way_out}")
        found[name] = value
    if password is not None:
        found[_PASSWORD] = password
    return found


def secret_values(properties: Mapping[str, str]) -> list[str]:
    """The values of these properties that nobody may read in a log."""
    return [value for name, value in properties.items() if value and any(part in name for part in _SECRET_PARTS)]


def make_client(kind: str, properties: Mapping[str, Any], **arguments: Any) -> Any:
    """A `Consumer`, a `Producer` or an `admin.AdminClient`. Raises ConfigurationError for properties that librdkafka
    does not take."""
    require_extra("scale", "confluent_kafka", needed_by="Kafka")
    import confluent_kafka
    import confluent_kafka.admin

    log = logging.getLogger("rag_otel.kafka")
    log.addFilter(_is_news)  # a function is added once
    make = confluent_kafka.admin.AdminClient if kind == "AdminClient" else getattr(confluent_kafka, kind)
    try:
        return make(dict(properties), logger=log, **arguments)
    except confluent_kafka.KafkaException as error:
        raise ConfigurationError(f"Kafka's client does not take its properties: {error.args[0].str()}") from None


def _is_news(record: logging.LogRecord) -> bool:
    """False for the lines about single connections: many in a second while brokers are away. Whoever uses the client
    reports this outage."""
    return not record.getMessage().startswith(("FAIL", "REQTMOUT"))


def partitions_of(topic: str, properties: Mapping[str, str], *, timeout_s: float) -> int:
    """How many partitions the topic has, as the brokers say. Raises ConfigurationError and RetryableError."""
    client = make_client("AdminClient", properties)
    from confluent_kafka import KafkaException

    try:
        found = client.list_topics(topic, timeout=timeout_s).topics[topic]
    except KafkaException as error:
        raise RetryableError(error.args[0].str()) from None
    if found.error is not None:
        raise ConfigurationError(f"topic {topic}: {found.error.str()}")
    return len(found.partitions)


class KafkaLag:
    """How far behind the committed offsets of a group are. Belongs to the event loop's thread.

    Asked over a connection of its own: on the consumer's, the answer would wait behind a fetch, and the consumer with
    it. The end of a partition is asked for because the consumer does not learn it while it is paused.
    """

    def __init__(self, group: str, properties: Mapping[str, str]) -> None:
        self._group = group
        self._properties = properties
        self._client: Any = None

    async def of(self, partitions: Sequence[Any]) -> int:
        """Messages of these partitions that the group has not committed. Raises RetryableError."""
        from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition, admin

        places = [TopicPartition(*place_of(each)) for each in partitions]
        spec: Any = admin.OffsetSpec  # type: ignore[attr-defined]
        if self._client is None:
            self._client = await asyncio.to_thread(make_client, "AdminClient", self._properties)
        try:
            async with asyncio.timeout(2 * _ASK_S):
                asked = [ConsumerGroupTopicPartitions(self._group, places)]
                groups = await _all(self._client.list_consumer_group_offsets(asked, request_timeout=_ASK_S))
                found = groups[self._group]
                ends = await self._offsets(places, spec.latest())
                begun = {place_of(each): each.offset for each in found.topic_partitions if each.offset >= 0}
                fresh = [each for each in places if place_of(each) not in begun]
                begun |= await self._offsets(fresh, spec.earliest()) if fresh else {}
        except (KafkaException, TimeoutError) as error:
            raise RetryableError(str(error) or "no answer") from None
        return sum(max(0, end - begun[place]) for place, end in ends.items())

    async def _offsets(self, partitions: Sequence[Any], which: Any) -> dict[tuple[str, int], int]:
        found = await _all(self._client.list_offsets(dict.fromkeys(partitions, which), request_timeout=_ASK_S))
        return {place_of(each): result.offset for each, result in found.items()}


def place_of(partition: Any) -> tuple[str, int]:
    """(topic, partition) of one of the client's partitions."""
    return partition.topic, partition.partition


async def _all(futures: Mapping[Any, Any]) -> dict[Any, Any]:
    results = await asyncio.gather(*map(asyncio.wrap_future, futures.values()))
    return dict(zip(futures, results, strict=True))
