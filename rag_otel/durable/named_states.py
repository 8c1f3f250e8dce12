"""Named states: what drift, monitors and alerts go on with after a restart.

Each is one row of the state folder's database, for each part of the folder: read at the start, and written as a whole.
Only the process that holds the part writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from rag_otel.durable.state_folder import DATABASE, StateFolder
from rag_otel.errors import InputError
from rag_otel.safety.guard import counters, logger

T = TypeVar("T")
_SAVE_WAITS_MS: Final = 250
"""How long a save waits while another process writes, which takes milliseconds. At the end of a process several states
are saved, in the time that all together have; one that is not saved is older at the next start."""
_LOAD_WAITS_MS: Final = 2_000
"""A state that cannot be read is begun anew."""
_SET_ASIDE: Final = ".unreadable"
"""End of the name of a state that could not be read: a newer version may read it."""


class NamedState:
    """One state of this process's part of a folder: a JSON value with a version."""

    def __init__(self, folder: StateFolder, name: str, version: int) -> None:
        self._folder, self._name, self._version = folder, name, version

    def load(self, read: Callable[[Any], T]) -> T | None:
        """What `read` makes of the state; None where there is none. One of another version, or that `read` refuses with
        ValueError, KeyError or TypeError, is set aside in the database. Raises OSError where the part is not ours."""
        part = self._folder.path.name
        try:
            with self._folder.database.use() as connection:
                connection.execute(f"PRAGMA busy_timeout={_LOAD_WAITS_MS}")
                found = connection.execute(
                    "SELECT version, content FROM states WHERE part = ? AND name = ?", (part, self._name)
                ).fetchone()
        except OSError as error:
            logger.warning("rag-otel: %s cannot be read (%s)", self._place, error)
            return None
        try:
            return None if found is None else read(_value(found[0], found[1], self._version))
        except (ValueError, KeyError, TypeError) as error:
            self._set_aside(part, f"{type(error).__name__}: {str(error)[:200]}")
            return None

    def save(self, state: Any) -> bool:
        """False, counted and logged once, where the disk does not take it; False where another process has the part."""
        content = json.dumps(state)
        try:
            # Nobody else can get the part before this is written: a later process never reads an older state.
            with self._folder.held() as part:
                row = (part.name, self._name, self._version, content)
                try:
                    with self._folder.database.use() as connection:
                        connection.execute(f"PRAGMA busy_timeout={_SAVE_WAITS_MS}")
                        connection.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", row)
                except OSError as error:
                    if counters.add("state.write_failed") == 1:
                        logger.warning(
                            "rag-otel: %s cannot be written (%s): it is kept in memory alone", self._place, error
                        )
                    return False
        except OSError:  # this process has left the folder to another one
            return False
        return True

    @property
    def _place(self) -> str:
        return f"the state {self._name!r} in {self._folder.root / DATABASE}"

    def _set_aside(self, part: str, why: str) -> None:
        """It fails only once."""
        counters.add("state.unreadable")
        logger.warning("rag-otel: %s is set aside, it cannot be read: %s", self._place, why)
        try:
            with self._folder.database.use() as connection:
                connection.execute(
                    "UPDATE OR REPLACE states SET name = ? WHERE part = ? AND name = ?",
                    (f"{self._name}{_SET_ASIDE}", part, self._name),
                )
        except OSError:
            return  # the next save writes over it


def states_in(folder: Path, name: str, version: int) -> dict[Path, Any]:
    """The state of this name in each part of a state folder, or in `folder` where that is one part; nothing is changed.
    Raises InputError for a file or a state that cannot be understood."""
    import sqlite3

    root = folder if (folder / DATABASE).exists() else folder.parent
    if not (root / DATABASE).exists():
        return {}
    try:
        connection = sqlite3.connect(f"{(root / DATABASE).absolute().as_uri()}?mode=ro", uri=True)
        try:
            rows = connection.execute("SELECT part, version, content FROM states WHERE name = ?", (name,)).fetchall()
        finally:
            connection.close()
        found = {root / part: (stored, content) for part, stored, content in sorted(rows)}
        return {part: _value(stored, text, version) for part, (stored, text) in found.items() if folder in (root, part)}
    except (sqlite3.Error, ValueError, TypeError) as error:
        raise InputError(f"{root / DATABASE}: cannot be understood: {type(error).__name__}: {error}") from None


def _value(stored: int, content: str, version: int) -> Any:
    """Raises ValueError for another version, and for what is no JSON."""
    if stored != version:
        raise ValueError(f"version {stored}, not {version}")
    return json.loads(content)
