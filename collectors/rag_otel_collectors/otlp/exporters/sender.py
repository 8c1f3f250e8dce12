"""Forwarding: one sender a backend, from the outbox over gRPC or HTTP, until the backend has taken everything.

A backend that is away, overloaded or misconfigured is tried again, for as long as it takes: what waits for it is in
the outbox. Only what it refuses as such is given up: a refused batch is halved until the spans that it objects to
stand alone, and those go to the dead letters. Of a partial success nobody knows which spans were rejected: the whole
batch goes there.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from rag_otel.delivery.retry import Backoff
from rag_otel.durable.dead_letters import DeadLetters
from rag_otel.errors import RetryableError
from rag_otel.safety.guard import logger
from rag_otel.safety.limited_log import LimitedLog
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.exporters.confirmation import Confirmation
from rag_otel_collectors.otlp.exporters.connection import (
    BackendAwayError,
    BackendRefusalError,
    BackendSettings,
    Connection,
    ReconnectError,
    Rejected,
)
from rag_otel_collectors.otlp.exporters.outbox import Reader
from rag_otel_collectors.otlp.exporters.phoenix_store import mark_of
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.protobuf.wire import halves

_FIRST_BACKOFF_S: Final = 0.25
_GATHER_S: Final = 0.2
"""Between two batches to a backend that is asked about each."""
_APART_S: Final = 0.05
"""Between the beginnings of two batches, unless they are large: each is a call, which costs more than what is in it."""
_MAX_BATCH_BYTES: Final = 3 * 2**20
"""Below the 4 MiB that a gRPC server takes by default."""
_ASKED_BYTES: Final = 2**19
"""Of such a batch, at most: it is seen to store even when it is slow."""


class Sender:
    """Delivers the outbox to one backend, in order, one batch at a time."""

    def __init__(
        self,
        settings: BackendSettings,
        connection: Connection,
        reader: Reader,
        metrics: Metrics,
        *,
        dead_letters: DeadLetters | None = None,
        max_backoff_s: float = 5.0,
    ) -> None:
        """Without `dead_letters` what the backend refuses is lost."""
        self.settings = settings
        self._connection = connection
        self._reader = reader
        self._metrics = metrics
        self._dead_letters = dead_letters
        self._backoff = Backoff(base_s=_FIRST_BACKOFF_S, longest_wait_s=max_backoff_s)
        self._confirmation = Confirmation(connection, reader, metrics, settings.name)
        self._log = LimitedLog()
        self._failures = 0
        self._lost = 0
        self._trouble: str | None = None

    @property
    def trouble(self) -> str | None:
        """What the last attempt failed with; None after one that worked."""
        return self._trouble or self._confirmation.trouble

    @property
    def idle(self) -> bool:
        """True when the backend has taken everything and, where it can be asked, stored it."""
        return self._reader.idle and self._reader.confirmed

    @property
    def unconfirmed(self) -> int:
        """Batches that the backend took and may have to be given again."""
        return len(self._reader.unconfirmed)

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            try:
                batch = await self._reader.next(self._max_batch_bytes)
            except OSError as error:  # the disk, not the backend
                self._metrics.add(names.DISK_ERRORS)
                self._log.error("the queue on disk cannot be read", error)
                await asyncio.sleep(self._backoff.longest_wait_s)
                continue
            began = time.monotonic()
            rewinds, lost = self._reader.rewinds, self._lost
            if not await self._deliver(batch.requests) or rewinds != self._reader.rewinds:
                continue  # older ones go out again first
            if not self._confirmation.possible:
                self._reader.delivered(batch.end, confirm_s=self.settings.confirm_s)
                if sum(map(len, batch.requests)) < self._max_batch_bytes / 2:
                    await asyncio.sleep(began + _APART_S - time.monotonic())
                continue
            # A batch that lacks a span may lack the one that is asked for.
            mark = mark_of(batch.requests) if lost == self._lost else b""
            self._reader.delivered(batch.end, confirm_s=self._confirmation.patience_s, mark=mark)
            # Few large batches are few questions.
            await asyncio.sleep(_GATHER_S)

    async def confirm(self) -> None:
        """Give up what the backend has stored or, where it does not tell, what was delivered long enough ago. Runs
        until cancelled."""
        while True:
            await asyncio.sleep(self._confirmation.pause_s)
            self._reader.settle()
            if again := await self._confirmation.look():
                self._metrics.add(names.RESENT, again, backend=self.settings.name)

    async def close(self) -> None:
        await self._connection.close()

    @property
    def _max_batch_bytes(self) -> int:
        return _ASKED_BYTES if self._confirmation.possible else _MAX_BATCH_BYTES

    async def _deliver(self, requests: tuple[bytes, ...]) -> bool:
        """Deliver requests as one until the backend has taken them; False when older ones must go out again first."""
        while True:
            try:
                rejected = await self._connection.send(b"".join(requests))
            except BackendRefusalError as error:
                return await self._deliver_parts(requests, error)
            except RetryableError as error:
                if await self._wait_after(error):
                    return False
            else:
                self._succeeded(requests, rejected)
                return True

    async def _deliver_parts(self, requests: tuple[bytes, ...], error: BackendRefusalError) -> bool:
        """Halve what was refused; a span that is refused alone is lost."""
        if len(requests) > 1:
            middle = len(requests) // 2
            parts: tuple[tuple[bytes, ...], ...] = (requests[:middle], requests[middle:])
        elif (two := halves(requests[0])) is not None:
            parts = ((two[0],), (two[1],))
        else:
            self._log.error(f"backend {self.settings.name} refused a span", error)
            self._bury(requests[0], 1, str(error))
            return True
        for part in parts:
            if not await self._deliver(part):
                return False
        return True

    async def _wait_after(self, error: RetryableError) -> bool:
        """Wait before the next attempt; True when what was delivered lately must be delivered again."""
        if isinstance(error, ReconnectError) and (self._confirmation.possible or not self._reader.unconfirmed):
            return False  # a new connection is all that it takes; what may have been lost is looked for elsewhere
        self._failures += 1
        self._trouble = str(error)
        self._metrics.add(names.RETRIES, backend=self.settings.name)
        self._log.warning(f"backend {self.settings.name}", f"{error}; trying again")
        again = self._reader.rewind() if isinstance(error, BackendAwayError) else 0
        if again:
            self._metrics.add(names.RESENT, again, backend=self.settings.name)
        await asyncio.sleep(self._backoff.pause_s(self._failures, error.retry_after_s))
        return bool(again)

    def _bury(self, request: bytes, rejected: int, reason: str) -> None:
        self._lost += rejected
        self._metrics.add(names.LOST, rejected, backend=self.settings.name)
        if self._dead_letters is not None:
            self._dead_letters.add(request, backend=self.settings.name, reason=reason, rejected=rejected)

    def _succeeded(self, requests: tuple[bytes, ...], rejected: Rejected) -> None:
        if self._trouble is not None:
            logger.warning("rag-otel: backend %s is back", self.settings.name)
        self._failures, self._trouble = 0, None
        self._metrics.add(names.SENT, backend=self.settings.name)
        self._metrics.add(names.SENT_BYTES, sum(map(len, requests)), backend=self.settings.name)
        if rejected.spans:
            self._log.error(f"backend {self.settings.name} rejected spans", f"{rejected.spans}: {rejected.reason}")
            self._bury(b"".join(requests), rejected.spans, rejected.reason or "partial success")
