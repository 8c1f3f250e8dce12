"""Waiting for a condition: the one helper of every test that waits for something."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")
_PAUSE_S: Final = 0.02


def eventually(condition: Callable[[], T], *, within_s: float = 90.0) -> T:
    """The first truthy value of `condition`, asked again and again; fails with its last value after `within_s`."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s; the last value was {value!r}"
        time.sleep(_PAUSE_S)
    return value
