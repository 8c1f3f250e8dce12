"""How far behind the committed offsets of a consumer are.

Asked over a connection of its own: on the consumer's, the answer would wait behind a fetch, and the consumer with it.
The end of a partition is asked for because the consumer does not learn it while it is paused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel.errors import RetryableError
from rag_otel_collectors.otlp.kafka import make_client

_ASK_S: Final = 5.0


class KafkaLag:
    """Asks the brokers. Belongs to the event loop's thread."""

    def __init__(self, group: str, properties: Mapping[str, str]) -> None:
        self._group = group
        self._properties = properties
        self._client: Any = None

    async def of(self, partitions: Sequence[Any]) -> int:
        """Messages of these partitions that the group has not committed. Raises RetryableError."""
        from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition, admin

        places = [TopicPartition(*_place(each)) for each in partitions]
        spec: Any = admin.OffsetSpec  # type: ignore[attr-defined]
        if self._client is None:
            self._client = await asyncio.to_thread(make_client, "AdminClient", self._properties)
        try:
            async with asyncio.timeout(2 * _ASK_S):
                asked = [ConsumerGroupTopicPartitions(self._group, places)]
                groups = await _all(self._client.list_consumer_group_offsets(asked, request_timeout=_ASK_S))
                found = groups[self._group]
                ends = await self._offsets(places, spec.latest())
                begun = {_place(each): each.offset for each in found.topic_partitions if each.offset >= 0}
                fresh = [each for each in places if _place(each) not in begun]
                begun |= await self._offsets(fresh, spec.earliest()) if fresh else {}
        except (KafkaException, TimeoutError) as error:
            raise RetryableError(str(error) or "no answer") from None
        return sum(max(0, end - begun[place]) for place, end in ends.items())

    async def _offsets(self, partitions: Sequence[Any], which: Any) -> dict[tuple[str, int], int]:
        found = await _all(self._client.list_offsets(dict.fromkeys(partitions, which), request_timeout=_ASK_S))
        return {_place(each): result.offset for each, result in found.items()}


def _place(partition: Any) -> tuple[str, int]:
    return partition.topic, partition.partition


async def _all(futures: Mapping[Any, Any]) -> dict[Any, Any]:
    results = await asyncio.gather(*map(asyncio.wrap_future, futures.values()))
    return dict(zip(futures, results, strict=True))
