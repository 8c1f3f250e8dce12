"""The usual values of settings, read without a library: pydantic alone would double what a start takes.

Only what has one meaning is read here. All else (an odd number, a wrong type) is left to pydantic, which reads more and
says best what is wrong.
"""

from __future__ import annotations

import re
import types
import typing
from typing import Any, Final

ODD: Final = object()
"""What `plain_value` says of a value that is not for it to read."""

_INTEGER: Final = re.compile(r"-?\d{1,15}", re.ASCII)
_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_SWITCHES: Final = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n", "off"), False),
}


def plain_value(value: Any, wanted: Any) -> Any:
    """`value` as the type `wanted`, the same that pydantic's lax mode gives; `ODD` where that is not plain to see."""
    if typing.get_origin(wanted) in (types.UnionType, typing.Union):
        members = [member for member in typing.get_args(wanted) if member is not type(None)]
        if value is None and len(members) < len(typing.get_args(wanted)):
            return None
        if type(value) is str and str in members:
            return value
        return plain_value(value, members[0]) if len(members) == 1 else ODD
    if typing.get_origin(wanted) is typing.Literal:
        return value if type(value) is str and value in typing.get_args(wanted) else ODD
    if wanted == tuple[str, ...]:
        several = isinstance(value, (tuple, list)) and all(type(part) is str for part in value)
        return tuple(value) if several else ODD
    if type(value) is wanted:
        return value
    if wanted is float and type(value) is int:
        return float(value)
    return _read(value, wanted) if type(value) is str else ODD


def _read(text: str, wanted: Any) -> Any:
    """A word of the environment as a number or a switch."""
    if wanted is bool:
        return _SWITCHES.get(text.lower(), ODD)
    if wanted is float and _NUMBER.fullmatch(text):
        return float(text)
    if wanted is int and _INTEGER.fullmatch(text):
        return int(text)
    return ODD
