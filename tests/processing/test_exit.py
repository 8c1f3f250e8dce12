"""The end of a process: nothing that hangs keeps it much longer than the SDK alone would, and nothing is left out."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]
LONGER_S = 60.0
"""What the end may take longer than the SDK's own on a busy machine; about 8 s on another. What hangs takes an hour."""


def ended(case: str) -> tuple[float, list[str]]:
    """How long the program took to end, in seconds, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.processing.exiting_app", case],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "collectors", ROOT / "evaluators")))},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    now, lines = time.time(), done.stdout.splitlines()
    began = next(float(line.split()[1]) for line in lines if line.startswith("ends "))
    return now - began, [line for line in lines if line.startswith("exported")]


@pytest.fixture(scope="module")
def bare_s() -> float:
    """The end of a program without us whose exporter hangs."""
    return ended("bare")[0]


@pytest.mark.parametrize("case", ["exporter", "evaluator", "function"])
@pytest.mark.slow(reason="waits for the time limit of an exit, which it is about")
def test_what_hangs_does_not_keep_the_process(case: str, bare_s: float) -> None:
    took_s, exported = ended(case)
    assert took_s < bare_s + LONGER_S
    if case != "exporter":
        assert exported == ["exported late None"] * 20


def test_answers_of_a_script_that_ends_at_once_are_evaluated() -> None:
    """A sync metric runs on a thread, and executors of the standard library take no work at exit."""
    assert ended("nothing")[1] == ["exported evaluated 0.5"] * 20
