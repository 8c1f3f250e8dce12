"""What leaves is in the journal before: the order in which a process writes and exports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from rag_otel.delivery.state_folder import StateFolder
from rag_otel.durable.dead_letters import DeadLetters
from rag_otel.durable.spool import Spool
from rag_otel.durable.trace_store import TraceStore
from rag_otel.model import SamplingDecision
from rag_otel.processing.sinks import sinks_before
from testkit.polling import eventually

DECISION = SamplingDecision(sampled=True, reason="random", probability=1.0)
SCORED = "the score of this answer"


class Looking(SpanExporter):
    """Looks at what is in the journal at the moment of the export."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.found: list[bool] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        logs = [log.read_bytes() for log in self._folder.rglob("*.log")]
        self.found.append(any(SCORED.encode() in log for log in logs))
        return SpanExportResult.SUCCESS


def test_a_span_with_scores_is_in_the_journal_before_it_leaves(tmp_path: Path) -> None:
    """Else a kill in between would have the next process evaluate the trace again, under another key."""
    spool = Spool(TraceStore(StateFolder(tmp_path), max_bytes=2**20, max_age_s=3600.0))
    exporter = Looking(tmp_path)
    processor = BatchSpanProcessor(exporter, schedule_delay_millis=3_600_000)
    (sink,) = sinks_before([processor], spool, DeadLetters(tmp_path / "dead"))
    spool.start()
    eventually(lambda: spool.unfinished is not None)
    for number in range(20):
        span = TracerProvider().get_tracer("test").start_span("answer", attributes={"text": SCORED + str(number)})
        span.end()
        assert isinstance(span, ReadableSpan)
        assert spool.admitted(span, [], 100, (DECISION, None, None), (sink.number,))
        spool.added(span, [span], (sink.number,))
        processor.on_end(span)
        processor.force_flush()
    processor.shutdown()
    spool.close(1.0)
    assert exporter.found == [True] * 20
