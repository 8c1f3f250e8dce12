"""A cache of answers, keyed by content: nothing is paid for twice.

A setting names it: `memory`, `sqlite:/path/to/file`, `redis://host:6379/0`. `DiskCache` is one SQLite file. Several
threads and processes of one machine may share it (write-ahead log, busy timeout); on a network drive give each machine
a file of its own, because SQLite's log needs shared memory. The other caches are `memory_cache` and `redis_cache`.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from rag_otel.durable.database import Database
from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters, logger

HIT: Final = "judge.cache.hit"
MISS: Final = "judge.cache.miss"
_CLEAN_EVERY_S: Final = 600.0
_REDIS: Final = ("redis://", "rediss://", "unix://")
_SQLITE: Final = "sqlite:"
_BUSY_TIMEOUT_S: Final = 30.0


def content_key(content: Mapping[str, Any]) -> str:
    """SHA-256 of `content` as canonical JSON (sorted keys, what is no JSON by its repr): equal content, equal key."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class AnswerCache(Protocol):
    """Maps a content key to a JSON object. Thread-safe; calls may block. A read or write that fails is counted and
    costs only its own answer."""

    def get(self, key: str) -> dict[str, Any] | None:
        """What was stored under `key`, None if nothing was or it cannot be read; counted as hit or miss."""
        ...

    def put(self, key: str, answer: Mapping[str, Any]) -> None:
        """Store `answer`; the last one stays."""
        ...

    def claim(self, key: str, expires_s: float) -> bool:
        """True for one process at a time, which is to ask for the answer; again for anybody after `release`, or after
        `expires_s` seconds if the process has died. True if it cannot be known."""
        ...

    def release(self, key: str) -> None:
        """The answer is stored, or there will be none."""
        ...

    def close(self) -> None:
        """The cache cannot be used after."""
        ...


def open_cache(store: str, *, keep_s: float | None) -> AnswerCache:
    """The cache. `keep_s`: seconds for which an answer is kept; None: for ever. Raises ConfigurationError."""
    if store == "memory":
        from rag_otel_evaluators.llm.memory_cache import MemoryCache

        return MemoryCache(keep_s=keep_s)
    if store.startswith(_SQLITE):
        return DiskCache(store.removeprefix(_SQLITE), keep_s=keep_s)
    if store.startswith(_REDIS):
        from rag_otel_evaluators.llm.redis_cache import RedisCache

        return RedisCache(store, keep_s=keep_s)
    raise ConfigurationError(
        f"judge_cache must be `memory`, `sqlite:/path/to/file` or `redis://host:6379/0`, not {store!r}"
    )


class DiskCache:
    """An `AnswerCache` in a file."""

    def __init__(
        self, path: str | Path, *, busy_timeout_s: float = _BUSY_TIMEOUT_S, keep_s: float | None = None
    ) -> None:
        """The file at `path` is made with the first question; another process that has it locked is waited for up to
        `busy_timeout_s` seconds, here and in every read and write. Answers are kept for `keep_s` seconds; None: for
        ever. Raises ConfigurationError where a file that is there, or its folder, cannot be opened."""
        self.path = Path(path)
        self._keep_s = keep_s
        self._clean_at = 0.0
        self._database = Database(path, busy_timeout_s=busy_timeout_s)
        if not self.path.exists() and os.access(self.path.parent, os.W_OK):
            return
        try:
            with self._database.use():
                pass
        except OSError as error:
            raise ConfigurationError(f"the judge's cache {self.path} cannot be opened: {error}") from None

    def get(self, key: str) -> dict[str, Any] | None:
        """What was stored under `key`, None if nothing was or it cannot be read; counted as hit or miss. Blocks for a
        disk access."""
        found = self._get(key)
        counters.add(MISS if found is None else HIT)
        return found

    def _get(self, key: str) -> dict[str, Any] | None:
        try:
            with self._database.use() as connection:
                row = connection.execute("SELECT answer, stored FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None or (self._keep_s is not None and row[1] < time.time() - self._keep_s):
                return None
            stored = json.loads(row[0])
        except (OSError, ValueError) as error:
            self._report("read", error)
            return None
        return stored if isinstance(stored, dict) else None

    def put(self, key: str, answer: Mapping[str, Any]) -> None:
        """Store `answer`; the last one stays. Blocks for a disk access."""
        row = (key, json.dumps(answer), time.time())
        try:
            with self._database.use() as connection:
                connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)
                self._clean(connection, row[2])
        except OSError as error:
            self._report("write", error)

    def claim(self, key: str, expires_s: float) -> bool:
        """See `AnswerCache.claim`."""
        now = time.time()
        taken = "INSERT INTO claims VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET until = ?2 WHERE until <= ?3"
        try:
            with self._database.use() as connection:
                return connection.execute(taken, (key, now + expires_s, now)).rowcount > 0
        except OSError as error:
            self._report("write", error)
            return True

    def release(self, key: str) -> None:
        """See `AnswerCache.release`."""
        try:
            with self._database.use() as connection:
                connection.execute("DELETE FROM claims WHERE key = ?", (key,))
        except OSError as error:
            self._report("write", error)

    def __len__(self) -> int:
        with self._database.use() as connection:
            count: int = connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        return count

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._database.close()

    def _clean(self, connection: sqlite3.Connection, now: float) -> None:
        if self._keep_s is None or 0 <= now - self._clean_at < _CLEAN_EVERY_S:
            return
        self._clean_at = now
        connection.execute("DELETE FROM answers WHERE stored < ?", (now - self._keep_s,))
        connection.execute("DELETE FROM claims WHERE until < ?", (now,))

    def _report(self, what: str, error: Exception) -> None:
        report_failure(str(self.path), what, error)


def report_failure(cache: str, what: str, error: Exception) -> None:
    """Counts a read or write that failed, and logs the first one."""
    if counters.add(f"judge.cache_{what}_failed") == 1:
        logger.warning("rag-otel: the judge's cache %s: %s failed: %s", cache, what, error)
