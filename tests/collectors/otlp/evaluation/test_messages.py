"""Messages between the collector and its evaluation processes are unchanged after transmission."""

from __future__ import annotations

import asyncio

from rag_otel.model import (
    Chunk,
    Claim,
    ClaimVerdict,
    EvaluatedTrace,
    Evaluation,
    EvaluationStatus,
    Quote,
    RagTrace,
    SamplingDecision,
    SamplingReason,
    SpanRef,
    Verdict,
)
from rag_otel_collectors.otlp.evaluation.messages import JobResults, frame, read_frame


def test_a_reply_arrives_with_everything_in_it() -> None:
    """Every data type with all its fields. Objects are equal, hashable and frozen, and two messages do not mix."""
    target = SpanRef(trace_id="1" * 32, span_id="2" * 16)
    verdict = ClaimVerdict(
        claim=Claim(text="It is red.", sentence_index=0, start=0, end=10),
        verdict=Verdict.SUPPORTED,
        chunk_ids=("c",),
        quotes=(Quote(chunk_id="c", start=0, end=3, text="red"),),
    )
    result = EvaluatedTrace(
        trace=RagTrace(target=target, question="?", chunks=(Chunk(id="c", text="red", position=0),), response="It is."),
        decision=SamplingDecision(sampled=True, reason=SamplingReason.RATIO, probability=0.5),
        evaluations=(Evaluation(name="faithfulness", score=1.0, risk=0.1, claims=(verdict,)),),
        status=EvaluationStatus.EVALUATED,
    )
    replies = [
        JobResults(number=1, results=(result,), attributes={0: b"\0"}, resources={target: {"a": 1}}),
        JobResults(number=2, last=False),
    ]

    async def talk() -> list[JobResults]:
        reader = asyncio.StreamReader()
        for each in replies:
            reader.feed_data(frame(each))
        reader.feed_data(frame(replies[0])[:-1])  # who writes it dies in the middle
        reader.feed_eof()
        return [await read_frame(reader) for _ in range(3)]

    first, second, half = asyncio.run(talk())
    assert [first, second] == replies
    assert half is None
    assert first.results[0].evaluations[0].claims[0].verdict is Verdict.SUPPORTED
    assert hash(first.results[0].trace.target) == hash(target)
