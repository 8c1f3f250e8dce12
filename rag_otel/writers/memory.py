"""A writer that keeps results in a list: for commands that print results, and for tests in applications."""

from __future__ import annotations

from collections.abc import Sequence

from rag_otel.model import EvaluatedTrace


class MemoryWriter:
    """Collects results in the order of their delivery. Usage: `instrument(writers=[memory])`."""

    name = "memory"

    def __init__(self) -> None:
        self.results: list[EvaluatedTrace] = []

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        self.results.extend(batch)
