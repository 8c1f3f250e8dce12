"""The ledger of the processes of one machine: an SQLite file."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rag_otel.budgets.ledger import KEEP_S, Account, Books
from rag_otel.durable.sqlite_file import open_sqlite
from rag_otel.errors import ConfigurationError, LedgerError

_BUSY_S: Final = 10.0
_CLEAN_EVERY_S: Final = 600.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, content TEXT NOT NULL, forget_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS agreed (key TEXT PRIMARY KEY, value TEXT NOT NULL, forget_at REAL NOT NULL);
"""


class SqliteLedger(Books):
    """A `Ledger` in a file on a local disk. Every booking is a transaction, so a process that dies leaves the file
    consistent, and its reservations expire."""

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        """Raises ConfigurationError if the file cannot be used."""
        super().__init__(clock)
        self._path = Path(path)
        self._connection: sqlite3.Connection | None = None
        self._clean_at = 0.0
        try:
            with self._transaction():
                pass
        except LedgerError as error:
            raise ConfigurationError(f"budget_store {str(path)!r} cannot be used: {error}") from None

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
    def _accounts(self, names: Sequence[str]) -> Iterator[Sequence[Account]]:
        with self._transaction() as connection:
            marks = ",".join("?" * len(names))
            stored = dict(connection.execute(f"SELECT name, content FROM account WHERE name IN ({marks})", names))
            accounts = {name: Account.from_text(stored.get(name)) for name in names}
            yield [accounts[name] for name in names]
            now, texts = self._clock(), {name: account.as_text() for name, account in accounts.items()}
            changed = [(name, text, now + KEEP_S) for name, text in texts.items() if text != stored.get(name, _EMPTY)]
            connection.executemany("INSERT OR REPLACE INTO account VALUES (?, ?, ?)", changed)
            if not 0 <= now - self._clean_at < _CLEAN_EVERY_S:
                self._clean_at = now
                connection.execute("DELETE FROM account WHERE forget_at <= ?", (now,))

    def _ending_in(self, suffix: str) -> Mapping[str, Account]:
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT name, content FROM account WHERE substr(name, -?) = ?", (len(suffix), suffix)
            )
            return {name: Account.from_text(content) for name, content in rows}

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


_EMPTY: Final = Account().as_text()
