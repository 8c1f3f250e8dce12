"""Phoenix as commands reach it: client and project by the settings, the times of `--since` and `--until`, errors."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from rag_otel.cli.points_in_time import point_in_time
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.settings import Settings
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

PHOENIX_TIMEOUT_S: Final = 120.0
"""For one request."""
_LISTED: Final = 10
"""Projects that an error names."""


def phoenix_client(settings: Settings) -> PhoenixClient:
    """The client of the configured Phoenix; a request may take 120 s. Raises ConfigurationError without an address."""
    if settings.phoenix_endpoint is None:
        raise ConfigurationError(
            "Phoenix's address is missing: --phoenix-endpoint URL (environment: RAG_OTEL_PHOENIX_ENDPOINT)"
        )
    return PhoenixClient(settings.phoenix_endpoint, api_key=settings.phoenix_api_key, timeout_s=PHOENIX_TIMEOUT_S)


@contextmanager
def phoenix_errors(settings: Settings) -> Iterator[None]:
    """What Phoenix fails with inside becomes a ConfigurationError that names its address."""
    try:
        yield
    except (RetryableError, PermanentError) as error:
        raise ConfigurationError(f"Phoenix at {settings.phoenix_endpoint}: {error}") from None


def project_name(settings: Settings) -> str:
    """The configured project. Raises ConfigurationError without one."""
    if settings.project_name is None:
        raise ConfigurationError("the project is missing: --project NAME (environment: RAG_OTEL_PROJECT_NAME)")
    return settings.project_name


def check_project(client: PhoenixClient, project: str) -> None:
    """Raises ConfigurationError where Phoenix has no such project, and the errors of the client."""
    known = client.projects()
    if project not in known:
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        listed = ", ".join(known[:_LISTED]) or "none"
        raise ConfigurationError(f"Phoenix has no project {project!r}; it has: {listed}{more}")


def time_bounds(arguments: argparse.Namespace) -> dict[str, Any]:
    """`since` and `until` as times, of those that were given. Raises ConfigurationError."""
    now = datetime.now(UTC)
    given = (("since", arguments.since), ("until", arguments.until))
    return {name: point_in_time(text, now=now) for name, text in given if text is not None}
