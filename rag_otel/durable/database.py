"""The small database of a state folder: one SQLite file that the threads and processes of a machine share.

It holds what is small and shared: the budgets' ledger, named states (`rag_otel.durable.named_states`), and the judge's
cache where that names a file. Nothing large: who waits for a budget would wait for it. It blocks for the disk, so it is
not for the request path. On a network drive give each machine a file of its own, because SQLite's log needs shared
memory.
"""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rag_otel.durable.state_folder import DATABASE, locked, make_folder
from rag_otel.safety.fork import after_fork_in_child, around_fork
from rag_otel.safety.guard import counters, logger

VERSION: Final = 1
_BUSY_S: Final = 10.0
_FORK_WAITS_S: Final = 2.0
_BESIDE: Final = ("-wal", "-shm")
"""Ends of the names of SQLite's own files beside the database."""
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, content TEXT NOT NULL, forget_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS agreed (key TEXT PRIMARY KEY, value TEXT NOT NULL, forget_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, stored REAL NOT NULL);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS states (
    part TEXT, name TEXT, version INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (part, name)
);
"""


class Database:
    """One file, with write-ahead log and busy timeout, readable for this user alone. Thread-safe."""

    def __init__(self, path: str | Path, *, busy_timeout_s: float = _BUSY_S) -> None:
        """Another process that has the file locked is waited for up to `busy_timeout_s` seconds. Opened at the first
        use, which makes file and folder where they are missing.

        A damaged file is renamed to `*.unreadable` where it is a state folder's own; a new one is begun. Any
        other may be a file that the user has named by mistake, and stays as it is.
        """
        self.path = Path(path)
        self._busy_timeout_s = busy_timeout_s
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened_file: tuple[int, int] | None = None
        """Tells the file apart from another one that stands at the path later."""
        self._stands_still = False
        around_fork(self._hold_still, self._go_on)
        after_fork_in_child(self._start_over)

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; every statement is a transaction. Raises OSError, also
        for what SQLite raises; after that the file is opened anew."""
        with self._lock:
            try:
                if self._connection is not None and self._file() != self._opened_file:
                    self.close()  # another process has set the file aside, or somebody has deleted it
                if self._connection is None:
                    self._connection = self._opened()
                yield self._connection
            except OSError:
                self.close()
                raise
            except sqlite3.Error as error:
                self.close()
                if _code(error) in _DAMAGED:
                    self._set_aside(error)
                raise OSError(str(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The same; no other process writes until the block ends. What it raises undoes all of it."""
        with self.use() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # on a full disk SQLite has undone it already
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file. Safe to call twice; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # --- forks ------------------------------------------------------------------------------------------------------
    # A server may fork while another thread is in the middle of a statement. The child has neither that
    # thread nor its locks: so a fork waits for the statement, and where it takes too long the child never touches the
    # connection again.

    def _hold_still(self) -> None:
        """A fork is about to happen: no statement is under way in it."""
        self._stands_still = self._lock.acquire(timeout=_FORK_WAITS_S)

    def _go_on(self) -> None:
        if self._stands_still:
            self._stands_still = False
            self._lock.release()

    def _start_over(self) -> None:
        """The child opens a connection of its own. Closing the parent's makes SQLite forget locks that only the parent
        has; it changes nothing on the disk while the parent has the file open."""
        connection, self._connection = self._connection, None
        if connection is not None and self._stands_still:
            connection.close()
        elif connection is not None:  # a thread that is not there is in the middle of a statement, and has its locks
            _left_to_the_parent.append(connection)
        self._lock = threading.RLock()
        self._stands_still = False

    # --- opening ----------------------------------------------------------------------------------------------------

    def _opened(self) -> sqlite3.Connection:
        """SQLite does not wait for a lock where waiting could deadlock, whatever the busy timeout: two processes that
        change the journal mode of a new file at the same time are such a case. So the whole step is tried again."""
        make_folder(self.path.parent)
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            self.path.touch(mode=0o600)  # its log and index get the same permissions
            self._opened_file = self._file()
            connection = sqlite3.connect(
                self.path, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except sqlite3.Error as error:
                connection.close()
                again = _code(error) == sqlite3.SQLITE_BUSY or (_code(error) in _DAMAGED and self._set_aside(error))
                if not again or time.monotonic() >= deadline:
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
        connection.executescript(_TABLES)
        if not version:
            connection.execute(f"PRAGMA user_version={VERSION}")

    # --- damage -----------------------------------------------------------------------------------------------------
    # Opening a file reads its first page and little more: half of the damage that makes statements fail is met by them
    # alone. So a file is set aside while processes use it, too, and each use looks whether the file at the path is
    # still the one that is open: else a process would go on to book in a file that no other one reads.

    def _file(self) -> tuple[int, int] | None:
        """Device and inode of what stands at the path; None: nothing."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _set_aside(self, why: sqlite3.Error) -> bool:
        """Rename the file that was opened last, with what is beside it, unless another process has done so. False where
        it stays."""
        if self.path.name != DATABASE:
            return False
        aside = self.path.with_name(f"{DATABASE}.unreadable")
        try:
            with locked(self.path.parent):
                if self._file() == self._opened_file:
                    for end in _BESIDE:  # first: a new file must not find the log of the old one
                        with contextlib.suppress(FileNotFoundError):
                            os.replace(f"{self.path}{end}", f"{aside}{end}")
                    self.path.replace(aside)
                    counters.add("state.unreadable")
                    logger.warning(
                        "rag-otel: %s is damaged (%s) and set aside as %s: budgets, drift and alerts begin anew",
                        self.path,
                        why,
                        aside.name,
                    )
        except OSError:
            return False
        return True


_left_to_the_parent: Final[list[sqlite3.Connection]] = []
"""In a forked child: connections that it must neither use nor close."""


def _code(error: sqlite3.Error) -> int:
    # The low byte is the kind of error, the others say more about it (busy while recovering, ...).
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
