"""The queues on RabbitMQ that one job queue consists of, and what they are told when they are created.

    <name>.0 ... <name>.<n-1>   the jobs; a tenant's jobs are all in one of them
    <name>.suspects             jobs whose last start ended with its worker
    <name>.retry.<delay>s       jobs that wait for their next start; they go back to the queue that they came from
    <name>.dead                 dead letters

All are quorum queues. A full queue refuses (`reject-publish`).

Source: https://www.rabbitmq.com/docs/quorum-queues (poison message handling, at-least-once dead-lettering).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from faststream.rabbit import ExchangeType, QueueType, RabbitBroker, RabbitExchange, RabbitQueue

from rag_otel_collectors.jobs.queue import QueueSettings

_NO_LIMIT: Final = 1_000_000_000
"""Looking at the dead letters counts as a delivery. RabbitMQ 4 drops a message after 20 by default."""


class RabbitQueues:
    """Names and arguments of the queues of one job queue."""

    def __init__(self, settings: QueueSettings) -> None:
        self._settings = settings
        name = settings.name
        full = {"x-max-length": settings.max_jobs}
        self.partitions: Final = [self._work_queue(f"{name}.{n}", full) for n in range(settings.partitions)]
        self.suspects: Final = self._work_queue(f"{name}.suspects", {})
        self.dead: Final = _quorum_queue(f"{name}.dead", {"x-delivery-limit": _NO_LIMIT})
        self.waiting: Final = {delay: self._waiting(delay) for delay in set(settings.retry_delays)}

    async def declare(self, broker: RabbitBroker) -> None:
        """Creates what the broker lacks."""
        for queue in (*self.partitions, self.suspects, self.dead):
            await broker.declare_queue(queue)
        for delay, queue in self.waiting.items():
            exchange = await broker.declare_exchange(self.retry_exchange(delay))
            await (await broker.declare_queue(queue)).bind(exchange)

    def of(self, tenant: str) -> str:
        """The name of the queue that has a tenant's jobs."""
        return self.partitions[partition_of(tenant, self._settings.partitions)].name

    def retry_exchange(self, delay: float) -> RabbitExchange:
        """What is published there with a queue's name as routing key is in that queue after `delay` seconds."""
        return RabbitExchange(f"{self._settings.name}.retry.{delay:g}s", type=ExchangeType.FANOUT, durable=True)

    def _waiting(self, delay: float) -> RabbitQueue:
        arguments = {
            "x-message-ttl": round(delay * 1000),
            "x-overflow": "reject-publish",
            "x-dead-letter-exchange": "",  # with the routing key that it came with: its queue's name
            "x-dead-letter-strategy": "at-least-once",
        }
        return _quorum_queue(f"{self._settings.name}.retry.{delay:g}s", arguments)

    def _work_queue(self, name: str, more: Mapping[str, int]) -> RabbitQueue:
        """The broker's own limit is for messages that no worker gets to look at: `JobQueue` is stricter."""
        arguments: dict[str, Any] = {
            "x-overflow": "reject-publish",
            "x-delivery-limit": self._settings.max_starts,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": f"{self._settings.name}.dead",
            "x-dead-letter-strategy": "at-least-once",
            **more,
        }
        return _quorum_queue(name, arguments)


def partition_of(tenant: str, partitions: int) -> int:
    """The partition of a tenant's jobs, 0-based. The same in every process."""
    return int.from_bytes(hashlib.blake2b(tenant.encode("utf-8", "replace"), digest_size=8).digest()) % partitions


def _quorum_queue(name: str, arguments: Mapping[str, Any]) -> RabbitQueue:
    given: Any = dict(arguments)  # FastStream's types know no x-dead-letter-strategy
    return RabbitQueue(name, queue_type=QueueType.QUORUM, durable=True, arguments=given)
