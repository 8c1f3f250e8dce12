"""Between a processor's slots and the traces that are kept on disk. Imported only where a state folder is set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from rag_otel.durable.kept_traces import KeptTraces
from rag_otel.durable.trace_records import KeptTrace
from rag_otel.processing.hold import Slot
from rag_otel.processing.open_spans import SubTree
from rag_otel.processing.sdk_spans import span_ref
from rag_otel.safety.privacy import hidden_now

GIVEN_UP: Final = "given_up"
"""Why a trace has no scores whose evaluation ended the process, again and again."""
_TRIES: Final = 3


class Keeper:
    """The kept traces as one processor sees them. Its methods return at once and never raise."""

    def __init__(self, traces: KeptTraces, take_up: Callable[[KeptTrace], bool]) -> None:
        """`take_up` evaluates a trace that an earlier process left, on the worker; False where there is no room."""
        self._traces = traces
        self._take_up = take_up
        traces.hand_out_to(take_up)

    def admitted(self, slot: Slot) -> None:
        """A trace was admitted: keep it. What must not be written anywhere is not kept either."""
        captured = slot.snapshot is None or slot.snapshot.capture_content
        if captured and not hidden_now().anything:
            about = (slot.decision, slot.snapshot, slot.root)
            slot.kept = self._traces.admitted(slot.span, slot.tree.spans, slot.tree.size, about)

    def forget(self, slot: Slot) -> None:
        """It was turned away after all."""
        if slot.kept:
            self._traces.written(slot.span)
            slot.kept = False

    def released(self, slot: Slot, *, scored: bool = False) -> None:
        """The target goes to the exporters."""
        if slot.kept:
            self._traces.released(slot.span, scored=scored)

    def read(self, slot: Slot, spans: Sequence[ReadableSpan]) -> None:
        """The spans of a trace, with those that have ended after its target."""
        known = {id(span) for span in slot.tree.spans}
        if slot.kept and (later := [span for span in spans if id(span) not in known]):
            self._traces.found(slot.span, later)

    def begun(self, slot: Slot) -> None:
        """The evaluation of a trace of an earlier process begins; it may end this one too."""
        self._traces.begun(slot.span)

    def when_written(self, slot: Slot) -> Callable[[], None] | None:
        """A trace is evaluated, or has nothing to evaluate: what to call when its results are written."""
        if slot.taken_up:
            self._traces.evaluated(slot.span)
        return partial(self._traces.written, slot.span) if slot.kept else None

    def flush(self, timeout_s: float) -> bool:
        """Write what was handed over so far."""
        return self._traces.flush(timeout_s)

    def stop(self) -> None:
        """Take up nothing more. Safe to call twice."""
        self._traces.hand_out_no_more(self._take_up)


def is_given_up(kept: KeptTrace) -> bool:
    """True for a trace whose evaluation has ended one process after the other."""
    return kept.begun >= _TRIES


def slot_of(kept: KeptTrace, downstream: tuple[SpanProcessor, ...]) -> Slot:
    """A slot for a trace that an earlier process left."""
    return Slot(
        span=kept.target,
        target=span_ref(kept.target.context),
        tree=SubTree(spans=tuple(kept.read.values()), size=_size(kept), complete=True),
        snapshot=kept.snapshot,
        decision=kept.decision,
        root=kept.root,
        downstream=downstream,
        kept=True,
        taken_up=True,
        scored=kept.scored,
    )


def _size(kept: KeptTrace) -> int:
    """Characters of text, about: as many as the tracker would have counted."""
    return sum(
        len(value)
        for span in kept.read.values()
        for value in (span.attributes or {}).values()
        if isinstance(value, str)
    )
