"""Threads for what blocks in an evaluation."""

from __future__ import annotations

import gc
import threading
import weakref

from rag_otel.evaluation.daemon_executor import DaemonExecutor


class _Answer:
    """What a call holds."""


def test_what_is_given_up_is_forgotten_while_every_thread_hangs() -> None:
    """A store or a replacement that hangs for good must not collect the answers of all later calls."""
    executor, began, over = DaemonExecutor(1), threading.Event(), threading.Event()

    def hang() -> None:
        began.set()
        over.wait()

    hanging = executor.submit(hang)
    assert began.wait(60)
    answer = _Answer()
    known = weakref.ref(answer)
    executor.submit(id, answer).cancel()
    waiting = executor.submit(lambda: "still wanted")
    del answer
    gc.collect()
    assert known() is None
    over.set()
    hanging.result(60)
    assert waiting.result(60) == "still wanted"
