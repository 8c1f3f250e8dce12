"""Which traces are kept, and which are handed out."""

from __future__ import annotations

from pathlib import Path

from rag_otel.durable.kept_traces import KeptTraces
from rag_otel.durable.state_folder import StateFolder
from rag_otel.durable.trace_records import KeptTrace
from rag_otel.model import SamplingDecision
from rag_otel.safety.guard import counters
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.durable.kit import a_program
from tests.durable.test_journal import a_span

DECISION = SamplingDecision(sampled=True, reason="random", probability=1.0)


def handed_out(folder: Path, *, max_age_s: float) -> list[KeptTrace]:
    """What the next process takes up, once all is handed out."""
    found: list[KeptTrace] = []

    def take_up(kept: KeptTrace) -> bool:
        found.append(kept)
        traces.written(kept.target)
        return True

    traces = KeptTraces(StateFolder(folder), max_age_s=max_age_s)
    traces.left.hand_out_to(take_up)
    traces.start()
    eventually(lambda: traces.unfinished == 0)
    traces.close(5)
    return found


def test_a_trace_that_is_too_old_is_given_up(tmp_path: Path) -> None:
    """It is counted, and gone; a younger one is handed out, once."""
    traces = KeptTraces(StateFolder(tmp_path))
    traces.start()
    eventually(lambda: traces.unfinished is not None)
    span = a_span()
    assert traces.admitted(span, [span], 100, (DECISION, None, None))
    traces.close(5)
    before = counters.get("traces.expired")
    assert handed_out(tmp_path, max_age_s=-1.0) == []
    assert counters.get("traces.expired") == before + 1
    assert handed_out(tmp_path, max_age_s=3600.0) == []


def test_what_was_not_taken_is_handed_out_again(tmp_path: Path) -> None:
    traces = KeptTraces(StateFolder(tmp_path))
    traces.start()
    eventually(lambda: traces.unfinished is not None)
    span = a_span()
    traces.admitted(span, [span], 100, (DECISION, None, None))
    traces.close(5)
    asked: list[bytes] = []

    def take_up(kept: KeptTrace) -> bool:
        asked.append(kept.key)
        if len(asked) == 3:
            traces.written(kept.target)
        return len(asked) == 3

    traces = KeptTraces(StateFolder(tmp_path))
    traces.left.hand_out_to(take_up)
    traces.start()
    eventually(lambda: len(asked) == 3 and traces.unfinished == 0)
    traces.close(5)
    assert len(set(asked)) == 1


def test_hidden_content_is_not_kept(tmp_path: Path) -> None:
    """It must not be written anywhere."""
    with http_receiver() as backend, a_program(tmp_path, backend.url, RAG_OTEL_CAPTURE_CONTENT="false") as program:
        program.do("answer 5")
        program.do("flush")
        assert "traces.kept" not in program.counters
        assert not any(b"Question" in path.read_bytes() for path in tmp_path.rglob("*.log"))
