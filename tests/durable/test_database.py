"""One file for what is small and shared: its version, its permissions, and what is deleted from it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from rag_otel.budgets.sqlite_ledger import SqliteLedger
from rag_otel.durable.database import VERSION, Database
from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.llm.cache import DiskCache


def test_a_file_of_another_version_is_refused_with_its_name(tmp_path: Path) -> None:
    """By both that use it; nothing in it is changed."""
    path = tmp_path / "state.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=r"state\.sqlite.* another version .*rm "):
        SqliteLedger(path)
    with pytest.raises(ConfigurationError, match=r"state\.sqlite.* another version .*rm "):
        DiskCache(path)
    assert path.read_bytes() == before


def test_the_files_are_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = Database(tmp_path / "state" / "state.sqlite")
        with database.use() as connection:
            connection.execute("INSERT INTO answers VALUES ('key', 'text', 0)")
        found = {each.name: oct(each.stat().st_mode & 0o777) for each in (tmp_path / "state").iterdir()}
    finally:
        os.umask(before)
    assert found == dict.fromkeys(("state.sqlite", "state.sqlite-wal", "state.sqlite-shm"), "0o600")
    database.close()


def test_what_is_deleted_is_overwritten(tmp_path: Path) -> None:
    """A judge's answers quote texts of users."""
    database = Database(tmp_path / "state.sqlite")
    with database.use() as connection:
        connection.execute("INSERT INTO answers VALUES ('key', 'a secret of somebody', 0)")
        connection.execute("DELETE FROM answers")
    database.close()  # the last one to close moves the log into the file
    assert b"a secret" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())


def test_a_ledger_and_a_cache_share_a_file(tmp_path: Path) -> None:
    cache, ledger = DiskCache(tmp_path / "state.sqlite"), SqliteLedger(tmp_path / "state.sqlite")
    cache.put("key", {"verdict": "yes"})
    assert ledger.agree("a", "1", 60) == "1"
    ledger.close()
    assert cache.get("key") == {"verdict": "yes"}
    cache.close()


def test_a_block_that_raises_changes_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.sqlite")
    with suppress(RuntimeError), database.transaction() as connection:
        connection.execute("INSERT INTO answers VALUES ('key', 'text', 0)")
        raise RuntimeError
    with database.use() as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (0,)
    database.close()
