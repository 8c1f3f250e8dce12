"""Tells the spool what becomes of the traces of one processor, and takes up those that earlier processes left.

Imported only where a spool folder is set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from rag_otel import semconv
from rag_otel.durable.dead_letters import DeadLetters
from rag_otel.durable.progress import Sent
from rag_otel.durable.spool import Spool
from rag_otel.durable.trace_records import KeptTrace
from rag_otel.model import EvaluationStatus
from rag_otel.processing import fan_out
from rag_otel.processing.hold import Slot
from rag_otel.processing.open_spans import SubTree
from rag_otel.processing.recovery import Recovery
from rag_otel.processing.sdk_spans import span_ref
from rag_otel.processing.sinks import Sink, sinks_before
from rag_otel.safety.guard import guarded

if TYPE_CHECKING:
    from rag_otel.processing.processor import RagSpanProcessor

GIVEN_UP: Final = "given_up"
"""Why a trace has no scores whose evaluation ended the process, again and again."""
_TRIES: Final = 3
_ROOM: Final = 512


class Keeper:
    """The spool as one processor sees it. Its methods return at once and never raise."""

    def __init__(self, spool: Spool, dead: DeadLetters, processor: RagSpanProcessor) -> None:
        self._spool = spool
        self._dead = dead
        self._processor = processor
        self._sinks: tuple[Sink, ...] = ()
        self._recovery = Recovery(spool, self)
        self.exporters: tuple[int, ...] = ()

    def follow(self, processors: Sequence[SpanProcessor]) -> None:
        """Stand before the exporters of these processors from now on."""
        for sink in self._sinks:
            sink.remove()
        self._sinks = sinks_before(processors, self._spool, self._dead)
        self.exporters = tuple(sink.number for sink in self._sinks)
        if processors:
            self._recovery.start()

    def admitted(self, slot: Slot) -> None:
        """A trace was admitted: keep it."""
        self._recovery.start()
        about = (slot.decision, slot.snapshot, slot.root)
        slot.kept = self._spool.admitted(slot.span, slot.tree.spans, slot.tree.size, about, self.exporters)

    def forget(self, slot: Slot) -> None:
        """It was turned away after all."""
        if slot.kept:
            self._spool.forget(slot.span)
            slot.kept = False

    def goes_out(self, slot: Slot, *spans: ReadableSpan) -> None:
        """Spans go to the exporters for a trace, as they are."""
        if slot.kept:
            self._spool.added(slot.span, spans, self.exporters)

    def read(self, slot: Slot, spans: Sequence[ReadableSpan]) -> None:
        """The spans of a trace, with those that have ended after its target."""
        known = {id(span) for span in slot.tree.spans}
        if slot.kept and (later := [span for span in spans if id(span) not in known]):
            self._spool.added(slot.span, later, self.exporters)

    def when_written(self, slot: Slot) -> Callable[[], None] | None:
        """A trace is evaluated, or has nothing to evaluate: what to call when its results are written."""
        if slot.taken_up:
            self._spool.evaluated(slot.span)
        return partial(self._spool.written, slot.span) if slot.kept else None

    def flush(self, timeout_s: float) -> bool:
        """Write what was handed over so far."""
        return self._spool.flush(timeout_s)

    def stop(self) -> None:
        """Take up nothing more."""
        self._recovery.stop()

    def close(self) -> None:
        """Another spool takes over, or none."""
        self.stop()
        self.follow(())

    def after_fork(self) -> None:
        """The parent takes up what was left."""
        self._recovery.after_fork()

    # --- what earlier processes left ----------------------------------------------------------------------------------

    @property
    def room(self) -> int:
        smallest = fan_out.smallest_queue(self._processor.next)
        return _ROOM if smallest is None else max(1, smallest // 4)

    def take_up(self, kept: KeptTrace) -> bool:
        downstream = self._processor.next
        if not downstream:
            return False
        to_do = not kept.written and kept.begun < _TRIES
        target = kept.target
        slot = Slot(
            span=target,
            target=span_ref(target.context),
            tree=SubTree(spans=tuple(kept.read.values()), size=_size(kept), complete=True),
            snapshot=kept.snapshot,
            decision=kept.decision,
            root=kept.root,
            downstream=downstream,
            kept=True,
            taken_up=True,
            scored=kept.released and _is_scored(kept.spans[target.context.span_id]),
        )
        if to_do and not self._processor.admits(slot, held=not kept.released):
            return False
        self._spool.taken_up(kept, self.exporters, evaluated=to_do)
        for span_id, span in kept.spans.items():
            if span_id not in kept.exported and (kept.released or span_id != target.context.span_id):
                fan_out.end_later(downstream, span)
        if to_do:
            if not kept.released and not slot.deadline:
                fan_out.end_later(downstream, self._processor.passing_late(slot))
            self._processor.evaluate_later(slot)
            return True
        if not kept.released:
            going = self._processor.unscored(target, EvaluationStatus.FAILED, GIVEN_UP, kept.decision)
            self.goes_out(slot, going)
            fan_out.end_later(downstream, going)
        self._spool.evaluated(target)
        self._spool.written(target)
        return True

    def send_again(self, kept: KeptTrace, sent: set[Sent]) -> None:
        for sink in self._sinks:
            for number, span_id in sent:
                if number == sink.number and (span := kept.spans.get(span_id)) is not None:
                    fan_out.end_later((sink.processor,), span)

    def export_now(self) -> None:
        for sink in self._sinks:
            with guarded("keeping.export_now"):
                sink.processor.force_flush()


def _is_scored(span: ReadableSpan) -> bool:
    return (span.attributes or {}).get(semconv.STATUS) == EvaluationStatus.EVALUATED


def _size(kept: KeptTrace) -> int:
    """Characters of text, about: as many as the tracker would have counted."""
    return sum(
        len(value)
        for span in kept.read.values()
        for value in (span.attributes or {}).values()
        if isinstance(value, str)
    )
