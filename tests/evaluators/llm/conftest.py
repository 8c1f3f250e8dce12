"""What the tests of the calls to language models share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def _litellm_is_loaded(litellm_is_loaded: None) -> None:
    pass


@pytest.fixture(params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.server)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A setting that names an empty cache."""
    if request.param == "memory":
        return "memory"
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'answers.sqlite'}"
    import redis

    url = request.getfixturevalue("redis_url")
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return str(url)
