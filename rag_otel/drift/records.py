"""What a class remembers as JSON, and back: the fields of its slots by name, so that no class lists them twice.

    @stored
    class Blocks:
        __slots__ = ("_count", "_weight", "_weighted", "size")

    to_record(Blocks(8))     {"is": "Blocks", "_count": 0, "_weight": 0.0, "_weighted": 0.0, "size": 8}

Fields named in a class's `NOT_STORED` are left out: whoever restores such an object gives them to it. Only classes that
are marked are made from a record, and only of exactly their fields.
"""

from __future__ import annotations

import base64
import sys
from array import array
from collections import deque
from typing import Any, Final, TypeVar

_KNOWN: Final[dict[str, type[Any]]] = {}
_KIND: Final = "is"
_SCALARS: Final = (bool, int, float, str)
T = TypeVar("T")


def stored(cls: type[T]) -> type[T]:
    """Decorator: objects of this class can be made from records."""
    _KNOWN[cls.__name__] = cls
    return cls


def to_record(thing: Any) -> Any:
    """The thing in JSON's types: scalars, lists, tuples, sets, dictionaries, arrays, objects of `stored` classes."""
    if thing is None or isinstance(thing, _SCALARS):
        return thing
    if isinstance(thing, list | deque):
        return [to_record(each) for each in thing]
    if isinstance(thing, tuple | set):
        return {_KIND: type(thing).__name__, "of": [to_record(each) for each in thing]}
    if isinstance(thing, dict):
        return {_KIND: "dict", "of": [[to_record(key), to_record(value)] for key, value in thing.items()]}
    if isinstance(thing, array):
        data = base64.b64encode(_little_endian(thing).tobytes()).decode("ascii")
        return {_KIND: "array", "of": thing.typecode, "data": data}
    fields = {name: to_record(getattr(thing, name)) for name in _fields(type(thing))}
    return {_KIND: type(thing).__name__, **fields}


def from_record(record: Any, expected: type[T]) -> T:
    """What `to_record` was given. Raises KeyError, TypeError or ValueError for anything else."""
    found = _from_record(record)
    if not isinstance(found, expected):
        raise TypeError(f"{type(found).__name__}, not {expected.__name__}")
    return found


def _from_record(record: Any) -> Any:
    if isinstance(record, list):
        return [_from_record(each) for each in record]
    if not isinstance(record, dict):
        return record
    kind = record[_KIND]
    if kind == "dict":
        return {_from_record(key): _from_record(value) for key, value in record["of"]}
    if kind in ("tuple", "set"):
        return (tuple if kind == "tuple" else set)(_from_record(each) for each in record["of"])
    if kind == "array":
        numbers: array[Any] = array(record["of"])
        numbers.frombytes(base64.b64decode(record["data"], validate=True))
        return _little_endian(numbers)
    cls = _KNOWN[kind]
    if record.keys() - {_KIND} != set(_fields(cls)):
        raise ValueError(f"other fields than those of {kind}")
    made: Any = object.__new__(cls)
    for name in _fields(cls):
        object.__setattr__(made, name, _from_record(record[name]))
    return made


def _fields(cls: type[Any]) -> list[str]:
    left_out = getattr(cls, "NOT_STORED", ())
    return [name for name in cls.__slots__ if name not in left_out]


def _little_endian(numbers: array[Any]) -> array[Any]:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
