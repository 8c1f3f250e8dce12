"""What every test shares: internal errors are raised, not swallowed, and no environment setting leaks in."""

from __future__ import annotations

import os

import pytest

os.environ["RAG_OTEL_RAISE_INTERNAL_ERRORS"] = "1"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own RAG_OTEL_*, OTEL_* and PHOENIX_* variables must not decide a test."""
    for name in list(os.environ):
        if (
            name.startswith(("RAG_OTEL_", "OTEL_", "PHOENIX_", "OPENINFERENCE_"))
            and name != "RAG_OTEL_RAISE_INTERNAL_ERRORS"
        ):
            monkeypatch.delenv(name)
