"""One collector that evaluates all traces, shared by tests that only send and read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testkit.collector import Backend, CollectorProcess, a_backend, a_collector


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with a_backend() as running:
        yield running


@pytest.fixture(scope="module")
def collector(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CollectorProcess]:
    with a_collector(tmp_path_factory.mktemp("collector"), "--backend", backend.address) as running:
        yield running
