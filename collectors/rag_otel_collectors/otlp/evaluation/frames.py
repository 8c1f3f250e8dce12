"""The messages between the collector and its evaluation processes: a length, then a pickle, over pipes.

Unpickling is safe here: the collector starts the process from the same installation, and no other process can write to
the pipes.
"""

from __future__ import annotations

import asyncio
import copyreg
import dataclasses
import functools
import io
import operator
import pickle
import struct
from collections.abc import Callable
from typing import Any, Final

from rag_otel import model

_LENGTH: Final = struct.Struct("<I")


def frame(message: Any) -> bytes:
    """Serialises a message for the pipe."""
    buffer = io.BytesIO()
    buffer.write(_LENGTH.pack(0))
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _dispatch_table()
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


# By default, frozen dataclasses with slots are pickled and restored field by field with slow generic code. That would
# take half of the time of the communication, so the functions below do it faster.


@functools.cache
def _dispatch_table() -> dict[type, Callable[[Any], Any]]:
    """The pickle functions of the data types in `rag_otel.model`."""
    types = (each for each in vars(model).values() if isinstance(each, type) and dataclasses.is_dataclass(each))
    return copyreg.dispatch_table | {each: _reducer(each) for each in types if hasattr(each, "__slots__")}


def _reducer(cls: type) -> Callable[[Any], Any]:
    """Returns the function that reduces an object to its class and the values of its fields."""
    names = [each.name for each in dataclasses.fields(cls)]
    if len(names) < 2:  # attrgetter returns a tuple only for two or more names
        return lambda value: (_restore, (cls, tuple(getattr(value, name) for name in names)))
    values = operator.attrgetter(*names)
    return lambda value: (_restore, (cls, values(value)))


def _restore(cls: type, values: tuple[Any, ...]) -> Any:
    made: Any = object.__new__(cls)
    for assign, value in zip(_setters(cls), values, strict=True):
        assign(made, value)
    return made


@functools.cache
def _setters(cls: type) -> tuple[Callable[[Any, Any], None], ...]:
    """The functions that set the slots, also of frozen classes."""
    return tuple(getattr(cls, each.name).__set__ for each in dataclasses.fields(cls))
