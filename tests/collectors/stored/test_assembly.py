"""Spans of many traces are grouped by trace, with bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.model import SpanRecord
from rag_otel_collectors.stored.assembly import AssembledTrace, TraceAssembler


def span(trace: int, number: int = 1, text: str = "") -> SpanRecord:
    return SpanRecord(trace_id=f"{trace:032x}", span_id=f"{number:016x}", attributes={"text": text})


def shown(traces: list[AssembledTrace]) -> list[tuple[int, list[int], bool]]:
    """(trace, its spans, cut) of each group."""
    return [(int(t.trace_id, 16), [int(s.span_id, 16) for s in t.spans], t.cut) for t in traces]


def test_interleaved_spans_are_grouped_in_order() -> None:
    """Traces are released in order of their first span, their spans in order of arrival."""
    assembler = TraceAssembler()
    for each in (span(2, 1), span(1, 1), span(2, 2), span(1, 2)):
        assert assembler.add(each) == []
    assert shown(list(assembler.flush())) == [(2, [1, 2], False), (1, [1, 2], False)]
    assert list(assembler.flush()) == []


def test_quietest_trace_makes_room_for_spans() -> None:
    """At the bound, the trace without a span for the longest time is released and marked as cut."""
    assembler = TraceAssembler(max_spans=3)
    for each in (span(1, 1), span(2, 1), span(1, 2)):
        assembler.add(each)
    assert shown(assembler.add(span(3, 1))) == [(2, [1], True)]
    assert shown(list(assembler.flush())) == [(1, [1, 2], False), (3, [1], False)]


def test_bytes_are_bounded() -> None:
    """Long texts reach the bound with fewer spans."""
    assembler = TraceAssembler(max_bytes=10_000)
    assert assembler.add(span(1, text="x" * 6_000)) == []
    assert shown(assembler.add(span(2, text="x" * 6_000))) == [(1, [1], True)]


def test_one_trace_alone_is_bounded_too() -> None:
    """A trace that is larger than the bound is released in parts."""
    assembler = TraceAssembler(max_bytes=5_000)
    assert shown(assembler.add(span(1, text="x" * 6_000))) == [(1, [1], True)]


@pytest.mark.parametrize("bounds", [{"max_spans": 0}, {"max_bytes": 0}])
def test_bounds_must_leave_room(bounds: dict[str, int]) -> None:
    """A bound of 0 is an error."""
    with pytest.raises(ValueError, match="at least 1"):
        TraceAssembler(**bounds)


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(1, 8))
def test_no_span_is_lost_or_doubled(traces: list[int], max_spans: int) -> None:
    """For any order and bound, every span is released once, and the bound is never exceeded."""
    assembler = TraceAssembler(max_spans=max_spans)
    kept = 0
    out: list[AssembledTrace] = []
    for number, trace in enumerate(traces):
        released = assembler.add(span(trace, number))
        kept += 1 - sum(len(each.spans) for each in released)
        assert kept <= max_spans
        out += released
    out += assembler.flush()
    assert sorted(int(s.span_id, 16) for t in out for s in t.spans) == list(range(len(traces)))
    assert all({s.trace_id for s in t.spans} == {t.trace_id} for t in out)
