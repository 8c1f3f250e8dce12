"""One RabbitMQ node and one NATS server for all tests of jobs; each test has queues of its own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rag_otel_collectors.jobs.queue import QueueSettings
from testkit.nats_server import NatsServer, a_nats_server
from testkit.rabbitmq import RabbitNode, a_rabbit_node


@pytest.fixture(scope="session")
def rabbit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitNode]:
    with a_rabbit_node(tmp_path_factory.mktemp("rabbitmq")) as node:
        yield node


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with a_nats_server(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture
def queue_settings(rabbit: RabbitNode) -> Callable[..., QueueSettings]:
    """Settings of a queue on RabbitMQ that no other test uses, with short delays."""
    return settings_of(rabbit)


@pytest.fixture(params=["rabbit", "nats_server"])
def broker(request: pytest.FixtureRequest) -> RabbitNode | NatsServer:
    """Each broker that has an engine."""
    found: RabbitNode | NatsServer = request.getfixturevalue(request.param)
    return found


def settings_of(broker: RabbitNode | NatsServer) -> Callable[..., QueueSettings]:
    name = f"test-{secrets.token_hex(4)}"

    def make(**changes: Any) -> QueueSettings:
        fields: dict[str, Any] = {"retry_delays": (0.1, 0.2), "max_starts": 3, "partitions": 2, "prefetch": 4}
        return QueueSettings(**{"url": broker.url, "name": name, **fields, **changes})

    return make
