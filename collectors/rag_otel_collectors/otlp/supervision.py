"""Tasks that must run for as long as the collector does: one that fails is started again, and nobody has to guess why.

While a task is down, and for a moment after it was started again, its trouble stands in `/readyz`; every failure is
counted and logged. A collector that is told to stop while one is down says so with its exit code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from rag_otel.delivery.retry import Backoff
from rag_otel.safety.guard import LimitedLog
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.metrics import Metrics

_BACKOFF: Final = Backoff(longest_wait_s=10.0)
_WELL_AFTER_S: Final = 2.0
"""A task that was started again and has run for so long is well."""


class Supervisor:
    """Keeps tasks running. Belongs to the event loop's thread."""

    def __init__(self, metrics: Metrics, *, backoff: Backoff = _BACKOFF, well_after_s: float = _WELL_AFTER_S) -> None:
        self._metrics = metrics
        self._log = LimitedLog()
        self._backoff = backoff
        self._well_after_s = well_after_s
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._troubles: dict[str, str] = {}

    @property
    def trouble(self) -> str | None:
        """Which task is down, and why; None while all run."""
        return next((f"{name} has failed: {why}" for name, why in self._troubles.items()), None)

    @property
    def failed(self) -> int:
        """How many tasks are down."""
        return len(self._troubles)

    def keep(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run `run` until `stop`: again whenever it raises or returns. It must be able to begin anew."""
        self._tasks[name] = asyncio.create_task(self._keep(name, run), name=name)

    async def stop(self, *names: str) -> None:
        """Cancel the tasks of these names, by default all. Safe to call twice."""
        stopped = [task for name in names or tuple(self._tasks) if (task := self._tasks.pop(name, None)) is not None]
        for task in stopped:
            task.cancel()
        await asyncio.gather(*stopped, return_exceptions=True)

    async def _keep(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        loop = asyncio.get_running_loop()
        failures = 0
        while True:
            began = loop.time()
            well = loop.call_later(self._well_after_s, self._troubles.pop, name, None)
            error: Exception | None = None
            try:
                await run()
            except Exception as raised:  # noqa: BLE001 - the alternative is a collector that forwards nothing
                error = raised
            finally:
                well.cancel()
            why = f"{type(error).__name__}: {error}" if error else "it has ended"
            self._troubles[name] = why
            self._metrics.add(names.TASK_FAILURES, task=name)
            self._log.error(f"{name} has failed and is started again", why, cause=error)
            failures = 1 if loop.time() - began > self._well_after_s else failures + 1
            await asyncio.sleep(self._backoff.pause_s(failures))
