"""The messages between a program and its evaluation processes: a length, then a pickle, over pipes.

Unpickling is safe here: the program starts the process from the same installation, and no other process can write to
the pipes.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rag_otel.model import EvaluatedTrace, SpanRef
from rag_otel_collectors.jobs.queue import QueuedJob

_LENGTH: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """The first message of an evaluation process: it is ready, or `error` says why it is not."""

    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something to evaluate. What it is, the process knows that gets it."""

    number: int
    work: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResults:
    """The results of a job. In a collector, the trace is forwarded after the first reply; a second reply brings late
    results."""

    number: int
    attributes: Mapping[int, bytes] = field(default_factory=dict)
    """Place of a span among those of the job -> bytes to append to the serialised span."""
    results: tuple[EvaluatedTrace, ...] = ()
    resources: Mapping[SpanRef, Mapping[str, Any]] = field(default_factory=dict)
    """Resource attributes of the target spans of the results."""
    outcomes: tuple[tuple[str, str], ...] = ()
    """(status, reason) of every RAG trace in the trace, for counting."""
    last: bool = True
    """False if another reply follows."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """The increase of this process's counters (`rag_otel.safety.guard.counters`) since its last reply."""
    jobs: tuple[QueuedJob, ...] = ()
    """Traces that workers evaluate."""
    breaker_open: bool = False
    """True while the judge is not called because its calls failed repeatedly."""


def frame(message: Any) -> bytes:
    """Serialises a message for the pipe."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(content)) + content


async def read_frame(reader: asyncio.StreamReader) -> Any:
    """Reads the next message. None at the end of the stream, also if it ends within a message."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None
