"""The queue of one destination: one batch is sent by one thread, also where a flush sends by itself."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from rag_otel.delivery.export_queue import ExportPolicy, ExportQueue
from testkit.polling import eventually

PATIENCE_S = 60.0


def test_a_batch_that_a_flush_sends_is_not_sent_by_a_thread_that_starts_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The flush found no thread, and sends; the next item starts one. Both items go out once, and both are reported."""
    sent: list[Sequence[int]] = []
    finished: list[int] = []
    go_on = threading.Event()

    def send(batch: Sequence[int]) -> None:
        sent.append(list(batch))
        assert go_on.wait(PATIENCE_S)

    queue = ExportQueue[int]("once", send, size_of=lambda item: 1, policy=ExportPolicy(batch_items=1, linger_s=0.0))
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_thread)
        queue.put(1, lambda: finished.append(1))
    flush = threading.Thread(target=queue.wait_empty, args=(PATIENCE_S,))
    flush.start()
    eventually(lambda: sent == [[1]], within_s=PATIENCE_S)
    queue.put(2, lambda: finished.append(2))
    go_on.set()
    eventually(lambda: len(finished) == 2, within_s=PATIENCE_S)
    flush.join(PATIENCE_S)
    queue.close()
    assert sent == [[1], [2]]
    assert finished == [1, 2]


def no_thread(thread: threading.Thread) -> None:
    """As the system does where it has no thread left."""
    raise RuntimeError("can't start new thread")
