"""Parses the times of options such as `--since`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from rag_otel.errors import ConfigurationError

_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def point_in_time(text: str, *, now: datetime) -> datetime:
    """Parses `7d`, `12h`, `30m`, `90s`, `2w` (before `now`), or an ISO 8601 time (UTC if it has no zone).

    Raises ConfigurationError for anything else.
    """
    if age := _AGE.fullmatch(text):
        return now - timedelta(seconds=float(age[1]) * _SECONDS[age[2]])
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(f"{text!r} is not a time: write 7d, 12h, 30m, or 2026-05-01T12:00") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
