"""When a trace counts as complete, and the bounds of the assembly."""

from __future__ import annotations

import os
import tracemalloc

import pytest

from rag_otel_collectors.otlp.assembly.live_traces import DRAINED, IDLE, ROOT, TOO_LARGE, TOO_OLD, LiveTraces
from rag_otel_collectors.otlp.requests.span_records import Outline
from rag_otel_collectors.otlp.requests.wire import SpanSlice

A, B = b"a" * 16, b"b" * 16
PASSED = Outline(span_id="01" * 8, parent_id=None, name="GET /", scope="http", start_ns=0, end_ns=1)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(clock: Clock) -> LiveTraces:
    return LiveTraces(
        grace_s=2, idle_s=30, max_traces=3, max_bytes=10_000, max_trace_bytes=5_000, max_age_s=100, clock=clock
    )


def hold(live: LiveTraces, trace_id: bytes, *, root: bool = False, size: int = 10) -> None:
    live.hold(trace_id, SpanSlice(b"", b"", b"x" * size), root=root)


def released(live: LiveTraces) -> list[tuple[bytes, str]]:
    return [(trace.trace_id, trace.released) for trace in live.due()]


def test_a_trace_leaves_a_grace_after_its_root(live: LiveTraces, clock: Clock) -> None:
    """It is released once, two seconds after the root span ended, not earlier."""
    hold(live, A)
    hold(live, A, root=True)
    assert live.next_due_in() == 2
    clock.now += 1.9
    assert released(live) == []
    clock.now += 0.2
    assert released(live) == [(A, ROOT)]
    clock.now += 500
    assert released(live) == []


def test_a_trace_without_a_root_leaves_when_it_is_quiet(live: LiveTraces, clock: Clock) -> None:
    """It is released thirty seconds after its last span, because some streams never export a root span."""
    hold(live, A)
    clock.now += 20
    hold(live, A)
    clock.now += 29
    assert released(live) == []
    clock.now += 1
    assert released(live) == [(A, IDLE)]


def test_a_root_that_passed_before_counts(live: LiveTraces, clock: Clock) -> None:
    """A web server's span is forwarded at once, because it is not part of a RAG trace. It still completes the trace."""
    live.passed(A, PASSED, root=True)
    hold(live, A)
    clock.now += 2
    (trace,) = live.due()
    assert trace.released == ROOT
    assert trace.outlines == [PASSED]


def test_a_trace_that_never_rests_leaves_in_the_end(live: LiveTraces, clock: Clock) -> None:
    """A session with one trace id is released after the maximum age."""
    for _ in range(5):
        hold(live, A)
        clock.now += 20
    assert released(live) == [(A, TOO_OLD)]


def test_a_trace_that_grows_too_large_leaves(live: LiveTraces) -> None:
    """One trace cannot use the space of all others."""
    hold(live, A, size=6_000)
    assert live.next_due_in() == 0
    assert released(live) == [(A, TOO_LARGE)]


def test_memory_is_free_when_the_trace_is_forwarded(live: LiveTraces, clock: Clock) -> None:
    """A trace that is being evaluated still counts towards the bounds."""
    hold(live, A, root=True, size=4_000)
    hold(live, B, size=4_000)
    clock.now += 2
    (trace,) = live.due()
    assert not live.room_for(4_000, 0)
    live.finish(trace)
    assert live.room_for(4_000, 0)
    assert len(live) == 1


def test_newcomers_are_refused_when_there_are_enough_traces(live: LiveTraces) -> None:
    """The number of traces is bounded too, because many small traces also need memory."""
    for letter in b"abc":
        hold(live, bytes([letter]) * 16)
    assert not live.room_for(0, 0)


def test_what_has_left_is_remembered_for_ten_times_as_many_traces(live: LiveTraces, clock: Clock) -> None:
    """A late span is recognised until thirty (ten times three) newer traces have been released."""
    for number in range(31):
        hold(live, bytes([number]) * 16, root=True)
        clock.now += 2
        for trace in live.due():
            live.finish(trace)
    assert live.has_left(bytes([0]) * 16) is None
    assert live.has_left(bytes([1]) * 16) is not None
    assert live.held_bytes == 0


def test_draining_releases_everything_once(live: LiveTraces, clock: Clock) -> None:
    """All traces are released, complete or not, and none of them again later."""
    hold(live, A)
    hold(live, B, root=True)
    assert {trace.released for trace in live.drain()} == {DRAINED}
    clock.now += 500
    assert released(live) == []


def test_spans_that_passed_are_bounded(live: LiveTraces) -> None:
    """Any number of spans outside of RAG traces uses little memory."""
    for number in range(1000):
        live.passed(number.to_bytes(16, "big"), PASSED, root=True)
    hold(live, (0).to_bytes(16, "big"))
    hold(live, (999).to_bytes(16, "big"))
    assert [len(trace.outlines) for trace in live.drain()] == [0, 1]


def test_traces_that_have_left_take_no_more_room_with_time(live: LiveTraces, clock: Clock) -> None:
    """Thousands of traces are released before the oldest one: memory stays constant, and the oldest is released in
    time."""
    hold(live, A)

    def pass_by(traces: int) -> int:
        for _ in range(traces):
            hold(live, os.urandom(16), root=True)
            clock.now += 2
            for trace in live.due():
                live.finish(trace)
            clock.now -= 1.99
            live.passed(A, PASSED, root=False)  # it is not quiet
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = pass_by(1000)
        assert pass_by(3000) < before + 20_000
    finally:
        tracemalloc.stop()
    clock.now = 1099
    live.passed(A, PASSED, root=False)
    clock.now = 1100
    assert (A, TOO_OLD) in released(live)
