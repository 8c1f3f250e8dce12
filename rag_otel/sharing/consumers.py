"""Writers without a state of their own as consumers of the logs: metrics, and monitors that count the last minutes."""

from __future__ import annotations

from collections.abc import Sequence

from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import Writer
from rag_otel.safety.guard import guarded
from rag_otel.sharing.group import Observed
from rag_otel.sharing.positions import Positions


class Unsaved:
    """Feeds a writer from where another consumer has read to: what a leader has counted is gone with it."""

    def __init__(self, writer: Writer, begin_with: Positions) -> None:
        self._writer = writer
        self.read = Positions()
        self.read.advance(begin_with.taken)

    def take(self, batch: Sequence[Observed]) -> None:
        """Write them."""
        results: list[EvaluatedTrace] = [each.result for each in batch]
        for each in batch:
            self.read.advance(each.upto)
        if results:
            with guarded(f"sharing.{self._writer.name}"):
                self._writer.write(results)
