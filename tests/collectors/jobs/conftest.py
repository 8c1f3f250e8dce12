"""The run's RabbitMQ node; each test has queues of its own, and a node of its own to kill."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_otel_collectors.jobs.queue import QueueSettings
from testkit.rabbitmq import RabbitNode
from testkit.shared_servers import SharedBroker, shared_server


@pytest.fixture(scope="session")
def rabbit() -> SharedBroker:
    return SharedBroker(**shared_server("rabbit"))


@pytest.fixture
def own_rabbit(tmp_path: Path) -> Iterator[RabbitNode]:
    """A node that a test may kill; not started yet."""
    node = RabbitNode(tmp_path / "rabbitmq")
    yield node
    node.stop()


@pytest.fixture
def queue_settings(rabbit: SharedBroker) -> Callable[..., QueueSettings]:
    """Settings of a queue that no other test uses, with short delays."""
    return settings_of(rabbit)


def settings_of(broker: SharedBroker | RabbitNode) -> Callable[..., QueueSettings]:
    name = f"test-{secrets.token_hex(4)}"

    def make(**changes: Any) -> QueueSettings:
        fields: dict[str, Any] = {"retry_delays": (0.1, 0.2), "max_starts": 3, "partitions": 2, "prefetch": 4}
        return QueueSettings(**{"url": broker.url, "name": name, **fields, **changes})

    return make
