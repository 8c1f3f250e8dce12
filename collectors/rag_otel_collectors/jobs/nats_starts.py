"""How often each job on NATS JetStream was started, and whether its last start has ended.

The delivery counter of JetStream also counts messages that were delivered and never started, and it may begin anew
after a restart of the server. So the starts are messages of a stream of their own, the last one for each job. It is
removed when the job is settled for good.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import Any

from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from rag_otel.errors import RetryableError
from rag_otel_collectors.jobs.moving import count, said


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """The starts of one job."""

    starts: int
    running: bool
    """True if the last start was not settled: if the job is delivered again, its worker has ended."""
    sequence: int
    """The message's place in the stream."""


class StartCounts:
    """The stream `<name>-starts`. Belongs to one event loop."""

    def __init__(self, stream: Any, name: str) -> None:
        """`stream` is the JetStream context, `name` the queue's name."""
        self._stream = stream
        self._name = f"{name}-starts"

    async def read(self, job: str) -> Starts | None:
        """None for a job that was never started. Raises RetryableError."""
        try:
            message = await self._stream.get_last_msg(self._name, self._subject(job))
            found = json.loads(message.data or b"{}")
        except NotFoundError:
            return None
        except (NatsError, OSError, TimeoutError) as error:
            raise RetryableError(said("no connection to the job queue", error)) from None
        return Starts(starts=count(found.get("starts")), running=bool(found.get("running")), sequence=message.seq)

    async def write(self, job: str, starts: int, *, running: bool) -> None:
        """Raises RetryableError."""
        body = json.dumps({"starts": starts, "running": running}).encode()
        try:
            await self._stream.publish(self._subject(job), body, stream=self._name)
        except (NatsError, OSError, TimeoutError) as error:
            raise RetryableError(said("no connection to the job queue", error)) from None

    async def forget(self, job: str) -> None:
        """Never raises: what is left behind is removed when it is old."""
        with contextlib.suppress(NatsError, OSError, TimeoutError):
            await self._stream.purge_stream(self._name, subject=self._subject(job))

    def _subject(self, job: str) -> str:
        return f"{self._name}.{job}"
