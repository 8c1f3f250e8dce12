"""What a label or a score of a person says about an answer, as a rating in 0..1."""

from __future__ import annotations

import math
from typing import Any, Final

COMPLAINT_BELOW: Final = 0.5
"""A rating below this is a complaint."""
_BAD: Final = frozenset(
    [
        "unfaithful",
        "bad",
        "incorrect",
        "wrong",
        "hallucinated",
        "hallucination",
        "fail",
        "failed",
        "no",
        "false",
        "unsupported",
        "thumbs_down",
        "down",
        "negative",
        "👎",
    ]
)
_GOOD: Final = frozenset(
    [
        "faithful",
        "good",
        "correct",
        "right",
        "factual",
        "pass",
        "passed",
        "yes",
        "true",
        "supported",
        "thumbs_up",
        "up",
        "positive",
        "ok",
        "👍",
    ]
)


def share(value: Any) -> float | None:
    """A number in 0..1 as float; None for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0
    return float(value) if known else None


def rating_of(value: Any) -> float | None:
    """A score, a truth value or a common word as a rating; None for what says neither good nor bad.

    Numbers are returned as they are (0 is bad, 1 is good), words and truth values as 0 or 1.
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) else None
    word = str(value).strip().lower().replace(" ", "_").replace("-", "_")
    if word in _BAD or word in _GOOD:
        return float(word in _GOOD)
    try:
        return rating_of(float(word))
    except ValueError:
        return None
