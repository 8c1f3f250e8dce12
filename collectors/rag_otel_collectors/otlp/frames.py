"""How the collector and its evaluation processes talk: a length, then a pickle, over the process's own pipes.

Both ends are of one installation and one trust: the parent starts the child and nobody else can write to its pipes.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from typing import Any, Final

_LENGTH: Final = struct.Struct("<I")


def frame(message: Any) -> bytes:
    """A message as it goes over the pipe."""
    payload = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(payload)) + payload


async def read_frame(reader: asyncio.StreamReader) -> Any:
    """The next message; None at the end of the stream, a half one included."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None
