"""Answers on disk."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters
from rag_otel_evaluators.llm.cache import DiskCache, content_key


def test_what_is_stored_is_there_in_another_process(tmp_path: Path) -> None:
    """Two processes write at the same time into one file; a third reads all of it."""
    writer = (
        "import sys; sys.path[:0] = ['.', 'evaluators']\n"
        "from rag_otel_evaluators.llm.cache import DiskCache\n"
        "cache = DiskCache(sys.argv[1])\n"
        "for i in range(200): cache.put(f'{sys.argv[2]}-{i}', {'text': f'é {i} \\ud800'})\n"
    )
    path = tmp_path / "deep" / "answers.sqlite"
    processes = [subprocess.Popen([sys.executable, "-c", writer, str(path), name]) for name in "ab"]
    assert [process.wait() for process in processes] == [0, 0]
    cache = DiskCache(path)
    assert len(cache) == 400
    assert cache.get("b-199") == {"text": "é 199 \ud800"}
    assert cache.get("c-0") is None


def test_many_processes_open_a_new_file_at_once(tmp_path: Path) -> None:
    """The workers of one server start together: none of them is refused because another one is creating the file."""
    opener = (
        "import sys; sys.path[:0] = ['.', 'evaluators']\n"
        "from rag_otel_evaluators.llm.cache import DiskCache\n"
        "print('ready', flush=True)\n"
        "for path in map(str.strip, sys.stdin):\n"
        "    cache = DiskCache(path)\n"
        "    cache.put(sys.argv[1], {'opened by': sys.argv[1]})\n"
        "    cache.close()\n"
        "    print('stored', flush=True)\n"
    )
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen([sys.executable, "-c", opener, str(n)], stdin=pipe, stdout=pipe, text=True) for n in range(6)
    ]
    with contextlib.ExitStack() as stack:
        for process in processes:
            stack.enter_context(process)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for n in range(20):
            path = tmp_path / f"{n}.sqlite"
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(f"{path}\n")
                process.stdin.flush()
            assert [process.stdout.readline() for process in processes if process.stdout] == ["stored\n"] * 6
            assert len(DiskCache(path)) == 6


def test_a_file_that_stays_locked_is_refused_with_its_name(tmp_path: Path) -> None:
    """Another program that holds the file for good is an error at start-up, after a bounded wait."""
    path = tmp_path / "answers.sqlite"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ConfigurationError, match=r"answers\.sqlite.*locked"):
        DiskCache(path, busy_timeout_s=0.2)
    holder.close()


def test_the_last_answer_stays(tmp_path: Path) -> None:
    """Storing twice is no error."""
    cache = DiskCache(tmp_path / "answers.sqlite")
    cache.put("key", {"text": "first"})
    cache.put("key", {"text": "second"})
    assert cache.get("key") == {"text": "second"}


def test_keys_go_by_content() -> None:
    """Order of fields does not matter, every value does."""
    assert content_key({"a": 1, "b": ["é", None]}) == content_key({"b": ["é", None], "a": 1})
    assert len({content_key({"a": value}) for value in (1, 2, "1", None, [1], "\ud800")}) == 6


def test_a_file_that_is_no_cache_is_refused_with_its_name(tmp_path: Path) -> None:
    """At start-up, not in the middle of a paid run."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be taken for the header of one" * 10)
    with pytest.raises(ConfigurationError, match=r"notes\.txt"):
        DiskCache(path)


def test_a_cache_that_breaks_costs_only_itself(tmp_path: Path) -> None:
    """A damaged file means asking the judge again, and is counted."""
    cache = DiskCache(tmp_path / "answers.sqlite")
    cache.put("key", {"text": "x"})
    cache.close()
    cache.path.write_bytes(b"garbage" * 2000)
    before = counters.get("judge.cache_write_failed"), counters.get("judge.cache_read_failed")
    cache.put("key", {"text": "y"})
    assert cache.get("key") is None
    after = counters.get("judge.cache_write_failed"), counters.get("judge.cache_read_failed")
    assert after == (before[0] + 1, before[1] + 1)
