"""What could not be read in a log's files: set aside for whoever wants to look at it, counted, logged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rag_otel.durable.state_folder import private_folder
from rag_otel.safety.guard import counters, logger

_MAX_KEPT_BYTES: Final = 64 * 2**20
"""Of the folder of one log; what does not fit is counted and logged alone."""
_LOGGED: Final = 20
"""Places that are named one by one; after that only the counts grow."""


class Damage:
    """The damaged places of one log. Counts `<name of the log>.damaged`, or `logs.damaged`, of the logs that share a
    folder for what is damaged."""

    def __init__(self, log: Path, folder: Path | None = None) -> None:
        """`folder` is where damaged bytes are copied to, by default one beside the log."""
        self._folder = folder or log.with_name(f"{log.name}-damaged")
        self._prefix = f"{log.name}-" if folder else ""
        self._counted = "logs.damaged" if folder else f"{log.name}.damaged"
        self._ends: dict[int, dict[int, int]] = {}
        """File -> start of a damaged place -> its end."""
        self.places = 0
        self.bytes = 0
        self.unreadable_files = 0

    def end(self, segment: int, start: int) -> int | None:
        """Where a place that was found before ends."""
        return self._ends.get(segment, {}).get(start)

    def found(self, path: Path, segment: int, start: int, content: bytes) -> None:
        """`content`, which starts at `start` of a file, cannot be read. Counted once."""
        if self.end(segment, start) is not None:
            return
        self._ends.setdefault(segment, {})[start] = start + len(content)
        self.places += 1
        self.bytes += len(content)
        counters.add(self._counted)
        kept = self._keep(f"{self._prefix}{path.stem}-{start}", content)
        if self.places <= _LOGGED:
            where = f"; they are in {kept}" if kept else ""
            logger.error("rag-otel: %s is damaged: %d bytes at %d are passed over%s", path, len(content), start, where)

    def unreadable(self, path: Path, why: object) -> None:
        """A file cannot be read at all, and stays where it is."""
        self.unreadable_files += 1
        counters.add(self._counted)
        logger.error("rag-otel: %s is left where it is and not read: %s", path, why)

    def forget(self, segment: int) -> None:
        """A file is gone."""
        self._ends.pop(segment, None)

    def _keep(self, name: str, content: bytes) -> Path | None:
        path = self._folder / name
        try:
            private_folder(self._folder)
            if path.exists():
                return path
            if len(content) + sum(each.lstat().st_size for each in self._folder.iterdir()) > _MAX_KEPT_BYTES:
                return None
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, content)
            finally:
                os.close(file)
        except OSError:  # the disk is full, too: the counts say it
            return None
        return path
