"""Results on their way to the store: none is lost, and no more are under way than allowed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from rag_otel.errors import RetryableError
from rag_otel.model import EvaluatedTrace, EvaluationStatus, RagTrace, SamplingDecision, SpanRef
from rag_otel_collectors.backfill.writing import AT_ONCE, BatchWriter

DECISION = SamplingDecision(sampled=True, reason="always", probability=1.0)


def a_result(number: int) -> EvaluatedTrace:
    target = SpanRef(trace_id=f"{number + 1:032x}", span_id="2" * 16)
    return EvaluatedTrace(
        trace=RagTrace(target=target), decision=DECISION, evaluations=(), status=EvaluationStatus.EVALUATED
    )


async def test_results_are_written_in_order_and_in_full_batches() -> None:
    """None waits for the end of the run but those of the last batch, which `close` writes."""
    written: list[Sequence[EvaluatedTrace]] = []
    results = BatchWriter(written.append, unwritten=1_000)
    given = [a_result(number) for number in range(2 * AT_ONCE + 5)]
    for each in given:
        results.add(each)
    await results.close()
    assert [len(batch) for batch in written] == [AT_ONCE, AT_ONCE, 5]
    assert [each for batch in written for each in batch] == given


async def test_there_is_no_room_until_results_are_written() -> None:
    """With room for one, the next evaluation begins when its result is written."""
    gate = threading.Event()

    def write(batch: Sequence[EvaluatedTrace]) -> None:
        assert gate.wait(60)

    results = BatchWriter(write, unwritten=1)
    await results.room()
    results.add(a_result(0))
    second = asyncio.create_task(results.room())
    closing = asyncio.create_task(results.close())
    await asyncio.sleep(0)
    assert not second.done()
    gate.set()
    await second
    await closing


async def test_a_failure_ends_the_run() -> None:
    """Whoever wants room gets the error, and nothing more is written."""
    written = 0

    def fails(batch: Sequence[EvaluatedTrace]) -> None:
        nonlocal written
        written += 1
        raise RetryableError("no answer")

    results = BatchWriter(fails, unwritten=AT_ONCE)
    for number in range(AT_ONCE):
        await results.room()
        results.add(a_result(number))
    with pytest.raises(RetryableError, match="no answer"):
        await results.room()
    results.add(a_result(AT_ONCE))
    with pytest.raises(RetryableError, match="no answer"):
        await results.close()
    assert written == 1
