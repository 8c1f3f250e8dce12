"""The small database of a state folder: one SQLite file that the threads and processes of a machine share.

It holds what is small and shared: the budgets' ledger, and the judge's cache where that names a file. Nothing large:
who waits for a budget would wait for it. It blocks for the disk, so it is not for the request path. On a network drive
give each machine a file of its own, because SQLite's log needs shared memory.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rag_otel.durable.state_folder import make_folder
from rag_otel.safety.fork import after_fork_in_child

FILE: Final = "state.sqlite"
"""In a state folder."""
VERSION: Final = 1
_BUSY_S: Final = 10.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, content TEXT NOT NULL, forget_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS agreed (key TEXT PRIMARY KEY, value TEXT NOT NULL, forget_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, stored REAL NOT NULL);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, until REAL NOT NULL);
"""


class Database:
    """One file, with write-ahead log and busy timeout, readable for this user alone. Thread-safe."""

    def __init__(self, path: str | Path, *, busy_timeout_s: float = _BUSY_S) -> None:
        """Another process that has the file locked is waited for up to `busy_timeout_s` seconds. Opened at the first
        use, which makes file and folder where they are missing."""
        self.path = Path(path)
        self._busy_timeout_s = busy_timeout_s
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        after_fork_in_child(self._after_fork)

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; every statement is a transaction. Raises OSError and sqlite3.Error,
        after which the file is opened anew."""
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._opened()
                yield self._connection
            except (OSError, sqlite3.Error):
                self.close()
                raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The same; no other process writes until the block ends. What it raises undoes all of it."""
        with self.use() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file. Safe to call twice; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _after_fork(self) -> None:
        """A connection must not be used, or closed, by two processes: the child opens its own."""
        self._lock = threading.RLock()
        self._connection = None

    def _opened(self) -> sqlite3.Connection:
        """SQLite does not wait for a lock where waiting could deadlock, whatever the busy timeout: two processes that
        change the journal mode of a new file at the same time are such a case. So the whole step is tried again."""
        make_folder(self.path.parent)
        self.path.touch(mode=0o600)  # its log and index get the same permissions
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            connection = sqlite3.connect(
                self.path, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except sqlite3.Error as error:
                connection.close()
                if not _is_busy(error) or time.monotonic() >= deadline:
                    raise
                time.sleep(random.uniform(0.005, 0.05))  # at random, so that the same two do not meet again
            else:
                return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(
                f"another version of rag-otel has written it (format {version}, this one reads {VERSION}): stop what "
                f"uses it and delete it: rm {self.path}*"
            )
        connection.execute("PRAGMA journal_mode=WAL")
        # What is lost in a power cut is paid for again; a flush to disk for each change would cost more.
        connection.execute("PRAGMA synchronous=NORMAL")
        # A judge's answers quote the texts that it judged.
        connection.execute("PRAGMA secure_delete=ON")
        if not version:
            connection.executescript(_TABLES)
            connection.execute(f"PRAGMA user_version={VERSION}")


def _is_busy(error: sqlite3.Error) -> bool:
    # The low byte is the kind of error, the others say more about it (busy while recovering, ...).
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
