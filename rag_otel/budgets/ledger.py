"""Where processes write down what they have spent and what they are about to spend.

A call of a judge reserves its expected cost first and settles its real cost after it. What is reserved counts as spent,
so the amounts together exceed a limit by at most what the calls under way cost more than was expected. The reservation
of a process that died expires.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rag_otel.safety.fork import after_fork_in_child


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One account that a reservation is booked in."""

    scope: str
    """The account's name, without the window."""
    window_s: int
    amount: int
    """Expected cost, in the account's whole units."""
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line as it was booked."""

    account: str
    """`<scope>@<length of the window>/<its number>`."""
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """An account in its present window."""

    window: int
    """Number of the window: seconds since the epoch, divided by its length."""
    spent: int
    reserved: int
    left_s: float
    """Seconds until the window ends."""


class Ledger(Protocol):
    """Books of account. Thread-safe; may block on a disk or a network. Raises `LedgerError` if it cannot be reached."""

    blocks: bool
    """True if a call may wait for a disk or a network, so that an event loop must not make it."""

    def reserve(self, lease: str, lines: Sequence[Line], expires_s: float) -> list[Entry] | int:
        """Books all lines under the name `lease`, or none: then returns the index of the line whose limit is reached.

        A line is refused if spent, reserved and its amount together are more than its limit. An amount above the limit
        counts as the limit, so that an empty account always pays for one call.
        """
        ...

    def settle(self, lease: str, entries: Sequence[Entry], spent: Sequence[int]) -> None:
        """Replaces what was reserved for the entries by what was spent. The second time for a lease does nothing. Also
        after the reservation has expired: what was spent was spent."""
        ...

    def balance(self, scope: str, window_s: int) -> Balance: ...

    def spending(self, window_s: int) -> dict[str, int]:
        """Scope -> what was spent in the present window, of every account with windows of this length."""
        ...

    def agree(self, key: str, value: str, keep_s: float) -> str:
        """Stores `value` under `key` unless there is one. Returns the one that is stored."""
        ...

    def close(self) -> None:
        """Safe to call twice."""
        ...


def account_of(line_scope: str, window_s: int, now: float) -> str:
    """The account of a scope in the window that `now` is in."""
    return line_scope + window_suffix(window_s, now)


def window_suffix(window_s: int, now: float) -> str:
    """The end of the names of all accounts with windows of this length, in the present one."""
    return f"@{window_s}/{int(now // window_s)}"


@dataclass(kw_only=True)
class _Account:
    spent: int = 0
    reserved: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Lease -> (amount, when it expires)."""
    forget_at: float = 0.0

    def expire(self, now: float) -> None:
        for lease in [lease for lease, (_, until) in self.reserved.items() if until <= now]:
            del self.reserved[lease]


class MemoryLedger:
    """The ledger of one process."""

    blocks = False

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._accounts: defaultdict[str, _Account] = defaultdict(_Account)
        self._open: dict[str, float] = {}
        """Leases that are not settled -> when they may be forgotten."""
        self._agreed: dict[str, tuple[str, float]] = {}
        after_fork_in_child(self.after_fork)

    def reserve(self, lease: str, lines: Sequence[Line], expires_s: float) -> list[Entry] | int:
        with self._lock:
            now = self._clock()
            self._forget(now)
            entries = []
            for index, line in enumerate(lines):
                name, amount = account_of(line.scope, line.window_s, now), min(line.amount, line.limit)
                account = self._accounts[name]
                account.expire(now)
                account.forget_at = now + 2 * line.window_s
                if (
                    line.limit <= 0
                    or account.spent + sum(each for each, _ in account.reserved.values()) + amount > line.limit
                ):
                    return index
                entries.append(Entry(account=name, amount=amount))
            for entry in entries:
                self._accounts[entry.account].reserved[lease] = (entry.amount, now + expires_s)
            self._open[lease] = now + max((2 * line.window_s for line in lines), default=0)
            return entries

    def settle(self, lease: str, entries: Sequence[Entry], spent: Sequence[int]) -> None:
        with self._lock:
            if self._open.pop(lease, None) is None:
                return
            for entry, amount in zip(entries, spent, strict=True):
                account = self._accounts[entry.account]
                account.reserved.pop(lease, None)
                account.spent += amount
                account.forget_at = max(account.forget_at, self._clock() + 86_400)

    def balance(self, scope: str, window_s: int) -> Balance:
        with self._lock:
            now = self._clock()
            account = self._accounts.get(account_of(scope, window_s, now)) or _Account()
            account.expire(now)
            reserved = sum(amount for amount, _ in account.reserved.values())
            return Balance(
                window=int(now // window_s), spent=account.spent, reserved=reserved, left_s=window_s - now % window_s
            )

    def spending(self, window_s: int) -> dict[str, int]:
        with self._lock:
            end = window_suffix(window_s, self._clock())
            spent = {name: each.spent for name, each in self._accounts.items() if each.spent}
            return {name.removesuffix(end): amount for name, amount in spent.items() if name.endswith(end)}

    def agree(self, key: str, value: str, keep_s: float) -> str:
        with self._lock:
            now = self._clock()
            found = self._agreed.get(key)
            if found is None or found[1] <= now:
                self._agreed = {name: each for name, each in self._agreed.items() if each[1] > now}
                self._agreed[key] = found = (value, now + keep_s)
            return found[0]

    def after_fork(self) -> None:
        """The child has spent nothing so far."""
        self._lock = threading.RLock()
        self._accounts.clear()
        self._open.clear()

    def close(self) -> None:
        """Keeps nothing."""

    def _forget(self, now: float) -> None:
        if len(self._accounts) > 1_000 or len(self._open) > 10_000:
            old = [name for name, each in self._accounts.items() if each.forget_at <= now and not each.reserved]
            for name in old:
                del self._accounts[name]
            self._open = {lease: until for lease, until in self._open.items() if until > now}
