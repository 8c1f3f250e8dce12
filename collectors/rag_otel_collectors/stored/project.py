"""A project of Phoenix, or the part of it between two times: its traces, in batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rag_otel.model import SpanRecord
from rag_otel_collectors.stored.assembly import AssembledTrace
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.restored_spans import stored_span

_AT_ONCE: Final = 100
"""Number of traces per batch. Only the spans of one batch are in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProject:
    """What is read of a project. Every method may raise the errors of the client."""

    client: PhoenixClient
    name: str
    since: datetime | None = None
    """Traces that started then or later; None: from the beginning."""
    until: datetime | None = None
    """Traces that started before; None: to the end."""

    def with_patience(self, patience_s: float) -> StoredProject:
        """The same, with a client that retries while Phoenix is unavailable, see `PhoenixClient.with_patience`."""
        return dataclasses.replace(self, client=self.client.with_patience(patience_s))

    def traces(self) -> Iterator[list[AssembledTrace]]:
        """Yields the traces, oldest first, in batches. Every trace has all spans that Phoenix has stored."""
        batch: list[str] = []
        for row in self.client.traces(self.name, since=self.since, until=self.until):
            batch.append(row["trace_id"])
            if len(batch) == _AT_ONCE:
                yield self._assembled(batch)
                batch = []
        if batch:
            yield self._assembled(batch)

    def _assembled(self, trace_ids: Sequence[str]) -> list[AssembledTrace]:
        spans: dict[str, list[SpanRecord]] = {trace_id: [] for trace_id in trace_ids}
        for row in self.client.spans(self.name, trace_ids=trace_ids):
            record = stored_span(row)
            spans[record.trace_id].append(record)
        return [AssembledTrace(trace_id=each, spans=tuple(found)) for each, found in spans.items()]
