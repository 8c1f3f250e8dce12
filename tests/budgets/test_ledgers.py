"""What every ledger promises: in memory, in an SQLite file, on a Redis server."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rag_otel.budgets.ledger import Entry, Ledger, Line
from rag_otel.budgets.redis_ledger import RedisLedger
from rag_otel.budgets.sqlite_ledger import SqliteLedger
from rag_otel.errors import ConfigurationError, LedgerError
from testkit.polling import eventually
from tests.budgets.conftest import MakeLedger

HOUR = 3_600


def _line(amount: int, limit: int = 100, scope: str = "usd") -> Line:
    return Line(scope=scope, window_s=HOUR, amount=amount, limit=limit)


def _booked(ledger: Ledger, lease: str, *lines: Line, expires_s: float = 60) -> list[Entry]:
    entries = ledger.reserve(lease, lines, expires_s)
    assert isinstance(entries, list)
    return entries


def test_what_is_reserved_counts_as_spent(make_ledger: MakeLedger) -> None:
    """Two connections to the same books; the second sees what the first has reserved."""
    one, other = make_ledger(), make_ledger()
    entries = _booked(one, "a", _line(70))
    assert other.reserve("b", [_line(40)], 60) == 0
    one.settle("a", entries, [20])
    assert (other.balance("usd", HOUR).spent, other.balance("usd", HOUR).reserved) == (20, 0)
    assert _booked(other, "b", _line(40))[0].amount == 40


def test_a_lease_is_settled_once(make_ledger: MakeLedger) -> None:
    """A repeated settlement, for example after a lost answer, books nothing."""
    ledger = make_ledger()
    entries = _booked(ledger, "a", _line(10))
    for _ in range(3):
        ledger.settle("a", entries, [30])
    assert ledger.balance("usd", HOUR).spent == 30


def test_all_lines_or_none(make_ledger: MakeLedger) -> None:
    """The index of the line that refuses is returned, and the others are not booked."""
    ledger = make_ledger()
    _booked(ledger, "a", _line(5, limit=5, scope="tokens"))
    assert ledger.reserve("b", [_line(1), _line(1, limit=5, scope="tokens")], 60) == 1
    assert ledger.balance("usd", HOUR).reserved == 0


def test_two_limits_of_one_account_count_once(make_ledger: MakeLedger) -> None:
    """A limit of evaluations an hour beside that of a sampling policy: the smaller one refuses."""
    ledger = make_ledger()
    entries = _booked(ledger, "a", _line(1, limit=2), _line(1, limit=100))
    assert ledger.balance("usd", HOUR).reserved == 1
    ledger.settle("a", entries, [1, 1])
    assert (ledger.balance("usd", HOUR).spent, ledger.balance("usd", HOUR).reserved) == (1, 0)
    assert ledger.reserve("b", [_line(2, limit=2), _line(2, limit=100)], 60) == 0


def test_an_empty_account_pays_for_one_call(make_ledger: MakeLedger) -> None:
    """A call that is expected to cost more than the whole limit is not refused for ever; a limit of nothing refuses."""
    ledger = make_ledger()
    assert _booked(ledger, "a", _line(500))[0].amount == 100
    assert ledger.reserve("b", [_line(1)], 60) == 0
    assert ledger.reserve("c", [_line(1, limit=0, scope="nothing")], 60) == 0


def test_a_reservation_that_nobody_settles_is_given_back(make_ledger: MakeLedger) -> None:
    """As after a crash. If the call was only slow, what it cost is booked all the same."""
    ledger = make_ledger()
    began = time.monotonic()
    entries = _booked(ledger, "crashed", _line(100), expires_s=0.2)
    refused = ledger.reserve("b", [_line(1)], 60) == 0
    assert refused or time.monotonic() - began >= 0.2
    assert eventually(lambda: isinstance(ledger.reserve(f"c{time.monotonic_ns()}", [_line(50)], 60), list))
    ledger.settle("crashed", entries, [80])
    assert ledger.balance("usd", HOUR).spent == 80


def test_processes_agree_on_the_first_value(make_ledger: MakeLedger) -> None:
    """The first one that is stored counts for all."""
    one, other = make_ledger(), make_ledger()
    assert one.agree("rates/1", "a", 60) == "a"
    assert other.agree("rates/1", "b", 60) == "a"
    assert other.agree("rates/2", "b", 60) == "b"


def test_threads_do_not_overspend(make_ledger: MakeLedger) -> None:
    """Eight threads at full load on a limit of 200 calls: 200 are admitted, no more and no less."""
    admitted = []
    lock = threading.Lock()

    def work(number: int) -> None:
        ledger = make_ledger()
        for call in range(50):
            lease = f"{number}-{call}"
            entries = ledger.reserve(lease, [_line(1, limit=200)], 60)
            if isinstance(entries, list):
                with lock:
                    admitted.append(lease)
                ledger.settle(lease, entries, [1])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(admitted) == 200
    assert make_ledger().balance("usd", HOUR).spent == 200


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "books.sqlite").write_text("this is a text and no database, whatever its name says" * 10)
    with pytest.raises(ConfigurationError, match=r"books\.sqlite"):
        SqliteLedger(tmp_path / "books.sqlite")


def test_a_server_that_is_away_is_an_error_of_its_own() -> None:
    """The error names no password."""
    ledger = RedisLedger("redis://:secret-word@127.0.0.1:1/0")
    with pytest.raises(LedgerError) as raised:
        ledger.reserve("a", [_line(1)], 60)
    assert "secret-word" not in str(raised.value)


def test_the_books_of_a_file_outlive_the_process(tmp_path: Path) -> None:
    """A restart starts with what was spent before."""
    first = SqliteLedger(tmp_path / "books.sqlite")
    first.settle("a", _booked(first, "a", _line(60)), [60])
    first.close()
    assert SqliteLedger(tmp_path / "books.sqlite").reserve("b", [_line(50)], 60) == 0


@pytest.mark.parametrize("store", ["sqlite", pytest.param("redis", marks=pytest.mark.server)])
def test_a_forked_child_books_in_the_same_books(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """With a connection of its own, while the parent goes on with its own: gunicorn with preload."""
    code = (
        "import os, sys\n"
        "from rag_otel.budgets.build import open_ledger\n"
        "from rag_otel.budgets.ledger import Line\n"
        "from rag_otel.settings import Settings\n"
        "from rag_otel.settings.groups import JudgeSettings\n"
        "ledger = open_ledger(Settings(judge=JudgeSettings(budget_store=sys.argv[1])))\n"
        "def spend(name):\n"
        "    for call in range(50):\n"
        "        line = Line(scope='fork', window_s=86400, amount=1, limit=1000)\n"
        "        entries = ledger.reserve(f'{name}-{call}', [line], 60)\n"
        "        ledger.settle(f'{name}-{call}', entries, [1])\n"
        "spend('before')\n"
        "child = os.fork()\n"
        "spend('child' if child == 0 else 'parent')\n"
        "if child == 0: os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "print(ledger.balance('fork', 86400).spent)\n"
    )
    url = f"sqlite:{tmp_path / 'books.sqlite'}" if store == "sqlite" else request.getfixturevalue("redis_url")
    ran = subprocess.run([sys.executable, "-c", code, str(url)], capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "150", ran.stderr
