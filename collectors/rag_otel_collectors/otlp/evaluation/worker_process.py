"""The child's side of an evaluation process: jobs come in on standard input, replies go out on standard output.

It ends when its input does, so it never outlives the collector. What libraries print goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rag_otel.errors import RagOtelError
from rag_otel.safety.guard import counters
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.telemetry.gauges import gauges
from rag_otel.telemetry.names import BREAKER_OPEN
from rag_otel_collectors.otlp.evaluation.frames import frame, read_frame
from rag_otel_collectors.otlp.evaluation.trace_evaluator import Job, Reply, TraceEvaluator

_PIPE_BYTES: Final = 2**20
_GC_THRESHOLD: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The first answer of a child: it can evaluate, or `error` says why it cannot."""

    error: str | None = None


class _StatsDelta:
    """What this process counts and reads of itself, told to the parent with every reply: it is who shows metrics."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def added_to(self, reply: Reply) -> Reply:
        """The reply with what was counted since the one before."""
        now = counters.snapshot()
        new = {name: count - self._told.get(name, 0) for name, count in now.items()}
        self._told = now
        return dataclasses.replace(
            reply,
            counted={name: count for name, count in new.items() if count},
            breaker_open=any(value for value, _ in gauges.read(BREAKER_OPEN.name)),
        )


def serve(build: Callable[[Any], TraceEvaluator]) -> None:
    """Evaluate until standard input ends. `build` makes the evaluator of the set-up that the parent sends first."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the parent decides when its children end
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppressed():
        asyncio.run(_serve(build, answers))


async def _serve(build: Callable[[Any], TraceEvaluator], answers: Any) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_PIPE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    accounts = _StatsDelta()

    def answer(message: Ready | Reply) -> None:
        message = accounts.added_to(message) if isinstance(message, Reply) else message
        # Blocking is right here: while the parent does not read, there is no point in evaluating more.
        with contextlib.suppress(BrokenPipeError):
            rest = memoryview(frame(message))
            while rest:
                rest = rest[answers.write(rest) :]

    setup = await read_frame(reader)
    if setup is None:
        return
    try:
        evaluator = build(setup)
    except (RagOtelError, ImportError, OSError) as error:
        answer(Ready(error=str(error)))
        return
    # What is here now stays: the collector of garbage need not look at it again, nor often at the rest.
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD)
    answer(Ready())
    running: set[asyncio.Task[None]] = set()
    while isinstance(job := await read_frame(reader), Job):
        task = loop.create_task(evaluator.evaluate(job, answer))
        running.add(task)
        task.add_done_callback(running.discard)
