"""Every test starts and ends without a set-up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import rag_otel


@pytest.fixture(autouse=True)
def _taken_off() -> Iterator[None]:
    rag_otel.uninstrument()
    yield
    rag_otel.uninstrument()
