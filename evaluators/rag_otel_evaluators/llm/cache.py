"""A cache of answers on disk, keyed by content: a resumed run never pays twice.

One SQLite file. Several threads and processes of one machine may share it (write-ahead log, busy timeout); on a
network drive give each machine a file of its own, because SQLite's log needs shared memory.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rag_otel.delivery.sqlite_file import open_sqlite
from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters, logger

_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, stored REAL NOT NULL)"
_BUSY_TIMEOUT_S: Final = 30.0


def content_key(content: Mapping[str, Any]) -> str:
    """SHA-256 of `content` as canonical JSON (sorted keys, what is no JSON by its repr): equal content, equal key."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class DiskCache:
    """Maps a content key to a JSON object. A read or write that fails is counted and costs only its own answer."""

    def __init__(self, path: str | Path, *, busy_timeout_s: float = _BUSY_TIMEOUT_S) -> None:
        """Opens or creates the file at `path`; another process that has it locked is waited for up to
        `busy_timeout_s` seconds, here and in every read and write. Raises ConfigurationError where the file cannot
        be opened."""
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self._connection = open_sqlite(self.path, _SCHEMA, busy_timeout_s=busy_timeout_s)
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"the judge's cache {self.path} cannot be opened: {error}") from None

    def get(self, key: str) -> dict[str, Any] | None:
        """What was stored under `key`, None if nothing was or it cannot be read; counted as hit or miss. Blocks for a
        disk access."""
        found = self._get(key)
        counters.add("judge.cache.miss" if found is None else "judge.cache.hit")
        return found

    def _get(self, key: str) -> dict[str, Any] | None:
        try:
            with self._lock:
                row = self._connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            stored = None if row is None else json.loads(row[0])
        except (sqlite3.Error, ValueError) as error:
            self._report("read", error)
            return None
        return stored if isinstance(stored, dict) else None

    def put(self, key: str, answer: Mapping[str, Any]) -> None:
        """Store `answer`; the last one stays. Blocks for a disk access."""
        row = (key, json.dumps(answer), time.time())
        try:
            with self._lock:
                self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)
        except sqlite3.Error as error:
            self._report("write", error)

    def __len__(self) -> int:
        with self._lock:
            count: int = self._connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        return count

    def close(self) -> None:
        """Close the file; the cache cannot be used after."""
        with self._lock:
            self._connection.close()

    def _report(self, what: str, error: Exception) -> None:
        if counters.add(f"judge.cache_{what}_failed") == 1:
            logger.warning("rag-otel: the judge's cache %s: %s failed: %s", self.path, what, error)
