"""Quiet hours: over midnight, over weekends, over the change of clocks."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.alerts.schedule import parse_quiet_hours
from rag_otel.errors import ConfigurationError

BERLIN = "Europe/Berlin"


def at(text: str, zone: str = BERLIN) -> float:
    """Seconds since the epoch of a wall-clock time."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("window", "now", "end"),
    [
        ("22:00-07:00", "2026-11-18 21:59:59", None),
        ("22:00-07:00", "2026-11-18 22:00:00", "2026-11-19 07:00:00"),
        ("22:00-07:00", "2026-11-19 03:00:00", "2026-11-19 07:00:00"),
        ("22:00-07:00", "2026-11-19 07:00:00", None),
        ("12:00-13:30", "2026-11-19 13:29:59", "2026-11-19 13:30:00"),
        ("fri 22:00-07:00", "2026-11-21 03:00:00", "2026-11-21 07:00:00"),  # Saturday morning: the window is Friday's
        ("fri 22:00-07:00", "2026-11-21 23:00:00", None),
        ("sat-sun 00:00-24:00", "2026-11-21 12:00:00", "2026-11-23 00:00:00"),
        ("sat-mon 00:00-24:00", "2026-11-22 12:00:00", "2026-11-24 00:00:00"),
        ("22:00-07:00", "2026-03-29 01:00:00", "2026-03-29 07:00:00"),  # the clocks go forward at 02:00
        ("22:00-07:00", "2026-10-25 01:00:00", "2026-10-25 07:00:00"),  # and back at 03:00
    ],
)
def test_when_it_is_quiet_and_until_when(window: str, now: str, end: str | None) -> None:
    """The end is that of the wall clock; windows without a gap are one."""
    found = parse_quiet_hours([f"{window} {BERLIN}"]).end_at(at(now))
    assert found == (None if end is None else at(end))


def test_windows_may_overlap() -> None:
    """Nights and weekends: Friday's night runs into the weekend, and that into Monday morning."""
    quiet = parse_quiet_hours(["22:00-07:00 Europe/Berlin", "sat-sun 00:00-24:00 Europe/Berlin"])
    assert quiet.end_at(at("2026-11-20 23:00:00")) == at("2026-11-23 07:00:00")


def test_without_a_zone_it_is_utc() -> None:
    """Said in the docs, so nobody has to guess where the server stands."""
    assert parse_quiet_hours(["22:00-07:00"]).end_at(at("2026-11-19 23:30:00", "UTC")) == at(
        "2026-11-20 07:00:00", "UTC"
    )


@given(
    now=st.floats(0, 4e9),
    hours=st.tuples(st.integers(0, 23), st.integers(0, 24)),
    zone=st.sampled_from([BERLIN, "America/New_York", "Australia/Lord_Howe"]),
)
def test_the_end_is_always_ahead_and_always_comes(now: float, hours: tuple[int, int], zone: str) -> None:
    """At any time, in any zone: an end in the past would be a busy loop, one that never comes a lost alert."""
    window = f"{hours[0]:02}:00-{hours[1]:02}:00 {zone}"
    end = parse_quiet_hours([window]).end_at(now)
    if end is not None:
        assert now < end
        always = hours[0] == hours[1] or hours == (0, 24)
        assert always or end - now <= 26 * 3600


@pytest.mark.parametrize(
    "text", ["", "22-07", "25:00-07:00", "24:00-07:00", "22:00-24:30", "xyz 22:00-07:00", "22:00-07:00 Mars/Olympus"]
)
def test_a_window_that_makes_no_sense_is_refused_at_start_up(text: str) -> None:
    """Not at ten in the evening."""
    with pytest.raises(ConfigurationError, match="alert_quiet_hours"):
        parse_quiet_hours([text])
