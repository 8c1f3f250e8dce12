"""Judging in processes of its own says what judging in this one says."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest

from rag_otel.cli.main import main
from rag_otel.cli.worker import Workers
from rag_otel.model import Chunk, EvaluationStatus, RagTrace, SamplingDecision, SamplingReason, SpanRef
from rag_otel.settings import Settings
from tests.collectors.backfill.stored import a_trace, written


def children() -> list[int]:
    """The evaluation processes of this one."""
    listed = (Path("/proc/self/task") / str(threading.get_native_id()) / "children").read_text().split()
    return [int(each) for each in listed if b"rag_otel.cli.worker" in Path(f"/proc/{each}/cmdline").read_bytes()]


DECISION = SamplingDecision(sampled=True, reason=SamplingReason.ALWAYS, probability=1.0)


def test_the_output_is_the_same(tmp_path: Path) -> None:
    """To the byte; and the processes are gone afterwards."""
    source = written(tmp_path / "in.jsonl", *(a_trace(number) for number in range(30)))
    outputs = [tmp_path / "here.jsonl", tmp_path / "there.jsonl"]
    assert main(["traces", "backfill", str(source), "--output", str(outputs[0])]) == 0
    assert main(["traces", "backfill", str(source), "--output", str(outputs[1]), "--workers", "2"]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert not children()


async def test_a_process_that_dies_is_replaced() -> None:
    """The answer that it had has failed, so the next run tries it again. The run goes on with another process."""
    chunk = Chunk(id="1", text="The tower was built in 1827.", position=0)
    target = SpanRef(trace_id="1" * 32, span_id="2" * 16)
    trace = RagTrace(target=target, question="When?", chunks=(chunk,), response="The tower was built in 1827.")
    async with Workers(Settings(), 1) as workers:
        assert (await workers.evaluate(trace, DECISION)).evaluations[0].score == 1.0
        (process,) = children()
        os.kill(process, signal.SIGSTOP)
        waiting = asyncio.create_task(workers.evaluate(trace, DECISION))
        await asyncio.sleep(0)  # it is on its way
        os.kill(process, signal.SIGKILL)
        result = await waiting
        assert result.status == EvaluationStatus.FAILED
        assert [each.error_type for each in result.evaluations] == ["worker_died"]
        assert (await workers.evaluate(trace, DECISION)).evaluations[0].score == 1.0
        assert children() != [process]
    assert not children()


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--workers", "0"], "above 0"), (["--workers", "2", "--judge", "openai/gpt-4o-mini"], "--concurrency")],
)
def test_what_workers_are_not_for(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No processes, or a judge that waits for somebody else."""
    source = written(tmp_path / "in.jsonl", a_trace())
    assert main(["traces", "backfill", str(source), "--output", str(tmp_path / "out.jsonl"), *options]) == 2
    assert said in capsys.readouterr().err
