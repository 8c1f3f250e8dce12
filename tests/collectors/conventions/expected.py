"""The expected RAG traces of a recorded trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_otel.model import UnevaluableReason
from tests.collectors.conventions.spans import QUESTION, read_all, traces_in

COSINE = 0.9999999999999998


@dataclass(frozen=True, kw_only=True)
class Expected:
    target: str
    route: str
    chunk_span: str | None
    chunks: list[tuple[str, str, float | None]]
    question: str | None = QUESTION
    response: str | None = None
    model: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    reason: UnevaluableReason | None = None
    convention: str = "openinference"


def check(name: str, wanted: Sequence[Expected]) -> None:
    """Asserts that the RAG traces in a file are exactly these, in the order of their spans."""
    found = [trace for spans in traces_in(name) for trace in read_all(spans)]
    assert [trace.target.span_id for trace in found] == [expected.target for expected in wanted]
    for trace, expected in zip(found, wanted, strict=True):
        assert trace.route == expected.route
        assert (trace.chunk_span and trace.chunk_span.span_id) == expected.chunk_span
        assert trace.question == expected.question
        assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == expected.chunks
        assert [chunk.position for chunk in trace.chunks] == list(range(len(expected.chunks)))
        assert trace.response == expected.response
        assert (trace.model, trace.session_id, trace.user_id) == (expected.model, expected.session_id, expected.user_id)
        assert trace.unevaluable_reason == expected.reason
        assert trace.convention == expected.convention
        assert trace.start_ns > 0
        assert trace.duration_ns > 0
