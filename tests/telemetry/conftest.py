"""Every test starts and ends without an active `instrument()`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rag_otel
from testkit.http_receiver import Receiver, http_receiver


@pytest.fixture(autouse=True)
def _uninstrumented(uninstrumented: None) -> None:
    pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """An OTLP receiver. It also receives what `uninstrument()` exports."""
    with http_receiver() as running:
        yield running
        rag_otel.uninstrument()
