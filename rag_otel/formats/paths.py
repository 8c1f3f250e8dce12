"""Paths into objects: `.name`, `['any name']`, `[0]`, `[-1]`, and `[*]` for every item."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

Step: TypeAlias = str | int | None
"""A name, an index, or None for `[*]`."""

_STEP: Final = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\*|-?\d{1,9})\]|\['([^']+)'\]")


def steps_in(path: str, start: int) -> tuple[tuple[Step, ...], int]:
    """The steps that are written from `start` on, and where what is no step begins; the length if all is read."""
    steps: list[Step] = []
    while (match := _STEP.match(path, start)) is not None:
        name, index, quoted = match.groups()
        steps.append(name or quoted or (None if index == "*" else int(index)))
        start = match.end()
    return tuple(steps), start
