"""A file that shows what left for which judge: one JSON object a line, for who must prove it.

    {"time": "2026-01-31T12:00:00.000Z", "judge": "openai/gpt-4o-mini", "host": "api.openai.com", "bytes": 5120,
     "messages": [{"role": "user", "content": "... <EMAIL_1> ..."}]}

Written right before each request, retries included. The file is readable by its owner alone, and bounded: when it is
full it is renamed to `<name>.1`, in place of an earlier one.
"""

from __future__ import annotations

import datetime
import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import counters, logger

LARGEST: Final = 64 * 2**20
"""Bytes of the file; with the earlier one, twice as much is kept at most."""


class EgressRecord:
    """Appends to the file. Thread-safe; several processes may share a file (each line is one write)."""

    def __init__(self, path: str | Path, *, largest: int = LARGEST) -> None:
        """Creates the file. Raises ConfigurationError where it cannot be written."""
        self._path = Path(path)
        self._largest = largest
        self._lock = threading.Lock()
        try:
            self._append(b"")
        except OSError as error:
            raise ConfigurationError(f"judge_record_file {path} cannot be written: {error.strerror}") from None
        after_fork_in_child(self._after_fork)

    def write(self, judge: str, host: str, size: int, messages: Sequence[Mapping[str, str]]) -> None:
        """Record one request of `size` bytes. A line that cannot be written is counted and logged; the request goes
        out all the same."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        entry = {"time": now, "judge": judge, "host": host, "bytes": size, "messages": list(messages)}
        line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            with self._lock:
                self._append(line)
        except OSError as error:
            if counters.add("judge.record_failed") == 1:
                logger.warning("rag-otel: judge_record_file %s: write failed: %s", self._path, error)

    def _append(self, line: bytes) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(file).st_size
            if size and size + len(line) > self._largest:
                os.replace(self._path, f"{self._path}.1")
                os.close(file)
                file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            os.fchmod(file, 0o600)
            os.write(file, line)
        finally:
            os.close(file)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
