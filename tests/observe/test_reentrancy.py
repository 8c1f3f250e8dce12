"""The garbage collector may end a forgotten stream's call anywhere, also while we hold a lock of our own."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel.guard import counters


@rag_otel.observe
def tokens(question: str) -> Iterator[str]:
    rag_otel.record_chunks(["a passage"])
    yield "half"
    yield "more"


@pytest.mark.parametrize("place", ["counters", "hold", "tracker", "cap", "runner"])
def test_a_stream_that_dies_inside_a_locked_section(place: str) -> None:
    """Its span goes its way, on the thread that holds the lock, and nothing waits for itself."""
    provider = TracerProvider()
    provider.add_span_processor(rag_otel.RagSpanProcessor([]))
    rag_otel.instrument(provider)
    try:
        (processor,) = (each for each in provider._active_span_processor._span_processors if hasattr(each, "_hold"))
        runtime = processor._runtime
        locks = {
            "counters": counters._lock,
            "hold": processor._hold._lock,
            "tracker": processor._tracker._lock,
            "cap": runtime.pipeline.cap and runtime.pipeline.cap._lock,
            "runner": runtime.runner._start_lock,
        }
        stream = tokens("why")

        def die() -> None:
            next(stream)
            with locks[place]:  # type: ignore[union-attr]
                stream.close()  # type: ignore[attr-defined]

        thread = threading.Thread(target=die, daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
    finally:
        rag_otel.uninstrument()
