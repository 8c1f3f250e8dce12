"""The messages between a program and its evaluation processes: a length, then a pickle, over pipes.

Unpickling is safe here: the program starts the process from the same installation, and no other process can write to
the pipes.
"""

from __future__ import annotations

import asyncio
import copyreg
import dataclasses
import enum
import io
import operator
import pickle
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from rag_otel import model
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
class Reply:
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
    buffer = io.BytesIO()
    buffer.write(_LENGTH.pack(0))
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _DISPATCH
    pickler.dump(message)
    with buffer.getbuffer() as written:
        written[: _LENGTH.size] = _LENGTH.pack(len(written) - _LENGTH.size)
    return buffer.getvalue()


async def read_frame(reader: asyncio.StreamReader) -> Any:
    """Reads the next message. None at the end of the stream, also if it ends within a message."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None


# By default, frozen dataclasses with slots are pickled and restored field by field with slow generic code, and every
# class is looked up by its name in every message. That would take most of the time of the communication. So each type
# has a number here, and a dataclass a function that sets its slots one after the other, written as `dataclasses` writes
# an `__init__`.


def _restore(number: int, *values: Any) -> Any:
    """The one function that messages name: an object of a type by its number."""
    return _MAKERS[number](*values)


def _reducer(number: int, cls: Any) -> Callable[[Any], Any]:
    """Returns the function that reduces an object to its type's number and its values."""
    if issubclass(cls, enum.Enum):
        return lambda value: (_restore, (number, value.value))
    names = [each.name for each in dataclasses.fields(cls)]
    if len(names) < 2:  # attrgetter returns a tuple only for two or more names
        return lambda value: (_restore, (number, *(getattr(value, name) for name in names)))
    values = operator.attrgetter(*names)
    return lambda value: (_restore, (number, *values(value)))


def _maker(cls: Any) -> Callable[..., Any]:
    """Returns the function that makes an object of its values, also of a frozen class."""
    if issubclass(cls, enum.Enum):
        return {each.value: each for each in cls}.__getitem__
    names = [each.name for each in dataclasses.fields(cls)]
    known: dict[str, Any] = {f"set_{name}": getattr(cls, name).__set__ for name in names}
    known |= {"new": object.__new__, "cls": cls}
    lines = [f"    set_{name}(made, {name})" for name in names]
    exec("\n".join([f"def make({', '.join(names)}):", "    made = new(cls)", *lines, "    return made"]), known)
    return cast("Callable[..., Any]", known["make"])


def _is_known(cls: object) -> bool:
    if not isinstance(cls, type):
        return False
    if issubclass(cls, enum.Enum):
        return bool(list(cls))
    return dataclasses.is_dataclass(cls) and "__slots__" in vars(cls)


_TYPES: Final = (Job, Reply, *(each for each in vars(model).values() if _is_known(each)))
"""In the same order in both processes, which run the same installation."""
_MAKERS: Final = tuple(map(_maker, _TYPES))
_DISPATCH: Final = copyreg.dispatch_table | {cls: _reducer(number, cls) for number, cls in enumerate(_TYPES)}
