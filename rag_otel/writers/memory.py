"""A writer that keeps what it is given: for commands that show results, and for tests of one's own set-up."""

from __future__ import annotations

from collections.abc import Sequence

from rag_otel.model import EvaluatedTrace


class MemoryWriter:
    """Collects results in the order of their delivery; `instrument(writers=[memory])`."""

    name = "memory"

    def __init__(self) -> None:
        self.results: list[EvaluatedTrace] = []

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        self.results.extend(batch)
