"""A server of both forms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testkit.decision_server import DecisionServer


@pytest.fixture
def server() -> Iterator[DecisionServer]:
    with DecisionServer() as running:
        yield running
