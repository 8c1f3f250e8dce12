"""Phoenix as commands reach it: its client by the settings, and the times of `--since` and `--until`."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Any, Final

from rag_otel.cli.points_in_time import point_in_time
from rag_otel.errors import ConfigurationError
from rag_otel.settings import Settings
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

_TIMEOUT_S: Final = 120.0


def phoenix_client(settings: Settings) -> PhoenixClient:
    """The client of the configured Phoenix; a request may take 120 s. Raises ConfigurationError without an address."""
    if settings.phoenix_endpoint is None:
        raise ConfigurationError(
            "Phoenix's address is missing: --phoenix-endpoint URL (environment: RAG_OTEL_PHOENIX_ENDPOINT)"
        )
    return PhoenixClient(settings.phoenix_endpoint, api_key=settings.phoenix_api_key, timeout_s=_TIMEOUT_S)


def time_bounds(arguments: argparse.Namespace) -> dict[str, Any]:
    """`since` and `until` as times, of those that were given. Raises ConfigurationError."""
    now = datetime.now(UTC)
    given = (("since", arguments.since), ("until", arguments.until))
    return {name: point_in_time(text, now=now) for name, text in given if text is not None}
