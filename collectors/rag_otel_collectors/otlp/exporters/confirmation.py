"""Waits until a backend that answers before it stores has stored, and finds out what has to be sent again.

Phoenix answers an export when the spans are in its memory, stores them one after the other in the order in which they
came, and forgets those that wait when it is killed; how many wait (up to 20,000) depends on its load. So a batch is
safe once its last span is found there, and not a moment earlier. A batch that is missing while a later one is there was
forgotten. A backend that is away may have forgotten everything that it has not shown. Sending again does no harm:
Phoenix ignores a span that it has.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rag_otel.durable.segment_files import Position
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.safety.guard import logger
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.exporters.connection import BackendAwayError, Connection
from rag_otel_collectors.otlp.exporters.outbox import Reader
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.requests.wire import last_span_id

_ASKED: Final = 16
"""Batches in one question, the oldest first."""
_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 5.0
_STANDSTILL_S: Final = 30.0
"""After so long without a sign of storing, a backend is taken for one that has forgotten; then after twice as long, and
so on: it may have much to store from others."""
_LONGEST_STANDSTILL_S: Final = 600.0
_TRIES: Final = 3
"""A batch that was sent so often again, and is missing still when later ones are there, is given up."""


def mark_of(requests: Sequence[bytes]) -> bytes:
    """The span whose arrival tells that all of a batch has arrived; empty where that cannot be told."""
    try:
        return last_span_id(requests[-1])
    except (ValueError, IndexError):
        return b""


class Confirmation:
    """Looks after what one backend has taken and not confirmed. Belongs to the event loop's thread."""

    def __init__(self, connection: Connection, reader: Reader, metrics: Metrics, backend: str) -> None:
        self._connection = connection
        self._reader = reader
        self._metrics = metrics
        self._backend = backend
        self._silent = False
        """The backend has said that it will never tell."""
        self._overtaken: Position | None = None
        """The oldest batch, when a later one was there before it at the last look."""
        self._tries: tuple[Position | None, int] = (None, 0)
        """The batch that was overtaken last, and how often."""
        self._moved = time.monotonic()
        self._standstill_s = _STANDSTILL_S
        self._rewinds = 0
        """Of the reader, when what is known here was found out."""
        self.trouble: str | None = None
        """What the last question failed with."""
        self.pause_s = _PAUSE_S
        """Until the next look: longer, while the backend is behind."""

    @property
    def possible(self) -> bool:
        """True when the backend can be asked."""
        return self._connection.tells_what_is_stored and not self._silent

    async def look(self) -> int:
        """Ask about what waits; returns how many batches have to be delivered again, and will be."""
        asked = [each.mark for each in self._reader.unconfirmed if each.mark][:_ASKED]
        if not asked or not self.possible:
            self._moved, self.pause_s, self.trouble = time.monotonic(), _PAUSE_S, None
            return 0
        if self._rewinds != self._reader.rewinds:
            self._start_over()
        try:
            stored = await self._connection.stored(asked)
        except RetryableError as error:
            self.trouble, self._moved = str(error), time.monotonic()  # who does not answer does not stand still
            return self._reader.rewind() if isinstance(error, BackendAwayError) else 0
        except PermanentError as error:
            logger.warning("rag-otel: backend %s does not say what it has stored: %s", self._backend, error)
            self._silent, self.trouble = True, None
            return self._reader.rewind()
        self.trouble = None
        if self._rewinds != self._reader.rewinds:
            return 0
        if self._reader.confirm(stored):
            self._moved, self.pause_s, self._standstill_s = time.monotonic(), _PAUSE_S, _STANDSTILL_S
        else:
            self.pause_s = min(_LONGEST_PAUSE_S, self.pause_s * 1.5)
        return self._resend(stored)

    def _start_over(self) -> None:
        """Everything that waits is on its way anew."""
        self._rewinds = self._reader.rewinds
        self._overtaken = None
        self._moved, self.pause_s = time.monotonic(), _PAUSE_S

    def _resend(self, stored: set[bytes]) -> int:
        """Take back what is not on its way any more; returns how many batches."""
        waiting = self._reader.unconfirmed
        before, self._overtaken = self._overtaken, None
        if not waiting:
            return 0
        if any(each.mark in stored for each in waiting):
            # Two requests at the same time may be stored in any order: a moment later, the first one is there too.
            self._overtaken = waiting[0].end
            if self._overtaken == before:
                return self._resend_overtaken()
        if time.monotonic() - self._moved > self._standstill_s:
            self._standstill_s = min(_LONGEST_STANDSTILL_S, 2 * self._standstill_s)
            return self._reader.rewind()
        return 0

    def _resend_overtaken(self) -> int:
        first = self._reader.unconfirmed[0].end
        again, times = self._tries
        self._tries = (first, times + 1 if again == first else 1)
        if self._tries[1] > _TRIES:
            logger.error("rag-otel: backend %s takes a batch and never stores it", self._backend)
            self._metrics.add(names.UNCONFIRMED, backend=self._backend)
            self._reader.confirm({self._reader.unconfirmed[0].mark})
            return 0
        return self._reader.rewind()
