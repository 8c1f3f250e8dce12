"""The garbage collector may end an unfinished stream at any time, also while rag-otel holds a lock."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel.processing.processor import RagSpanProcessor
from rag_otel.safety.guard import counters

_LOCKS = (type(threading.Lock()), type(threading.RLock()), threading.Condition)


@rag_otel.observe
def tokens(question: str) -> Iterator[str]:
    rag_otel.record_chunks(["a passage"])
    yield "half"
    yield "more"


def _locks_on_the_way(processor: RagSpanProcessor) -> list[Any]:
    runtime = processor._runtime
    assert runtime.pipeline.cap is not None
    owners = (counters, processor._held.hold, processor._tracker, runtime.pipeline.cap._ledger, runtime.worker)
    found = [[value for value in vars(owner).values() if isinstance(value, _LOCKS)] for owner in owners]
    assert all(found), "every one of them has a lock"
    return [lock for locks in found for lock in locks]


def test_a_stream_that_dies_inside_our_locked_sections() -> None:
    """The span is exported on the thread that holds the locks, without a deadlock."""
    provider = TracerProvider()
    processor = RagSpanProcessor([])
    provider.add_span_processor(processor)
    rag_otel.instrument(provider)
    ended = threading.Event()
    try:
        stream = tokens("why")

        def die() -> None:
            next(stream)
            with contextlib.ExitStack() as held:
                for lock in _locks_on_the_way(processor):
                    held.enter_context(lock)
                stream.close()  # type: ignore[attr-defined]
            ended.set()

        threading.Thread(target=die, daemon=True).start()
        assert ended.wait(60)
    finally:
        rag_otel.uninstrument()
