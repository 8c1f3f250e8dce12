"""The garbage collector in processes of our own, which live long and make many objects that no cycle holds."""

from __future__ import annotations

import gc
from typing import Final

_THRESHOLD: Final = 10_000
"""New objects between two looks; Python's default is 700."""


def collect_garbage_less() -> None:
    """Call it when a process is set up: the objects that exist now are permanent, so the garbage collector skips them,
    and it looks at the others less often."""
    gc.freeze()
    gc.set_threshold(_THRESHOLD)
