"""A journal as the collector opens it, and what it has left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rag_otel.durable.journal import Journal
from rag_otel_collectors.otlp.requests.wire import is_request


def a_journal(folder: Path, **sizes: Any) -> Journal:
    """A journal of requests."""
    return Journal(folder, readable=is_request, **sizes)


def left(journal: Journal) -> dict[bytes, list[bytes]]:
    """The values of every key that is not done."""
    return {key: journal.read(key) for key in journal.keys}
