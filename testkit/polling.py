"""Waiting for a condition: the one helper of every test that waits for something."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")
_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 1.0


def eventually(condition: Callable[[], T], *, within_s: float = 90.0) -> T:
    """The first truthy value of `condition`, asked again and again; fails with its last value after `within_s`.

    The pause is twice as long as the asking took: whoever waits must not keep what it waits for from its work.
    """
    deadline = time.monotonic() + within_s
    while True:
        asked = time.monotonic()
        if value := condition():
            return value
        answered = time.monotonic()
        assert answered < deadline, f"not within {within_s:g} s; the last value was {value!r}"
        time.sleep(min(_LONGEST_PAUSE_S, max(_PAUSE_S, 2 * (answered - asked))))
