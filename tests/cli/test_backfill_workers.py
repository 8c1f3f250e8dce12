"""Judging in processes of its own says what judging in this one says."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from rag_otel.cli.main import main
from rag_otel.cli.worker import Workers
from rag_otel.errors import PermanentError
from rag_otel.model import Chunk, RagTrace, SamplingDecision, SamplingReason, SpanRef
from rag_otel.settings import Settings
from tests.collectors.backfill.stored import a_trace, written

DECISION = SamplingDecision(sampled=True, reason=SamplingReason.ALWAYS, probability=1.0)


def test_the_output_is_the_same(tmp_path: Path) -> None:
    """To the byte; and the processes are gone afterwards."""
    source = written(tmp_path / "in.jsonl", *(a_trace(number) for number in range(30)))
    outputs = [tmp_path / "here.jsonl", tmp_path / "there.jsonl"]
    assert main(["backfill", str(source), "--output", str(outputs[0])]) == 0
    assert main(["backfill", str(source), "--output", str(outputs[1]), "--workers", "2"]) == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    assert not multiprocessing.active_children()


async def test_a_process_that_dies_ends_the_run() -> None:
    """With an error that says so, not with a hang."""
    workers = Workers(Settings(), 1)
    chunk = Chunk(id="1", text="The tower was built in 1827.", position=0)
    target = SpanRef(trace_id="1" * 32, span_id="2" * 16)
    trace = RagTrace(target=target, question="When?", chunks=(chunk,), response="The tower was built in 1827.")
    try:
        result = await workers.evaluate(trace, DECISION)
        assert result.evaluations[0].score == 1.0
        (process,) = multiprocessing.active_children()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(PermanentError, match="died"):
            await workers.evaluate(trace, DECISION)
    finally:
        workers.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--workers", "0"], "above 0"), (["--workers", "2", "--judge", "openai/gpt-4o-mini"], "--concurrency")],
)
def test_what_workers_are_not_for(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No processes, or a judge that waits for somebody else."""
    source = written(tmp_path / "in.jsonl", a_trace())
    assert main(["backfill", str(source), "--output", str(tmp_path / "out.jsonl"), *options]) == 2
    assert said in capsys.readouterr().err
