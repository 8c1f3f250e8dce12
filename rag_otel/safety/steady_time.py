"""Time that passes evenly: what is measured in it neither ends nor begins because somebody set the clock."""

from __future__ import annotations

import time
from typing import Final

_OFFSET_S: Final = time.time() - time.monotonic()


def steady_time() -> float:
    """Seconds since the epoch by the wall clock of the process's start, plus the seconds that have passed since."""
    return _OFFSET_S + time.monotonic()


def wall_time_of(steady_s: float) -> float:
    """The wall clock's time at a moment of `steady_time`."""
    return steady_s - steady_time() + time.time()
