"""What every test shares: internal errors are raised, not swallowed, and no environment setting leaks in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rag_otel.cli.demo.phoenix_server import PhoenixServer

os.environ["RAG_OTEL_RAISE_INTERNAL_ERRORS"] = "1"
# Frameworks under test must not report home.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["TRACELOOP_TELEMETRY"] = "false"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own RAG_OTEL_*, OTEL_* and PHOENIX_* variables must not decide a test."""
    for name in list(os.environ):
        if (
            name.startswith(("RAG_OTEL_", "OTEL_", "PHOENIX_", "OPENINFERENCE_"))
            and name != "RAG_OTEL_RAISE_INTERNAL_ERRORS"
        ):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def phoenix_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoenixServer]:
    """A real Phoenix, started once per run: give each test its own project name."""
    from rag_otel.cli.demo.phoenix_server import start_phoenix

    with start_phoenix(tmp_path_factory.mktemp("phoenix")) as server:
        yield server
