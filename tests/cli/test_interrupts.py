"""An interrupt ends the command, wherever in the main thread it arrived."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.server

SWALLOWED = """
import os, signal, threading
from rag_otel.cli.interrupts import insistent_interrupts

class Swallowing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000): pass

try:
    with insistent_interrupts():
        Swallowing()
        print("goes on", flush=True)
        threading.Event().wait(60)
except KeyboardInterrupt:
    print("ended", signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getitimer(signal.ITIMER_REAL))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no setitimer")
def test_a_swallowed_interrupt_comes_again() -> None:
    """KeyboardInterrupt in a `__del__` is printed and ignored by Python; afterwards all is as it was."""
    run = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout.splitlines() == ["goes on", "ended True (0.0, 0.0)"]
    assert "Exception ignored" in run.stderr


def test_a_program_that_handles_interrupts_keeps_its_handler() -> None:
    """Inside of an application's own handling nothing is replaced."""
    script = SWALLOWED.replace(
        "try:", "signal.signal(signal.SIGINT, lambda *_: print('own', flush=True))\ntry:"
    ).replace("threading.Event().wait(60)", "pass")
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout.splitlines() == ["own", "goes on"]
