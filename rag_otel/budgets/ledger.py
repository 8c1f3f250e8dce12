"""Where callers write down what they are about to spend and what they have spent: reserve -> settle, or expire.

A call of a judge reserves its expected cost first and settles its real cost after it. What is reserved counts as spent,
so the amounts together exceed a limit by at most what the calls under way cost more than was expected. The reservation
of a process that died expires.

What is spent in an account is forgotten when its window (an hour, a day) ends, or never (a run), or it refills evenly,
as with so many calls a minute. `Ledger` does the arithmetic; accounts are kept in memory, in an SQLite file or on a
Redis server.
"""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from rag_otel.safety.fork import after_fork_in_child

KEEP_S: Final = 86_400.0
"""An account that has not changed for so long is forgotten: its window is over."""
_MANY: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One account that a reservation is booked in."""

    scope: str
    """The account's name, without the window."""
    window_s: int = 0
    """Length of its windows in seconds; 0: it has none."""
    amount: float
    """Expected cost; in accounts that processes share, whole units."""
    limit: float
    refill_per_s: float = 0.0
    """How much comes back in a second, in an account without windows, reservations included. `limit` is what may be
    taken at once."""
    overdraws: bool = False
    """Of an account that refills: never refused, but told how long to wait (`Entry.wait_s`)."""

    def account(self, now: float) -> str:
        """The account's name in the window that `now` is in."""
        return self.scope + window_suffix(self.window_s, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line as it was booked."""

    account: str
    """`<scope>@<length of the window>/<its number>`."""
    amount: float
    refill_per_s: float = 0.0
    wait_s: float = 0.0
    """Seconds until an overdrawn account has refilled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """An account in its present window."""

    window: int
    """Number of the window: seconds since the epoch, divided by its length."""
    spent: float
    reserved: float
    left_s: float
    """Seconds until the window ends."""


@dataclass(slots=True)
class Account:
    """What is kept under an account's name."""

    spent: float = 0
    reserved: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Lease -> (amount, when it expires). One that has expired stays here: if the call was only slow, it is settled."""
    changed_at: float = 0.0

    def under_way(self, now: float) -> float:
        """What is reserved and has not expired."""
        return sum([amount for amount, until in self.reserved.values() if until > now]) if self.reserved else 0

    def has_room(self, line: Line, amount: float, now: float) -> bool:
        """Whether the line may be booked."""
        if line.refill_per_s:
            self._refill(line.refill_per_s, now)
        return line.overdraws or 0 < line.limit >= self.spent + self.under_way(now) + amount

    def book(self, lease: str, line: Line, amount: float, now: float, expires_s: float) -> Entry:
        rate, wait_s, self.changed_at = line.refill_per_s, 0.0, now
        if rate:  # it refills while the call is under way, so what is reserved is taken at once
            self.spent += amount
            wait_s = max(0.0, self.spent - line.limit) / rate
        else:
            self.reserved[lease] = amount, now + expires_s
        return Entry(account=line.account(now), amount=amount, refill_per_s=rate, wait_s=wait_s)

    def wait_s(self, line: Line, now: float) -> float:
        """Seconds until an account that refills has room for the line."""
        self._refill(line.refill_per_s, now)
        return max(0.0, self.spent + line.amount - line.limit) / line.refill_per_s

    def settle(self, lease: str, entry: Entry, spent: float, now: float) -> None:
        if entry.refill_per_s:
            self._refill(entry.refill_per_s, now)
            self.spent += spent - entry.amount
        elif self.reserved.pop(lease, None) is not None:
            self.spent += spent

    def _refill(self, per_s: float, now: float) -> None:
        self.spent = max(0.0, self.spent - max(0.0, now - self.changed_at) * per_s)
        self.changed_at = now

    def as_text(self) -> str:
        return json.dumps([self.spent, self.changed_at, self.reserved], separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str | None) -> Account:
        spent, changed_at, reserved = json.loads(text) if text else (0, 0.0, {})
        leases = {lease: (amount, until) for lease, (amount, until) in reserved.items()}
        return cls(spent=spent, changed_at=changed_at, reserved=leases)


class Ledger(ABC):
    """Reservations and what was spent, in accounts that this process reckons with. Thread-safe; may block on a disk or
    a network. Raises `LedgerError` if it cannot be reached."""

    blocks = True
    """True if a call may wait for a disk or a network, so that an event loop must not make it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds, the same for all who share the accounts."""
        self._clock = clock
        self._lock = threading.RLock()
        after_fork_in_child(self.after_fork)

    def reserve(self, lease: str, lines: Sequence[Line], expires_s: float) -> list[Entry] | int:
        """Books all lines under the name `lease`, or none: then returns the index of the line whose limit is reached.

        A line is refused if spent, reserved and its amount together are more than its limit. An amount above the limit
        counts as the limit, so that an empty account always pays for one call.
        """
        now = self._clock()
        with self._accounts([line.account(now) for line in lines]) as accounts:
            amounts = [line.amount if line.overdraws else min(line.amount, line.limit) for line in lines]
            asked = list(zip(accounts, lines, amounts, strict=True))
            for index, (account, line, amount) in enumerate(asked):
                if not account.has_room(line, amount, now):
                    return index
            return [account.book(lease, line, amount, now, expires_s) for account, line, amount in asked]

    def settle(self, lease: str, entries: Sequence[Entry], spent: Sequence[float]) -> None:
        """Replaces what was reserved for the entries by what was spent. The second time for a lease does nothing, but
        in accounts that refill. Also after the reservation has expired: what was spent was spent."""
        now = self._clock()
        with self._accounts([entry.account for entry in entries]) as accounts:
            for account, entry, amount in zip(accounts, entries, spent, strict=True):
                account.settle(lease, entry, amount, now)

    def balance(self, scope: str, window_s: int) -> Balance:
        """What stands in an account now."""
        now = self._clock()
        window, left_s = (int(now // window_s), window_s - now % window_s) if window_s else (0, 0.0)
        with self._accounts([scope + window_suffix(window_s, now)]) as (account,):
            return Balance(window=window, spent=account.spent, reserved=account.under_way(now), left_s=left_s)

    def spending(self, window_s: int) -> dict[str, float]:
        """Scope -> what was spent in the present window, of every account with windows of this length."""
        end = window_suffix(window_s, self._clock())
        return {name.removesuffix(end): each.spent for name, each in self._ending_in(end).items() if each.spent}

    @abstractmethod
    def agree(self, key: str, value: str, keep_s: float) -> str:
        """Stores `value` under `key` unless there is one. Returns the one that is stored."""

    @abstractmethod
    def close(self) -> None:
        """Safe to call twice."""

    @abstractmethod
    def after_fork(self) -> None:
        """Called in a forked child, which has none of the other threads."""

    @abstractmethod
    def _accounts(self, names: Sequence[str]) -> AbstractContextManager[Sequence[Account]]:
        """The accounts of these names, which nobody else changes meanwhile; one that is not there yet is empty. What is
        changed in them is kept."""

    @abstractmethod
    def _ending_in(self, suffix: str) -> Mapping[str, Account]:
        """Name -> account, for all names with this end."""


def window_suffix(window_s: int, now: float) -> str:
    """The end of the names of all accounts with windows of this length, in the present one."""
    return f"@{window_s}/{int(now // window_s)}" if window_s else "@"


class MemoryLedger(Ledger):
    """The ledger of one process."""

    blocks = False

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock)
        self._kept: dict[str, Account] = {}
        self._agreed: dict[str, tuple[str, float]] = {}
        self._look_at = _MANY
        """With more accounts than these, those that can be forgotten are looked for."""

    def agree(self, key: str, value: str, keep_s: float) -> str:
        with self._lock:
            now = self._clock()
            self._agreed = {name: each for name, each in self._agreed.items() if each[1] > now}
            return self._agreed.setdefault(key, (value, now + keep_s))[0]

    def wait_s(self, line: Line) -> float:
        """Seconds until the line alone, of an account that refills, would be booked. Books nothing."""
        with self._lock:
            now = self._clock()
            account = self._kept.get(line.account(now))
            return 0.0 if account is None else account.wait_s(line, now)

    def after_fork(self) -> None:
        """The child has spent nothing so far."""
        self._lock = threading.RLock()
        self._kept.clear()

    def close(self) -> None:
        """Keeps nothing."""

    @contextmanager
    def _accounts(self, names: Sequence[str]) -> Iterator[Sequence[Account]]:
        with self._lock:
            if len(self._kept) > self._look_at:
                since = self._clock() - KEEP_S
                self._kept = {name: each for name, each in self._kept.items() if each.changed_at > since}
                self._look_at = max(_MANY, 2 * len(self._kept))
            yield [self._kept.setdefault(name, Account()) for name in names]

    def _ending_in(self, suffix: str) -> Mapping[str, Account]:
        with self._lock:
            return {name: account for name, account in self._kept.items() if name.endswith(suffix)}
