"""How the collector and its evaluation processes talk: a length, then a pickle, over the process's own pipes.

Both ends are of one installation and one trust: the parent starts the child and nobody else can write to its pipes.
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
    """A message as it goes over the pipe."""
    buffer = io.BytesIO()
    buffer.write(_LENGTH.pack(0))
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _dispatch_table()
    pickler.dump(message)
    with buffer.getbuffer() as written:
        written[: _LENGTH.size] = _LENGTH.pack(len(written) - _LENGTH.size)
    return buffer.getvalue()


async def read_frame(reader: asyncio.StreamReader) -> Any:
    """The next message; None at the end of the stream, a half one included."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None


# Frozen dataclasses with slots pickle themselves one `fields()` and one `object.__setattr__` at a time; half of what
# the processes have to say to each other would be that.


@functools.cache
def _dispatch_table() -> dict[type, Callable[[Any], Any]]:
    """How the nouns are taken apart: their class and the values of their fields."""
    nouns = (each for each in vars(model).values() if isinstance(each, type) and dataclasses.is_dataclass(each))
    return copyreg.dispatch_table | {noun: _reducer(noun) for noun in nouns if hasattr(noun, "__slots__")}


def _reducer(noun: type) -> Callable[[Any], Any]:
    names = [each.name for each in dataclasses.fields(noun)]
    if len(names) < 2:  # an attrgetter of one name returns no tuple
        return lambda value: (_restore, (noun, tuple(getattr(value, name) for name in names)))
    values = operator.attrgetter(*names)
    return lambda value: (_restore, (noun, values(value)))


def _restore(noun: type, values: tuple[Any, ...]) -> Any:
    made: Any = object.__new__(noun)
    for assign, value in zip(_setters(noun), values, strict=True):
        assign(made, value)
    return made


@functools.cache
def _setters(noun: type) -> tuple[Callable[[Any, Any], None], ...]:
    """What fills the slots, frozen or not."""
    return tuple(getattr(noun, each.name).__set__ for each in dataclasses.fields(noun))
