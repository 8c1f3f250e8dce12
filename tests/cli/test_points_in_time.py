"""Points in time as options take them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rag_otel.cli.phoenix_project import point_in_time
from rag_otel.errors import ConfigurationError


def test_moments() -> None:
    """Ages and dates; a date without a zone is UTC, and what is neither is named."""
    now = datetime(2026, 5, 8, tzinfo=UTC)
    assert point_in_time("7d", now=now) == datetime(2026, 5, 1, tzinfo=UTC)
    assert point_in_time("1.5h", now=now) == now - timedelta(minutes=90)
    assert point_in_time("2026-05-01", now=now) == datetime(2026, 5, 1, tzinfo=UTC)
    assert point_in_time("2026-05-01T02:00+02:00", now=now) == datetime(2026, 5, 1, tzinfo=UTC)
    with pytest.raises(ConfigurationError, match="'soon' is not a time"):
        point_in_time("soon", now=now)
