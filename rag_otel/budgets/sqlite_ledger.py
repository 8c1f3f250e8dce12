"""The ledger of the processes of one machine: an SQLite file."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rag_otel.budgets.ledger import Balance, Entry, Line, account_of, window_suffix
from rag_otel.delivery.sqlite_file import open_sqlite
from rag_otel.errors import ConfigurationError, LedgerError
from rag_otel.safety.fork import after_fork_in_child

_BUSY_S: Final = 10.0
_KEEP_S: Final = 172_800.0
_CLEAN_EVERY_S: Final = 600.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS spent (account TEXT PRIMARY KEY, amount INTEGER NOT NULL, forget_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS reserved (
    account TEXT, lease TEXT, amount INTEGER NOT NULL, expires_at REAL NOT NULL, PRIMARY KEY (account, lease));
CREATE TABLE IF NOT EXISTS settled (lease TEXT PRIMARY KEY, forget_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS agreed (key TEXT PRIMARY KEY, value TEXT NOT NULL, forget_at REAL NOT NULL);
"""


class SqliteLedger:
    """A `Ledger` in a file on a local disk. Every booking is a transaction, so a process that dies leaves the file
    consistent, and its reservations expire."""

    blocks = True

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        """Raises ConfigurationError if the file cannot be used."""
        self._path = Path(path)
        self._clock = clock
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._clean_at = 0.0
        after_fork_in_child(self.after_fork)
        try:
            with self._transaction():
                pass
        except LedgerError as error:
            raise ConfigurationError(f"budget_store {str(path)!r} cannot be used: {error}") from None

    def reserve(self, lease: str, lines: Sequence[Line], expires_s: float) -> list[Entry] | int:
        with self._transaction() as connection:
            now = self._clock()
            self._clean(connection, now)
            entries = []
            for index, line in enumerate(lines):
                account, amount = account_of(line.scope, line.window_s, now), min(line.amount, line.limit)
                spent, reserved = _sums(connection, account, now)
                if line.limit <= 0 or spent + reserved + amount > line.limit:
                    return index
                entries.append(Entry(account=account, amount=amount))
            connection.executemany(
                "INSERT INTO reserved VALUES (?, ?, ?, ?)",
                [(entry.account, lease, entry.amount, now + expires_s) for entry in entries],
            )
            return entries

    def settle(self, lease: str, entries: Sequence[Entry], spent: Sequence[int]) -> None:
        with self._transaction() as connection:
            forget_at = self._clock() + _KEEP_S
            first = connection.execute("INSERT OR IGNORE INTO settled VALUES (?, ?)", (lease, forget_at)).rowcount
            if not first:
                return
            for entry, amount in zip(entries, spent, strict=True):
                connection.execute("DELETE FROM reserved WHERE account = ? AND lease = ?", (entry.account, lease))
                connection.execute(
                    "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (account) DO UPDATE SET amount = amount + ?2",
                    (entry.account, amount, forget_at),
                )

    def balance(self, scope: str, window_s: int) -> Balance:
        with self._transaction() as connection:
            now = self._clock()
            spent, reserved = _sums(connection, account_of(scope, window_s, now), now)
        return Balance(window=int(now // window_s), spent=spent, reserved=reserved, left_s=window_s - now % window_s)

    def spending(self, window_s: int) -> dict[str, int]:
        with self._transaction() as connection:
            end = window_suffix(window_s, self._clock())
            rows = connection.execute(
                "SELECT account, amount FROM spent WHERE amount > 0 AND substr(account, -?) = ?", (len(end), end)
            ).fetchall()
        return {account.removesuffix(end): amount for account, amount in rows}

    def agree(self, key: str, value: str, keep_s: float) -> str:
        with self._transaction() as connection:
            now = self._clock()
            connection.execute("DELETE FROM agreed WHERE forget_at <= ?", (now,))
            connection.execute("INSERT OR IGNORE INTO agreed VALUES (?, ?, ?)", (key, value, now + keep_s))
            (found,) = connection.execute("SELECT value FROM agreed WHERE key = ?", (key,)).fetchone()
            return str(found)

    def after_fork(self) -> None:
        """A connection must not be used, or closed, by two processes: the child opens its own."""
        self._lock = threading.RLock()
        self._connection = None

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other process writes beside. Raises LedgerError."""
        with self._lock:
            try:
                connection = self._connection or self._open()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            except (OSError, sqlite3.Error) as error:
                self.close()
                raise LedgerError(f"{self._path}: {error}") from None

    def _open(self) -> sqlite3.Connection:
        self._connection = open_sqlite(self._path, _TABLES, busy_timeout_s=_BUSY_S)
        return self._connection

    def _clean(self, connection: sqlite3.Connection, now: float) -> None:
        if 0 <= now - self._clean_at < _CLEAN_EVERY_S:
            return
        self._clean_at = now
        connection.execute("DELETE FROM reserved WHERE expires_at <= ?", (now,))
        for table in ("spent", "settled"):
            connection.execute(f"DELETE FROM {table} WHERE forget_at <= ?", (now,))


def _sums(connection: sqlite3.Connection, account: str, now: float) -> tuple[int, int]:
    """What was spent in an account, and what is reserved and has not expired."""
    spent = connection.execute("SELECT amount FROM spent WHERE account = ?", (account,)).fetchone()
    (reserved,) = connection.execute(
        "SELECT COALESCE(SUM(amount), 0) FROM reserved WHERE account = ? AND expires_at > ?", (account, now)
    ).fetchone()
    return (spent[0] if spent else 0), reserved
