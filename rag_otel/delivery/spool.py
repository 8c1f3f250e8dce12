"""Keeps on disk what a queue has admitted and not yet delivered, for the next process after a crash.

One file for each item, versioned JSON, written when the item is admitted and removed when it is delivered or given up.
The queue's own bounds are the spool's. A file of another version, or one that was cut, is set aside.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from rag_otel.delivery.state_folder import StateFolder, make_folder, read_file, set_aside, write_file
from rag_otel.safety.guard import guarded

T = TypeVar("T")
VERSION: Final = 1


class Spool(Generic[T]):
    """The items of one queue, in the order they came."""

    def __init__(self, folder: StateFolder, name: str, kind: type[T], *, without: frozenset[str] = frozenset()) -> None:
        """`kind` is the dataclass of the items; pydantic writes and reads it, `without` the fields that mean nothing
        in another process."""
        from pydantic import TypeAdapter  # imported only where a state folder is set

        self._folder = folder
        self._name = name
        self._without = set(without)
        self._adapter: Any = TypeAdapter(kind)
        self._numbers = itertools.count()

    def keep(self, item: T) -> Path | None:
        """Write an item to disk; None when that failed, and the queue holds it in memory only."""
        with guarded("spool.keep"):
            # The time comes first: a restarted process sorts its items after those that it finds.
            path = self._path / f"{time.time_ns():020d}-{next(self._numbers):06d}.json"
            # json escapes what UTF-8 cannot carry (lone surrogates in an answer), pydantic's own writer raises on it.
            fields = self._adapter.dump_python(item, mode="json", exclude=self._without)
            stored = json.dumps({"version": VERSION, "item": fields})
            return path if write_file(path, stored.encode()) else None
        return None

    def forget(self, path: Path) -> None:
        """Delete an item."""
        with guarded("spool.forget"):
            path.unlink(missing_ok=True)

    def load(self) -> Iterator[tuple[Path, T]]:
        """Items that earlier processes left, oldest first: the last one of this part, and those without a successor."""
        with guarded("spool.load"):
            self._adopt()
            for path in sorted(self._path.glob("*.json")):
                try:
                    stored = json.loads(read_file(path) or b"")
                    if stored["version"] != VERSION:
                        raise ValueError(f"version {stored['version']}, not {VERSION}")
                    item: T = self._adapter.validate_python(stored["item"])
                except (ValueError, KeyError, TypeError) as error:
                    set_aside(path, f"{type(error).__name__}: {str(error)[:200]}")
                else:
                    yield path, item

    @property
    def _path(self) -> Path:
        return self._folder.path / self._name

    def _adopt(self) -> None:
        make_folder(self._path)
        with self._folder.orphans() as parts:
            for path in (each for part in parts for each in (part / self._name).glob("*.json")):
                path.replace(self._path / path.name)
