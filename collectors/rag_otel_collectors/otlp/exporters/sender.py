"""Forwarding: one sender a backend, from the outbox over gRPC or HTTP, until the backend has taken everything.

A backend that is away, overloaded or misconfigured is tried again, for as long as it takes: what waits for it is in
the outbox. Only what it refuses as such is given up: a refused batch is halved until the spans that it objects to
stand alone, and those go to the dead letters. Of a partial success nobody knows which spans were rejected: the whole
batch goes there.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import partial
from typing import Final

from rag_otel.delivery.retry import Backoff, call_until_done
from rag_otel.durable.dead_letters import DeadLetters
from rag_otel.safety.guard import LimitedLog, logger
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.exporters.confirmation import Confirmation, mark_of
from rag_otel_collectors.otlp.exporters.connection import (
    BackendAwayError,
    BackendRefusalError,
    BackendSettings,
    Connection,
    Rejected,
)
from rag_otel_collectors.otlp.exporters.outbox import Reader
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.requests.wire import halves

_BACKOFF: Final = Backoff(base_s=0.25, longest_wait_s=5.0)
_GATHER_S: Final = 0.2
"""Between two batches to a backend that is asked about each."""
_APART_S: Final = 0.05
"""Between the beginnings of two batches, unless they are large: each is a call, which costs more than what is in it."""
_MAX_BATCH_BYTES: Final = 3 * 2**20
"""Below the 4 MiB that a gRPC server takes by default."""
_ASKED_BYTES: Final = 2**19
"""Of such a batch, at most: it is seen to store even when it is slow."""


class _TakenBackError(Exception):
    """What was delivered before has to be delivered again."""


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
    ) -> None:
        """Without `dead_letters` what the backend refuses is lost."""
        self.settings = settings
        self._connection = connection
        self._reader = reader
        self._metrics = metrics
        self._dead_letters = dead_letters
        self._confirmation = Confirmation(connection, reader, metrics, settings.name)
        self._log = LimitedLog()
        self._mark = b""
        """The last span that the backend took of a batch; empty where that is not known."""
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
            read = partial(self._reader.next, self._max_batch_bytes)
            batch = await call_until_done(read, _BACKOFF, self._unreadable, errors=(OSError,))
            began, rewinds = time.monotonic(), self._reader.rewinds
            self._mark = b""
            with contextlib.suppress(_TakenBackError):
                await self._deliver(batch.requests)
            if rewinds != self._reader.rewinds:
                continue  # older ones go out again first
            if self._confirmation.possible:
                self._reader.delivered(batch.end, mark=self._mark)
                await asyncio.sleep(_GATHER_S)  # few large batches are few questions
                continue
            self._reader.delivered(batch.end)
            if sum(map(len, batch.requests)) < self._max_batch_bytes / 2:
                await asyncio.sleep(began + _APART_S - time.monotonic())

    async def confirm(self) -> None:
        """Give up what the backend has stored, where it tells. Runs until cancelled."""
        while True:
            await asyncio.sleep(self._confirmation.pause_s)
            self._count_resent(await self._confirmation.look())

    async def close(self) -> None:
        await self._connection.close()

    @property
    def _max_batch_bytes(self) -> int:
        return _ASKED_BYTES if self._confirmation.possible else _MAX_BATCH_BYTES

    async def _deliver(self, requests: tuple[bytes, ...]) -> None:
        """Deliver requests as one until the backend has taken them. Raises _TakenBackError when older ones must go out
        again first."""
        send = partial(self._connection.send, b"".join(requests))
        try:
            rejected = await call_until_done(send, _BACKOFF, self._failed)
        except BackendRefusalError as error:
            for part in self._parts(requests, error):
                await self._deliver(part)
        else:
            self._succeeded(requests, rejected)

    def _parts(self, requests: tuple[bytes, ...], error: BackendRefusalError) -> list[tuple[bytes, ...]]:
        """The halves of what was refused; a span that is refused alone is lost."""
        if len(requests) > 1:
            middle = len(requests) // 2
            return [requests[:middle], requests[middle:]]
        if (two := halves(requests[0])) is not None:
            return [(two[0],), (two[1],)]
        self._log.error(f"backend {self.settings.name} refused a span", error)
        self._bury(requests[0], 1, str(error))
        return []

    def _failed(self, error: Exception) -> None:
        """Before the next attempt; where the backend went away, what it has not confirmed goes out before that."""
        self._trouble = str(error)
        self._metrics.add(names.RETRIES, backend=self.settings.name)
        self._log.warning(f"backend {self.settings.name}", f"{error}; trying again")
        if isinstance(error, BackendAwayError) and (again := self._reader.rewind()):
            self._count_resent(again)
            raise _TakenBackError

    def _unreadable(self, error: Exception) -> None:
        self._metrics.add(names.DISK_ERRORS)
        self._log.error("the queue on disk cannot be read", error)

    def _count_resent(self, batches: int) -> None:
        if batches:
            self._metrics.add(names.RESENT, batches, backend=self.settings.name)

    def _bury(self, request: bytes, rejected: int, reason: str) -> None:
        self._metrics.add(names.LOST, rejected, backend=self.settings.name)
        if self._dead_letters is not None:
            self._dead_letters.add(request, backend=self.settings.name, reason=reason, rejected=rejected)

    def _succeeded(self, requests: tuple[bytes, ...], rejected: Rejected) -> None:
        if self._trouble is not None:
            logger.warning("rag-otel: backend %s is back", self.settings.name)
        self._trouble = None
        self._mark = b"" if rejected.spans or not self._confirmation.possible else mark_of(requests)
        self._metrics.add(names.SENT, backend=self.settings.name)
        self._metrics.add(names.SENT_BYTES, sum(map(len, requests)), backend=self.settings.name)
        if rejected.spans:
            self._log.error(f"backend {self.settings.name} rejected spans", f"{rejected.spans}: {rejected.reason}")
            self._bury(b"".join(requests), rejected.spans, rejected.reason or "partial success")
