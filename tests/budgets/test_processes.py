"""Real processes that share a budget."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from testkit.warm_python import warm_python
from tests.budgets.spending_process import CONCURRENCY, MOST_USD

pytestmark = pytest.mark.server


def _start(store: str, *more: str) -> subprocess.Popen[str]:
    command = [warm_python(), "-m", "tests.budgets.spending_process", store, "60", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the budget is kept; empty."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'budgets.sqlite'}"
    import redis

    url = request.getfixturevalue("redis_url")
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return str(url)


def test_four_processes_at_full_load_share_one_budget(store: str) -> None:
    """$1: together they spend nearly all of it, and at most what the calls under way cost beyond it. One more process
    has reserved what it could and is killed: its reservations are given back."""
    holder = _start(store, "hold")
    assert holder.stdout is not None
    assert holder.stdout.readline()
    holder.kill()
    holder.wait(10)
    processes = [_start(store) for _ in range(4)]
    lines = [process.communicate(timeout=90)[0].split() for process in processes]
    spent = sum(float(line[0]) for line in lines)
    assert all(process.returncode == 0 for process in processes)
    assert all(int(line[1]) > 0 for line in lines), "a process was never refused"
    assert 0.9 < spent <= 1.0 + len(processes) * CONCURRENCY * MOST_USD
