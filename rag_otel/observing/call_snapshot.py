"""What a decorated call hands to evaluation as it returns: the strings themselves, not the span's attributes.

The SDK's limits may already have cut the attributes (45 flattened chunks evict `input.value` at the default of
128), so the text is never read back from them. A snapshot holds references to immutable strings: taking one
costs microseconds, and everything that must be parsed is parsed on the worker.

The processor says at a span's start that it watches it (`watch`). The call hands it the snapshot just before the span
ends (`hand_over`), and hears the status of a call that is not evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Protocol

from opentelemetry.context import Context, create_key, get_value
from opentelemetry.trace import Span

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import AttributeValue, Chunk, UnevaluableReason

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

    from rag_otel.observing.call import ObservedCall


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
    """Earlier messages, by turns the role and the text, see `rag_otel.observing.session`."""
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
    whole: bool = field(default=False, compare=False)
    """True where its span has no attributes but those that the call writes: nothing is to be read there."""
    capture_content: bool = True
    """False: evaluate, but write no text back (`@observe(capture_content=False)`)."""
    judging: Any = field(default=None, compare=False, repr=False)
    """The `Check` of a guard, which has begun the evaluation of this answer already. Not kept on disk."""

    @property
    def characters(self) -> int:
        """Characters of all texts, as a measure of bytes."""
        size = len(self.question or "") + len(self.response or "") + sum(map(len, (*self.memory, *self.history)))
        return size + sum([len(chunk.text) for chunk in self.chunks or ()])

    @property
    def unevaluable_reason(self) -> UnevaluableReason | None:
        """Why the call cannot be evaluated, whatever its spans hold; None where that must be read first."""
        if self.failed:
            return UnevaluableReason.ERROR
        if self.incomplete:
            return UnevaluableReason.INCOMPLETE
        if self.omitted_chunks or self.omitted_characters:  # an answer is not judged by a part of its evidence
            return UnevaluableReason.TRUNCATED
        return None


class WatchesCalls(Protocol):
    """A span processor that evaluates observed calls."""

    def call_ending(self, span: Span, snapshot: Snapshot, room: int | None) -> Mapping[str, AttributeValue]:
        """Take the snapshot of a call whose span is about to end. Never raises.

        Returns the status attributes of a call that is not evaluated; nothing where it is, where that is not known
        yet, or where the span has no `room` for as many attributes (None: any number).
        """
        ...

    def ended_below(self, span: Span) -> Sequence[ReadableSpan]:
        """What has ended so far below an open span, as far as it was kept. Never raises."""
        ...


_WATCHING: Final = "_rag_otel_watching"
"""Attribute of a call's span: the processors that watch it. It lives as long as the span."""
_NO_STATUS: Final[Mapping[str, AttributeValue]] = {}


def watch(span: Span, processor: WatchesCalls) -> None:
    """Have the snapshot of this span's call handed to `processor`. For `on_start`."""
    setattr(span, _WATCHING, (*getattr(span, _WATCHING, ()), processor))


def hand_over(span: Span, snapshot: Snapshot, room: int | None) -> Mapping[str, AttributeValue]:
    """Give the snapshot of a call to who watches its span, just before the span ends; `room`: how many more attributes
    the span takes, None: any number.

    Returns status attributes to write on the span, because an ended one must be copied to add them. None where several
    watch the span: each writes its own status on its own copy then.
    """
    watching: tuple[WatchesCalls, ...] = getattr(span, _WATCHING, ())
    if len(watching) == 1:
        return watching[0].call_ending(span, snapshot, room)
    for each in watching:
        each.call_ending(span, snapshot, 0)
    return _NO_STATUS


def ended_below(span: Span) -> Sequence[ReadableSpan]:
    """What has ended so far below an open span of an observed call, for who must judge the answer before it ends."""
    watching: tuple[WatchesCalls, ...] = getattr(span, _WATCHING, ())
    return watching[0].ended_below(span) if watching else ()


OBSERVATION_KEY: Final = create_key("rag-otel-observation")
"""Where the innermost running observed call stands in the OpenTelemetry context."""


def documents_written(attributes: Mapping[str, Any], context: Context | None = None) -> None:
    """A nested span that carries documents with their text has ended: the calls around it need not repeat those.

    For the processor's `on_end`, where the current context is still the one that the retriever ran in.
    """
    observation: ObservedCall | None = get_value(OBSERVATION_KEY, context)  # type: ignore[assignment]
    while observation is not None:
        observation.documents_elsewhere = attributes
        observation = observation.outer
