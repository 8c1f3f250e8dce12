"""Real processes that share a budget are killed in the midst of their calls, while their clocks jump."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rag_otel.budgets.sqlite_ledger import SqliteLedger
from testkit.polling import eventually
from testkit.warm_python import kill_9, warm_python
from tests.budgets.spending_process import CONCURRENCY, MOST_USD

pytestmark = pytest.mark.server
DAY = 86_400
LIMIT_USD = 1.0
PROCESSES = 2


@contextmanager
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    """Those in the list are killed at the end."""
    running: list[subprocess.Popen[str]] = []
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.wait(30)


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.long)])
def test_killed_processes_overspend_by_their_calls_under_way(tmp_path: Path, kills: int) -> None:
    """The bill, which nobody's death shortens, is at most the limit, the calls that were under way at a kill, and those
    that were under way at the end. Takes some seconds, because every process has to start."""
    bill, books = tmp_path / "bill", tmp_path / "budgets.sqlite"
    bill.touch()
    noon = time.time() // DAY * DAY + DAY / 2
    command = [warm_python(), "-m", "tests.budgets.spending_process", f"sqlite:{books}", "120", "bill", str(bill)]

    def paid() -> list[float]:
        return [float(line) for line in bill.read_text().splitlines()]

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([*command, str(noon)], stdout=subprocess.PIPE, text=True)

    rng = random.Random(kills)
    with processes() as running:
        running += [start() for _ in range(PROCESSES)]
        for number in range(kills):
            enough = (number + 1) * 250 // kills
            eventually(lambda enough=enough: len(paid()) >= enough, within_s=120)  # type: ignore[misc]
            victim = running.pop(rng.randrange(PROCESSES))
            kill_9(victim)
            victim.wait(30)
            running.append(start())
        for process in running:
            assert process.wait(120) == 0
    spent = sum(paid())
    ledger = SqliteLedger(books, clock=lambda: noon)
    (booked,) = [amount for scope, amount in ledger.spending(DAY).items() if not scope.endswith("!refused")]
    ledger.close()
    under_way = CONCURRENCY * MOST_USD
    assert 0.9 * LIMIT_USD - kills * under_way < spent <= LIMIT_USD + (kills + PROCESSES) * under_way
    assert booked / 1e9 <= LIMIT_USD + PROCESSES * under_way
    assert spent - booked / 1e9 == pytest.approx(0, abs=kills * under_way), (
        "only calls of killed processes are not booked"
    )
