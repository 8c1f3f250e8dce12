"""The named states in a folder's database, as they stand there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from rag_otel.durable.database import Database
from rag_otel.durable.state_folder import DATABASE


def put_state(folder: Path, name: str, content: str, *, version: int, part: str = "0") -> None:
    """Write a state, whatever it is."""
    database = Database(folder / DATABASE)
    with database.use() as connection:
        connection.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)", (part, name, version, content))
    database.close()


def text_of_state(folder: Path, name: str, *, part: str = "0") -> str | None:
    """What stands there; None: nothing."""
    if not (folder / DATABASE).exists():
        return None
    connection = sqlite3.connect(folder / DATABASE)
    found = connection.execute("SELECT content FROM states WHERE part = ? AND name = ?", (part, name)).fetchone()
    connection.close()
    return None if found is None else str(found[0])


def state_of(folder: Path, name: str, *, part: str = "0") -> Any:
    """The same, read."""
    text = text_of_state(folder, name, part=part)
    assert text is not None
    return json.loads(text)
