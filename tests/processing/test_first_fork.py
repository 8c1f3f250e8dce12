"""A fork at the first evaluation: imports and locks of the parent's worker must not stay locked in the child."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.server, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")]


@pytest.mark.parametrize("case", ["import", "lock", "set-up"])
def test_the_child_evaluates(case: str) -> None:
    """The child evaluates every answer, and the parent its own."""
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "collectors", ROOT / "evaluators")))
    done = subprocess.run(
        [sys.executable, "-m", "tests.processing.first_fork", case],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == ["child evaluated 5", "parent evaluated 1"], done.stderr


def test_nothing_is_imported_on_the_worker(uninstrumented: None) -> None:
    """All that the first evaluation needs is imported by `instrument()`."""
    code = (
        "import rag_otel, sys, threading\n"
        "class Told:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        print(threading.current_thread().name, name)\n"
        "@rag_otel.observe\n"
        "def answer(question):\n"
        "    return {'answer': 'On 3 May 2024 it was not 330 m high.', 'documents': ['It is 331 m high.']}\n"
        "rag_otel.instrument()\n"
        "sys.meta_path.insert(0, Told())\n"
        "answer('How high?')\n"
        "print('flushed', rag_otel.flush(timeout=30))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    lines = done.stdout.splitlines()
    assert "flushed True" in lines
    assert not [line for line in lines if not line.startswith(("rag-otel-imports", "MainThread", "flushed"))]
