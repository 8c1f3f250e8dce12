"""One RabbitMQ node for all tests of jobs; each test has queues of its own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rag_otel_collectors.jobs.queue import QueueSettings
from tests.support.rabbitmq import RabbitNode, a_rabbit_node


@pytest.fixture(scope="session")
def rabbit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitNode]:
    with a_rabbit_node(tmp_path_factory.mktemp("rabbitmq")) as node:
        yield node


@pytest.fixture
def queue_settings(rabbit: RabbitNode) -> Callable[..., QueueSettings]:
    """Settings of a queue that no other test uses, with short delays."""
    name = f"test-{secrets.token_hex(4)}"

    def make(**changes: Any) -> QueueSettings:
        fields: dict[str, Any] = {"retry_delays": (0.1, 0.2), "max_starts": 3, "partitions": 2, "prefetch": 4}
        return QueueSettings(**{"url": rabbit.url, "name": name, **fields, **changes})

    return make
