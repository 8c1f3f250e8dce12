"""Ledgers of every kind: memory, an SQLite file, a real Redis server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_otel.budgets.ledger import Ledger, MemoryLedger
from rag_otel.budgets.redis_ledger import RedisLedger
from rag_otel.budgets.sqlite_ledger import SqliteLedger

MakeLedger = Callable[[], Ledger]
"""Another connection to the same books. Those in memory are one object."""


@pytest.fixture(params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.server)])
def make_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeLedger]:
    """Connections to empty books of one kind."""
    made: list[Ledger] = []

    def keep(ledger: Ledger) -> Ledger:
        made.append(ledger)
        return ledger

    if request.param == "memory":
        only = MemoryLedger()
        yield lambda: only
    elif request.param == "sqlite":
        yield lambda: keep(SqliteLedger(tmp_path / "books.sqlite"))
    else:
        import redis

        url = request.getfixturevalue("redis_url")
        with redis.Redis.from_url(url) as client:
            client.flushdb()
        yield lambda: keep(RedisLedger(url))
    for ledger in made:
        ledger.close()
