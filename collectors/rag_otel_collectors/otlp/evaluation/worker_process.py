"""The main loop of an evaluation process. It reads jobs from standard input and writes replies to standard output.

It ends when its input ends, so it never outlives the program that started it. Output that libraries print goes to
standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias

from rag_otel.errors import RagOtelError
from rag_otel.safety.garbage import collect_garbage_less
from rag_otel.safety.guard import counters
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.telemetry.gauges import gauges
from rag_otel.telemetry.names import BREAKER_OPEN
from rag_otel_collectors.otlp.evaluation.messages import Job, JobResults, Ready, frame, read_frame

_PIPE_BYTES: Final = 2**20


Evaluate: TypeAlias = Callable[[Job, Callable[[JobResults], None]], Coroutine[Any, Any, None]]
"""Evaluates a job and calls a function with each reply. Never raises."""


class _StatsDelta:
    """The changes of this process's counters. They are sent along with the replies, so that they are in its parent's
    metrics."""

    def __init__(self) -> None:
        self._sent: dict[str, int] = {}

    def added_to(self, reply: JobResults) -> JobResults:
        """Returns the reply with the changes since the previous reply."""
        now = counters.snapshot()
        new = {name: count - self._sent.get(name, 0) for name, count in now.items()}
        self._sent = now
        return dataclasses.replace(
            reply,
            counted={name: count for name, count in new.items() if count},
            breaker_open=any(value for value, _ in gauges.read(BREAKER_OPEN.name)),
        )


def serve(build: Callable[[Any], Evaluate]) -> None:
    """Evaluates until standard input ends. `build` gets the set-up, which is the first message."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the parent decides when its processes end
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppressed():
        asyncio.run(_serve(build, answers))


async def _serve(build: Callable[[Any], Evaluate], answers: Any) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_PIPE_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    stats = _StatsDelta()

    def answer(message: Ready | JobResults) -> None:
        message = stats.added_to(message) if isinstance(message, JobResults) else message
        # A blocking write is intended: while the parent does not read, no more jobs should be evaluated.
        with contextlib.suppress(BrokenPipeError):
            rest = memoryview(frame(message))
            while rest:
                rest = rest[answers.write(rest) :]

    setup = await read_frame(reader)
    if setup is None:
        return
    try:
        evaluate = build(setup)
    except (RagOtelError, ImportError, OSError) as error:
        answer(Ready(error=str(error)))
        return
    collect_garbage_less()
    answer(Ready())
    running: set[asyncio.Task[None]] = set()
    while isinstance(job := await read_frame(reader), Job):
        task = loop.create_task(evaluate(job, answer))
        running.add(task)
        task.add_done_callback(running.discard)
