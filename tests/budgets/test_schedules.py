"""Random schedules of reservations, settlements, crashes, slow calls and clock jumps, against a model of the promise:
an account is overspent by at most what the calls under way cost more than they had reserved."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from rag_otel.budgets.ledger import Entry, Ledger, Line, MemoryLedger
from rag_otel.budgets.sqlite_ledger import SqliteLedger
from testkit.size import examples

HOUR, LIMIT, EXPIRES_S = 3_600, 100, 60.0


class _Call:
    """A call under way: what it reserved, and when that expires."""

    def __init__(self, lease: str, entries: list[Entry], expires_at: float) -> None:
        self.lease, self.entries, self.expires_at = lease, entries, expires_at
        self.account, self.amount = entries[0].account, entries[0].amount
        self.latest = expires_at - EXPIRES_S
        """The latest time that the clock has shown since the call began."""


class Schedules(RuleBasedStateMachine):
    """One ledger; every rule is something that a process, or the machine, may do at any time."""

    ledgers: list[Ledger]

    def open(self, clock: Any) -> list[Ledger]:
        only = MemoryLedger(clock)
        return [only, only]

    @initialize()
    def begin(self) -> None:
        self.now = 1_000_000.0 * HOUR
        self.ledgers = self.open(lambda: self.now)
        self.names = itertools.count()
        self.calls: list[_Call] = []
        self.crashed: list[_Call] = []
        self.spent: dict[str, int] = {}
        self.allowed: dict[str, int] = {}
        """Account -> the most that it may come to: the limit and what calls under way may cost beyond it."""

    def _reserved(self, account: str, *, ever_expired: bool) -> int:
        """What calls have reserved. One that has expired counts if the clock was set back since and the books still
        have it (`ever_expired`)."""
        calls = [call for call in (*self.calls, *self.crashed) if call.account == account]
        return sum(call.amount for call in calls if call.expires_at > (self.now if ever_expired else call.latest))

    @rule(amount=st.integers(1, 150), process=st.integers(0, 1))
    def reserve(self, amount: int, process: int) -> None:
        lease = str(next(self.names))
        entries = self.ledgers[process].reserve(
            lease, [Line(scope="usd", window_s=HOUR, amount=amount, limit=LIMIT)], 60
        )
        account = f"usd@{HOUR}/{int(self.now // HOUR)}"
        booked = self.spent.get(account, 0) + min(amount, LIMIT)
        if not isinstance(entries, list):
            assert booked + self._reserved(account, ever_expired=True) > LIMIT
        else:
            assert booked + self._reserved(account, ever_expired=False) <= LIMIT
            self.calls.append(_Call(lease, entries, self.now + EXPIRES_S))
            # From here on only the calls under way can take the account beyond its limit.
            self.allowed[account] = LIMIT

    @rule(data=st.data(), cost=st.integers(0, 300), process=st.integers(0, 1), times=st.integers(1, 2))
    def settle(self, data: st.DataObject, cost: int, process: int, times: int) -> None:
        if not self.calls:
            return
        call = self.calls.pop(data.draw(st.integers(0, len(self.calls) - 1)))
        covered = call.amount if call.expires_at > call.latest else 0
        for _ in range(times):
            self.ledgers[process].settle(call.lease, call.entries, [cost])
        self.spent[call.account] = self.spent.get(call.account, 0) + cost
        self.allowed[call.account] += max(0, cost - covered)

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        """The process is gone; its reservation is still in the books until it expires."""
        if self.calls:
            self.crashed.append(self.calls.pop(data.draw(st.integers(0, len(self.calls) - 1))))

    @rule(seconds=st.sampled_from([1.0, 30.0, 61.0, 4_000.0, -1.0, -30.0, -4_000.0]))
    def clock(self, seconds: float) -> None:
        self.now += seconds
        for call in (*self.calls, *self.crashed):
            call.latest = max(call.latest, self.now)

    @invariant()
    def the_books_are_right(self) -> None:
        account = f"usd@{HOUR}/{int(self.now // HOUR)}"
        balance = self.ledgers[0].balance("usd", HOUR)
        assert balance.spent == self.spent.get(account, 0)
        assert balance.spent <= self.allowed.get(account, LIMIT)

    def teardown(self) -> None:
        for ledger in self.ledgers:
            ledger.close()


class SqliteSchedules(Schedules):
    """Two connections to one file."""

    def open(self, clock: Any) -> list[Ledger]:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "books.sqlite"
        return [SqliteLedger(path, clock=clock), SqliteLedger(path, clock=clock)]

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestMemory = Schedules.TestCase
TestMemory.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)
TestSqlite = SqliteSchedules.TestCase
TestSqlite.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
