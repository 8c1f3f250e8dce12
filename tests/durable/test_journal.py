"""A journal of traces in a state folder: bounds, room, and taking over."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import Span

from rag_otel.durable import trace_records
from rag_otel.durable.journal import Journal
from rag_otel.durable.state_folder import StateFolder
from rag_otel.durable.trace_records import KEY_BYTES, KeptTrace, is_value, key_of, trace_of, trace_value
from rag_otel.model import Chunk, SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot

DECISION = SamplingDecision(sampled=True, reason="random", probability=0.5, evaluators=("one",))


class Store(Journal):
    """Traces in this process's part of a folder."""

    def __init__(self, folder: Path, *, max_bytes: int = 2**20) -> None:
        self.state = StateFolder(folder)
        super().__init__(self.state.path / "traces", readable=is_value, key_bytes=KEY_BYTES, max_bytes=max_bytes)

    def trace(self, key: bytes) -> KeptTrace:
        return trace_of(key, self.read(key))

    def close(self) -> None:
        super().close()
        self.state.close()


def a_span() -> ReadableSpan:
    span: Span = TracerProvider().get_tracer("test").start_span("answer", attributes={"text": "x" * 200})
    span.end()
    assert isinstance(span, ReadableSpan)
    return span


def put(store: Store, *, snapshot: Snapshot | None = None, at: float | None = None) -> bytes:
    span = a_span()
    key = key_of(span.context.trace_id, span.context.span_id)
    root = SpanRef(trace_id="a" * 32, span_id="b" * 16)
    now = time.time() if at is None else at
    store.append([(key, trace_value([span], admitted_at=now, decision=DECISION, snapshot=snapshot, root=root))])
    return key


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Also what JSON cannot say: a lone surrogate in an answer, an object in a chunk's metadata."""
    chunk = Chunk(id="1", text="Text", position=0, metadata={"path": Path("/tmp")})
    snapshot = Snapshot(question="Why?", response="\ud800", chunks=(chunk,), tags={"tenant": "a"})
    store = Store(tmp_path)
    key = put(store, snapshot=snapshot)
    kept = store.trace(key)
    assert kept.decision == DECISION
    assert kept.snapshot is not None
    assert (kept.snapshot.response, kept.snapshot.tags) == ("\ud800", {"tenant": "a"})
    assert kept.snapshot.chunks == (Chunk(id="1", text="Text", position=0, metadata={"path": "/tmp"}),)
    assert kept.root == SpanRef(trace_id="a" * 32, span_id="b" * 16)
    assert (kept.released, kept.scored, kept.begun) == (False, False, 0)


def test_what_is_done_is_not_there_for_the_next_process(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keys = [put(store) for _ in range(3)]
    store.done(*keys[:2])
    store.close()
    assert Store(tmp_path).keys == keys[2:]


def test_one_old_trace_does_not_keep_the_disk(tmp_path: Path) -> None:
    """Files are deleted oldest first: a trace that stays in the first one is written anew at the end."""
    store = Store(tmp_path, max_bytes=2**18)
    staying = put(store)
    for _ in range(2000):
        assert store.has_room(1000)
        store.done(put(store))
        store.tend()
    assert store.trace(staying).key == staying
    store.close()
    assert Store(tmp_path, max_bytes=2**18).keys == [staying]


def test_a_part_in_use_is_not_adopted(tmp_path: Path) -> None:
    """And one whose process is gone is, once; what is taken over survives the next process too."""
    first, second, third = Store(tmp_path), Store(tmp_path), Store(tmp_path)
    key = put(first)
    assert second.adopt(second.state) == []
    first.close()
    assert second.adopt(second.state) == [key]
    assert third.adopt(third.state) == []
    second.close()
    assert third.adopt(third.state) == [key]
    kept = third.trace(key)
    assert kept.decision == DECISION


def test_a_full_store_leaves_a_part_alone(tmp_path: Path) -> None:
    first, second = Store(tmp_path), Store(tmp_path, max_bytes=500)
    key = put(first)
    first.close()
    assert second.adopt(second.state) == []
    assert Store(tmp_path).keys == [key]


def test_values_of_other_versions_are_damage(tmp_path: Path) -> None:
    assert not trace_records.is_value(b"")
    assert not trace_records.is_value(b"Tgarbage")
    assert not trace_records.is_value(b"?")
    assert trace_records.is_value(trace_records.RELEASED)


@pytest.mark.parametrize("kind", [trace_records.RELEASED, trace_records.SCORED, trace_records.BEGUN])
def test_a_mark_without_its_trace_is_passed_over(tmp_path: Path, kind: bytes) -> None:
    """The record before it was damaged."""
    store = Store(tmp_path)
    key = put(store)
    other = bytes(24)
    store.append([(other, kind)])
    with pytest.raises(ValueError, match="missing"):
        store.trace(other)
    assert store.trace(key).key == key
