"""The project of Phoenix that a command reads, from when until when; and how one waits for what was sent to it."""

from __future__ import annotations

import argparse
import contextlib
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

from rag_otel.errors import ConfigurationError, RagOtelError
from rag_otel.safety.redaction import redacted_text
from rag_otel.settings import Settings
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.project import StoredProject

PHOENIX_TIMEOUT_S: Final = 120.0
"""For one request."""
_POLL_S: Final = 0.2
_LISTED: Final = 10
"""Projects that an error names."""
_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

T = TypeVar("T")


def phoenix_project(arguments: argparse.Namespace, settings: Settings) -> StoredProject:
    """The project of the settings, between the times of the arguments. Raises ConfigurationError where its address or
    name is missing, or Phoenix has no such project, and the errors of the client."""
    if settings.phoenix_endpoint is None:
        raise ConfigurationError(
            "Phoenix's address is missing: --phoenix-endpoint URL (environment: RAG_OTEL_PHOENIX_ENDPOINT)"
        )
    if settings.project_name is None:
        raise ConfigurationError("the project is missing: --project NAME (environment: RAG_OTEL_PROJECT_NAME)")
    now = datetime.now(UTC)
    given = (getattr(arguments, name, None) for name in ("since", "until"))
    since, until = (None if text is None else point_in_time(text, now=now) for text in given)
    client = PhoenixClient(settings.phoenix_endpoint, api_key=settings.phoenix_api_key, timeout_s=PHOENIX_TIMEOUT_S)
    known = client.projects()
    if settings.project_name not in known:
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        listed = ", ".join(known[:_LISTED]) or "none"
        where = f"Phoenix at {redacted_text(settings.phoenix_endpoint)}"
        raise ConfigurationError(f"{where} has no project {settings.project_name!r}; it has: {listed}{more}")
    return StoredProject(client=client, name=settings.project_name, since=since, until=until)


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


def once_stored(read: Callable[[], T], timeout_s: float) -> T | None:
    """What `read` returns, called until that is something or the time is over; else None. Errors of the client count as
    nothing found: a project exists once its first span has come."""
    deadline = time.monotonic() + timeout_s
    while True:
        with contextlib.suppress(RagOtelError):
            if found := read():
                return found
        if time.monotonic() >= deadline:
            return None
        time.sleep(_POLL_S)
