"""HTTP connections within two bounds that uvicorn lacks: on how many are open, and on the time of a request's head."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from rag_otel_collectors.otlp.receivers.client_connections import Connections

_HEADER_S: Final = 10.0


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol, told to `Connections`."""

    _head_timer: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, open_connections: Connections, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._open = open_connections
        self._began = time.monotonic()
        self.host = ""

    @property
    def idle(self) -> bool:
        """True while no request is arriving or being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def arriving_since(self) -> float:
        """When the request began that has not arrived whole; now, where there is none. Monotonic seconds."""
        return self._began if self.cycle is not None and self.cycle.more_body else time.monotonic()

    def abort(self) -> None:
        """Close it at once."""
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.host = self.client[0] if self.client else ""
        self._expect_head()
        self._open.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._open.gone(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.idle:
            self._began = time.monotonic()
        super().data_received(data)
        self._open.used(self)
        if not self.idle:
            self._stop_waiting()
        elif self._head_timer is None:
            self._expect_head()

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(_HEADER_S, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
