"""A sink stands before an application's exporter and tells the spool what the backend has taken.

A batch that the backend refuses for good is halved until the spans that it objects to stand alone; those go to the
dead letters. Of a partial success nobody knows which spans were rejected: the whole batch goes there.

What leaves with its scores is in the journal before: a process that dies then leaves the same span to the next one,
which sends it again and does not evaluate the trace a second time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rag_otel.durable.dead_letters import DeadLetters
from rag_otel.durable.span_codec import encode
from rag_otel.durable.spool import Spool
from rag_otel.processing.export_answers import ExportAnswers
from rag_otel.safety.guard import counters, guarded, logger

_PARTS: Final = 32
"""Requests that one refused batch may cause; then what is left of it goes to the dead letters as it is."""
_JOURNAL_S: Final = 1.0
"""So long a batch waits at most for the journal; a disk may hang."""
_numbers: Final = itertools.count(1)


class Sink(SpanExporter):
    """The exporter of one span processor."""

    def __init__(self, exporter: SpanExporter, processor: SpanProcessor, spool: Spool, dead: DeadLetters) -> None:
        self.number = next(_numbers)
        self.exporter = exporter
        self.processor = processor
        self._spool = spool
        self._dead = dead
        self._answers = ExportAnswers(exporter)
        self._exports_by_itself = _batching(processor) is not None
        """On a thread of its own, which may wait; not on that of the request."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._exports_by_itself:
            with guarded("sink.journal"):
                self._spool.flush(_JOURNAL_S)
        result, refused = self._send(spans)
        if refused:
            with guarded("sink.refused"):
                return self._send_parts(spans, refused)
        return result

    def _send(self, spans: Sequence[ReadableSpan]) -> tuple[SpanExportResult, str]:
        """Export, and tell the spool; or why all of them were refused, which the spool is not told."""
        self._answers.forget()
        taken = False
        try:
            result = self.exporter.export(spans)
            taken = result is SpanExportResult.SUCCESS
        finally:
            refused = "" if taken else self._answers.refusal or ""
            if not refused:
                self._spool.exported(self.number, [span.context.span_id for span in spans], taken=taken)
        if taken and self._answers.rejected:
            self._bury(spans, self._answers.reason or "partial success", rejected=self._answers.rejected)
        return result, refused

    def _send_parts(self, spans: Sequence[ReadableSpan], refused: str) -> SpanExportResult:
        left: list[tuple[Sequence[ReadableSpan], str]] = [(spans, refused)]
        sent, result = 0, SpanExportResult.SUCCESS
        while left:
            part, why = left.pop()
            if len(part) == 1 or sent >= _PARTS:
                self._bury(part, why)
                self._spool.exported(self.number, [span.context.span_id for span in part], taken=True)
                result = SpanExportResult.FAILURE
                continue
            for half in (part[: len(part) // 2], part[len(part) // 2 :]):
                sent += 1
                outcome, again = self._send(half)
                if again:
                    left.append((half, again))
                elif outcome is not SpanExportResult.SUCCESS:
                    result = outcome
        return result

    def _bury(self, spans: Sequence[ReadableSpan], reason: str, *, rejected: int | None = None) -> None:
        with guarded("sink.dead_letter"):
            if counters.add("spool.dead_letters") == 1:
                logger.warning("rag-otel: the backend refuses spans (%s); they are in %s", reason, self._dead.folder)
            backend = getattr(self.exporter, "_endpoint", None) or type(self.exporter).__qualname__
            self._dead.add(encode(list(spans)), backend=str(backend), reason=reason, rejected=rejected)

    def shutdown(self, *given: Any, **named: Any) -> None:
        self.exporter.shutdown(*given, **named)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self.exporter.force_flush(timeout_millis)

    def remove(self) -> None:
        """Put the exporter back in its place. Safe to call twice."""
        self._answers.close()
        if _exporter_of(self.processor) is self:
            _put(self.processor, self.exporter)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.exporter, name)


def sinks_before(processors: Sequence[SpanProcessor], spool: Spool, dead: DeadLetters) -> tuple[Sink, ...]:
    """A sink before the exporter of every processor that has one of its own.

    What another kind of processor is handed counts as exported: nobody can ask it. That is said once.
    """
    made = []
    for processor in processors:
        exporter = _exporter_of(processor)
        if not isinstance(exporter, SpanExporter):
            if counters.add("spool.unacknowledged") == 1:
                logger.warning(
                    "rag-otel: %s does not tell what it has exported: what it is handed counts as exported",
                    type(processor).__qualname__,
                )
            continue
        sink = Sink(exporter, processor, spool, dead)
        _put(processor, sink)
        made.append(sink)
    return tuple(made)


# --- private parts of the SDK, all of them --------------------------------------------------------------------------


def _batching(processor: SpanProcessor) -> Any:
    return getattr(processor, "_batch_processor", None)


def _exporter_of(processor: SpanProcessor) -> object:
    batching = _batching(processor)
    return vars(processor).get("span_exporter") if batching is None else getattr(batching, "_exporter", None)


def _put(processor: Any, exporter: SpanExporter) -> None:
    batching = _batching(processor)
    if batching is None:
        processor.span_exporter = exporter
    else:
        batching._exporter = exporter
