"""Each test in a tracing context of its own: some instrumentations leave theirs behind when a stream is not read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import context as context_api
from opentelemetry.context import Context


@pytest.fixture(autouse=True)
def _own_context() -> Iterator[None]:
    before = context_api.get_current()
    context_api.attach(Context())
    yield
    context_api.attach(before)  # not detached: a token in between may never have been given back
