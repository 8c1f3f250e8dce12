"""What a value can change in a series."""

from __future__ import annotations

import enum


class Turn(enum.StrEnum):
    """What a value has changed."""

    ALARM = "alarm"
    DEEPER = "deeper"
    """The mean has fallen below what the alarm has told."""
    RESOLVED = "resolved"
    COMPLETE = "complete"
    """There are enough values for a baseline, or for a better one: `freeze` it."""
