"""How often is told, and when: not in quiet hours, unless it is critical, and not too many messages in a minute.

Quiet hours are written as windows, one a line:

    22:00-07:00 Europe/Berlin                    every night
    sat-sun 00:00-24:00 Europe/Berlin            weekends; the days are those on which a window begins
    22:00-06:30                                  in UTC
"""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from rag_otel.alert import Alert, AlertAudience
from rag_otel.alerts.digest import Bundle
from rag_otel.alerts.states import Moment
from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass

_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME: Final = r"([01]\d|2[0-4]):([0-5]\d)"
_WINDOW: Final = re.compile(rf"(?:([a-z]{{3}})(?:-([a-z]{{3}}))?\s+)?{_TIME}-{_TIME}(?:\s+(\S+))?", re.IGNORECASE)
_DAY_MINUTES: Final = 24 * 60
_MINUTE_S: Final = 60.0
_MAX_CHAIN: Final = 32
"""The most adjoining windows that are joined into one; when these end, the rest is looked up again."""


@dataclass(frozen=True, kw_only=True)
class QuietWindow:
    """One daily window of wall-clock time, which may pass midnight."""

    days: frozenset[int]
    """Weekdays (0 is Monday) on which it begins."""
    start_minute: int
    """Of the day, 0..1439."""
    length_minutes: int
    """1..1440."""
    zone: tzinfo

    def end_at(self, now_s: float) -> float | None:
        """Seconds since the epoch at which the window that is open at `now_s` ends; None outside of it."""
        local = datetime.fromtimestamp(now_s, self.zone)
        for back in (0, 1):
            day = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0) - timedelta(days=back)
            if day.weekday() not in self.days:
                continue
            # Arithmetic within one zone is on the wall clock: 07:00 stays 07:00 when the clocks change.
            start = (day + timedelta(minutes=self.start_minute)).timestamp()
            end = (day + timedelta(minutes=self.start_minute + self.length_minutes)).timestamp()
            if start <= now_s < end:
                return end
        return None


class QuietHours:
    """The quiet windows of one configuration."""

    def __init__(self, windows: Sequence[QuietWindow] = ()) -> None:
        self._windows = tuple(windows)

    def end_at(self, now_s: float) -> float | None:
        """When the quiet hours that include `now_s` end; None outside of quiet hours. Seconds since the epoch.

        Windows without a gap between them count as one.
        """
        end: float | None = None
        for _ in range(_MAX_CHAIN):
            ends = [found for window in self._windows if (found := window.end_at(now_s if end is None else end))]
            if not ends:
                break
            end = max(ends)
        return end


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How often is told. Times in seconds."""

    cooldown_s: float = 300.0
    """Alerts of one problem are at least so far apart."""
    resolve_after_s: float = 900.0
    """A problem of single answers is over without a bad one for so long; 0: never."""
    digest_s: float = 0.0
    """Alerts of one name and service within it are one message; 0: each is sent at once."""
    per_minute: int = 10
    """Messages in any minute, at least 1."""
    remind_s: float = 0.0
    """What is still open is told again after so long; 0: never."""
    quiet: QuietHours = dataclasses.field(default_factory=QuietHours)


class Schedule:
    """Quiet hours and the cap a minute. Messages for the records alone disturb nobody: neither holds them back."""

    def __init__(self, limits: Limits) -> None:
        self._quiet = limits.quiet
        self._per_minute = limits.per_minute
        self._sent: deque[float] = deque(maxlen=limits.per_minute)
        """When the last `per_minute` messages went out."""

    def may_send(self, told: Alert | Bundle, now: Moment) -> bool:
        if told.audience is AlertAudience.RECORDS:
            return True
        return self._has_room(now) and (told.critical or self._quiet_until(now) <= now.at)

    def sent(self, message: Alert, now: Moment) -> None:
        """Count a message towards the cap."""
        if message.audience is not AlertAudience.RECORDS:
            self._sent.append(now.at)

    def next_at(self, now: Moment, *, critical: bool) -> float:
        """When the next message may be sent, by the steady clock."""
        room_at = now.at if self._has_room(now) else self._sent[0] + _MINUTE_S
        return room_at if critical else max(room_at, self._quiet_until(now))

    def forget(self) -> None:
        """Start empty in a forked child."""
        self._sent.clear()

    def _has_room(self, now: Moment) -> bool:
        # After a clock was set back, times lie in the future: they must not block alerts for longer than a minute.
        return len(self._sent) < self._per_minute or not 0 <= now.at - self._sent[0] < _MINUTE_S

    def _quiet_until(self, now: Moment) -> float:
        end = self._quiet.end_at(now.wall)
        return 0.0 if end is None else end - (now.wall - now.at)


def parse_quiet_hours(texts: Sequence[str]) -> QuietHours:
    """Parse one window per line. Raises ConfigurationError."""
    return QuietHours([_window(text) for text in texts])


def _window(text: str) -> QuietWindow:
    match = _WINDOW.fullmatch(text.strip())
    if match is None:
        raise ConfigurationError(
            f"alert_quiet_hours: {text!r} is no window: 22:00-07:00 Europe/Berlin, sat-sun 00:00-24:00"
        )
    first, last, *numbers, zone = match.groups()
    hour, minute, end_hour, end_minute = (int(number) for number in numbers)
    start, end = hour * 60 + minute, end_hour * 60 + end_minute
    if start >= _DAY_MINUTES or end > _DAY_MINUTES:
        raise ConfigurationError(f"alert_quiet_hours: {text!r}: a time is beyond the day's end")
    return QuietWindow(
        days=_days(text, first, last),
        start_minute=start,
        length_minutes=(end - start) % _DAY_MINUTES or _DAY_MINUTES,
        zone=_zone(zone or "UTC"),
    )


def _days(text: str, first: str | None, last: str | None) -> frozenset[int]:
    if first is None:
        return frozenset(range(7))
    try:
        begin = _DAYS.index(first.lower())
        end = _DAYS.index((last or first).lower())
    except ValueError:
        raise ConfigurationError(f"alert_quiet_hours: {text!r}: days are {', '.join(_DAYS)}") from None
    return frozenset((begin + n) % 7 for n in range((end - begin) % 7 + 1))


def _zone(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # here: most set-ups have no quiet hours

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigurationError(
            f"alert_quiet_hours: time zone {name!r} is not known here (Europe/Berlin, UTC, ...; a machine without "
            "time zones needs: pip install tzdata)"
        ) from None
