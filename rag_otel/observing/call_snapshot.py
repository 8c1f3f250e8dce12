"""What a decorated call hands to evaluation as it returns: the strings themselves, not the span's attributes.

The SDK's limits may already have cut the attributes (45 flattened chunks evict `input.value` at the default of
128), so the text is never read back from them. A snapshot holds references to immutable strings: taking one
costs microseconds, and everything that must be parsed is parsed on the worker.

It travels beside the span, keyed by the span's ids, because an ended SDK span cannot carry extra data. `offer` is
called just before `span.end()`, `take` in the processor's `on_end`, `discard` right after `span.end()`: what
no processor took is gone, so nothing can pile up.

Before that the call asks `known_status`: where the processor knows already that the call will not be evaluated, the
call writes the status with its own attributes, and the ended span need not be copied to add it.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Protocol

from opentelemetry.context import Context, create_key, get_value
from opentelemetry.trace import Span, SpanContext

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import AttributeValue, Chunk, EvaluatedTrace, SamplingDecision

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan


class Judging(Protocol):
    """The evaluation of an answer that began before the answer left; see `rag_otel.guarding`."""

    @property
    def decision(self) -> SamplingDecision:
        """The sampling decision, as far as it is known."""
        ...

    async def result(self) -> EvaluatedTrace | None:
        """The result, waited for. None: there is none, and the trace goes the ordinary way."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRecord:
    """What a guard did with the answer of a call."""

    judging: Judging | None
    """None: no evaluation was begun."""
    attributes: Mapping[str, AttributeValue]
    """For the span."""
    left: str | None = None
    """The text that left in place of the answer. None: the answer itself, or no text."""
    judged: tuple[str | None, tuple[Chunk, ...] | None, str | None] | None = None
    """Question, chunks and response that were judged, in place of what is found in the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Question, chunks and response of one observed call."""

    question: str | None = None
    chunks: tuple[Chunk, ...] | None = None
    """None: not known to the call itself; nested retriever spans may hold them."""
    response: str | None = None
    memory: tuple[str, ...] = ()
    """What the application remembered, see `rag_otel.record_memory`."""
    history: tuple[str, ...] = ()
    """Earlier messages, by turns the role and the text, see `rag_otel.observing.history`."""
    reference: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    incomplete: bool = False
    """The stream was closed before its end, or the call was cancelled."""
    failed: bool = False
    """The call raised."""
    omitted_chunks: int = 0
    """Chunks beyond those that are looked at while the application waits."""
    omitted_characters: int = 0
    """The same for the characters of all texts."""
    capture_content: bool = True
    """False: evaluate, but write no text back (`@observe(capture_content=False)`)."""
    judging: Any = field(default=None, compare=False, repr=False)
    """A `Judging`: a guard has begun the evaluation of this answer already. Not kept on disk."""

    @property
    def truncated(self) -> bool:
        """True when something is missing here: an answer is not judged by a part of its evidence."""
        return self.omitted_chunks > 0 or self.omitted_characters > 0


_pending: dict[tuple[int, int], Snapshot] = {}


def _key(context: SpanContext) -> tuple[int, int]:
    return context.trace_id, context.span_id


def offer(context: SpanContext, snapshot: Snapshot) -> None:
    """Lay a snapshot beside the span that is about to end."""
    _pending[_key(context)] = snapshot


def take(context: SpanContext) -> Snapshot | None:
    """The snapshot of this span, once; None where there is none."""
    return _pending.pop(_key(context), None)


def discard(context: SpanContext) -> None:
    """Forget the snapshot of a span that has ended, if nobody took it."""
    _pending.pop(_key(context), None)


class Decides(Protocol):
    """A processor that decides on the evaluation of calls."""

    def watches(self, span: Span) -> bool:
        """True for an open span whose start the processor has seen."""
        ...

    def status_before_end(self, span: Span, snapshot: Snapshot, room: int | None) -> Mapping[str, AttributeValue]:
        """Status attributes of a call that is not evaluated; empty where it is, where that is not known yet, or where
        the span has no `room` for as many attributes. Never raises."""
        ...

    def ended_below(self, span: Span) -> Sequence[ReadableSpan]:
        """What has ended so far below an open span, as far as it was kept. Never raises."""
        ...


_deciding: tuple[weakref.ref[Decides], ...] = ()
_NO_STATUS: Final[Mapping[str, AttributeValue]] = {}


def decides(processor: Decides) -> None:
    """Ask `processor` in `known_status` from now on, as long as it lives."""
    global _deciding
    _deciding = (*(each for each in _deciding if each() is not None), weakref.ref(processor))


def known_status(span: Span, snapshot: Snapshot, room: int | None) -> Mapping[str, AttributeValue]:
    """Status attributes to write on the span of a call that is about to end; `room`: how many more it takes, None: any.

    Empty where several processors watch the span: each writes its own status on its own copy then.
    """
    watching = [found for each in _deciding if (found := each()) is not None and found.watches(span)]
    return watching[0].status_before_end(span, snapshot, room) if len(watching) == 1 else _NO_STATUS


def ended_below(span: Span) -> Sequence[ReadableSpan]:
    """What has ended so far below an open span of an observed call, for who must judge the answer before it ends."""
    return next((e.ended_below(span) for r in _deciding if (e := r()) is not None and e.watches(span)), ())


class Observing(Protocol):
    """An observed call while it runs, as far as others may see it."""

    documents_elsewhere: Mapping[str, Any] | None
    """Attributes of the last span inside the call that carries documents with their text."""
    outer: Observing | None
    """The observed call around this one."""

    def record(self, documents: object) -> bool:
        """Add documents that were retrieved for this call; False where they cannot be read."""
        ...

    def remember(self, memory: object) -> bool:
        """Add what the application remembered for this call; False where it cannot be read."""
        ...


OBSERVATION_KEY: Final = create_key("rag-otel-observation")
"""Where the innermost running observed call stands in the OpenTelemetry context."""


def documents_written(attributes: Mapping[str, Any], context: Context | None = None) -> None:
    """A nested span that carries documents with their text has ended: the calls around it need not repeat those.

    For the processor's `on_end`, where the current context is still the one that the retriever ran in.
    """
    observation: Observing | None = get_value(OBSERVATION_KEY, context)  # type: ignore[assignment]
    while observation is not None:
        observation.documents_elsewhere = attributes
        observation = observation.outer
