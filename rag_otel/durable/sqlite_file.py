"""An SQLite file that several threads and processes of one machine use: write-ahead log, busy timeout.

On a network drive give each machine a file of its own, because SQLite's log needs shared memory.
"""

from __future__ import annotations

import random
import sqlite3
import time
from pathlib import Path

from rag_otel.durable.state_folder import make_folder


def open_sqlite(path: Path, schema: str, *, busy_timeout_s: float) -> sqlite3.Connection:
    """A connection with write-ahead log and the tables of `schema`, readable for this user alone. Makes file and folder
    if they are missing. Raises OSError and sqlite3.Error.

    SQLite does not wait for a lock where waiting could deadlock, whatever the busy timeout: two processes that change
    the journal mode of a new file at the same time are such a case. So the whole step is tried again.
    """
    make_folder(path.parent)
    path.touch(mode=0o600)
    deadline = time.monotonic() + busy_timeout_s
    while True:
        connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            # What is lost in a power cut is paid for again; a flush to disk for each change would cost more.
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(schema)
        except sqlite3.Error as error:
            connection.close()
            if not _is_busy(error) or time.monotonic() >= deadline:
                raise
            time.sleep(random.uniform(0.005, 0.05))  # at random, so that the same two do not meet again
        else:
            return connection


def _is_busy(error: sqlite3.Error) -> bool:
    # The low byte is the kind of error, the others say more about it (busy while recovering, ...).
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
