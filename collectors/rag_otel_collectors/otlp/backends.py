"""Forwarding: one sender a backend, from the outbox over gRPC or HTTP, until the backend has taken everything.

A backend that is away, overloaded or misconfigured is tried again, for as long as it takes: what waits for it is in
the outbox. Only what it refuses as such is given up: a refused batch is halved until the spans that it objects to
stand alone, and those are counted as lost.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.guard import logger
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.outbox import Reader
from rag_otel_collectors.otlp.wire import halves

_FIRST_BACKOFF_S: Final = 0.25
_LOG_EVERY: Final = 20
"""Attempts between two log lines about the same outage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSettings:
    """Where spans are forwarded to."""

    name: str = "default"
    """Names the backend's place in the queue on disk: keep it when the address changes."""
    endpoint: str
    """`host:port` or an http(s) address; for HTTP, `/v1/traces` is added where the address does not end in it."""
    protocol: Literal["grpc", "http"] = "http"
    headers: dict[str, str] = field(default_factory=dict)
    tls: bool = False
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    compression: Literal["none", "gzip"] = "none"
    timeout_s: float = 10.0
    max_batch_bytes: int = 3 * 2**20
    """Below the 4 MiB that a gRPC server takes by default."""
    confirm_s: float = 0.0
    """What the backend took within this many seconds before it went away is sent again: for backends that answer
    before they have stored, and that ignore a span that they have."""


class BackendRefusalError(PermanentError):
    """The backend will never take this request as it is."""


class Connection(Protocol):
    """How requests get to a backend."""

    async def send(self, request: bytes) -> int:
        """Deliver a serialised export request; returns how many of its spans the backend rejected.

        Raises RetryableError, or BackendRefusalError where sending the same again is no use.
        """
        ...

    async def close(self) -> None: ...


class BackendAwayError(RetryableError):
    """There is no connection, or it broke: the backend may have been restarted."""


class Sender:
    """Delivers the outbox to one backend, in order, one batch at a time."""

    def __init__(
        self,
        settings: BackendSettings,
        connection: Connection,
        reader: Reader,
        metrics: Metrics,
        *,
        max_backoff_s: float = 5.0,
    ) -> None:
        self.settings = settings
        self._connection = connection
        self._reader = reader
        self._metrics = metrics
        self._max_backoff_s = max_backoff_s
        self._failures = 0
        self.trouble: str | None = None
        """What the last attempt failed with; None after one that worked."""

    @property
    def idle(self) -> bool:
        """True when the backend has taken everything."""
        return self._reader.idle

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            try:
                batch = await self._reader.next(self.settings.max_batch_bytes)
            except OSError as error:  # the disk, not the backend
                self._metrics.add(names.DISK_ERRORS)
                logger.error("rag-otel: the queue on disk cannot be read: %s", error)
                await asyncio.sleep(self._max_backoff_s)
                continue
            if await self._deliver(batch.requests):
                self._reader.delivered(batch.end, confirm_s=self.settings.confirm_s)

    async def confirm(self) -> None:
        """Give up, while nothing new comes, what was delivered long enough ago. Runs until cancelled."""
        while self.settings.confirm_s:
            await asyncio.sleep(self.settings.confirm_s / 2)
            self._reader.settle()

    async def close(self) -> None:
        await self._connection.close()

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
            self._metrics.add(names.LOST, backend=self.settings.name)
            logger.error("rag-otel: backend %s refused a span: %s", self.settings.name, error)
            return True
        for part in parts:
            if not await self._deliver(part):
                return False
        return True

    async def _wait_after(self, error: RetryableError) -> bool:
        """Wait before the next attempt; True when what was delivered lately must be delivered again."""
        self._failures += 1
        self.trouble = str(error)
        self._metrics.add(names.RETRIES, backend=self.settings.name)
        if self._failures % _LOG_EVERY == 1:
            logger.warning("rag-otel: backend %s: %s; trying again", self.settings.name, error)
        again = self._reader.rewind() if isinstance(error, BackendAwayError) else 0
        if again:
            self._metrics.add(names.RESENT, again, backend=self.settings.name)
        backoff = min(self._max_backoff_s, _FIRST_BACKOFF_S * 2.0 ** min(self._failures - 1, 16))
        await asyncio.sleep(max(backoff * random.uniform(0.5, 1.0), min(error.retry_after_s or 0.0, 30.0)))
        return bool(again)

    def _succeeded(self, requests: tuple[bytes, ...], rejected: int) -> None:
        if self.trouble is not None:
            logger.warning("rag-otel: backend %s is back", self.settings.name)
        self._failures, self.trouble = 0, None
        self._metrics.add(names.SENT, backend=self.settings.name)
        self._metrics.add(names.SENT_BYTES, sum(map(len, requests)), backend=self.settings.name)
        if rejected:
            self._metrics.add(names.LOST, rejected, backend=self.settings.name)
            logger.error("rag-otel: backend %s rejected %d spans", self.settings.name, rejected)
