"""The ledger of the processes of one machine: an SQLite file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rag_otel.budgets.ledger import KEEP_S, Account, Ledger
from rag_otel.durable.database import Database
from rag_otel.errors import ConfigurationError, LedgerError

_CLEAN_EVERY_S: Final = 600.0


class SqliteLedger(Ledger):
    """A `Ledger` in a file on a local disk. Every booking is a transaction, so a process that dies leaves the file
    consistent, and its reservations expire."""

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        """Raises ConfigurationError if the file cannot be used."""
        super().__init__(clock)
        self._database = Database(path)
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
        """Nothing to do: the database opens a connection of the child's own."""

    def close(self) -> None:
        self._database.close()

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
        try:
            with self._database.transaction() as connection:
                yield connection
        except OSError as error:
            raise LedgerError(f"{self._database.path}: {error}") from None


_EMPTY: Final = Account().as_text()
