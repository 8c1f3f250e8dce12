"""What is known of a span while it is open, what is handed over when one is a candidate, and what is waited for.

Three things come late. A stream ends with its reader, long after the chain that returned it, and only the model's span
has the answer. A stream that its reader leaves ends its chain first, and the model's span, which has the proof, a
moment later. And a retrieval and the model call beside it, under a span of nobody's dialect, are known for one
question only when nothing more is under way there. So the worker waits before it reads a trace (`SubTree.whole`).
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Final, NamedTuple

from opentelemetry.sdk.trace import ReadableSpan, Span

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot

OWNED: Final = -1
"""Of `OpenSpan.owned`: a dialect owns it."""
NOT_ASKED: Final = -2


class Decided(NamedTuple):
    """Whether a candidate is evaluated, as far as that is known when its span ends."""

    target: SpanRef
    decision: SamplingDecision
    reason: str | None
    """Why it is not; None where it may be."""


class OpenSpan:
    """A span between its start and its end, and what has ended below it.

    One is made for every span of the application, so most of it stands in the class until it changes.
    """

    owned: int = NOT_ASKED
    """`OWNED`, `NOT_ASKED`, or how many attributes it had when the answer was no."""
    children: set[OpenSpan] | None = None
    """Those that have not ended; None where there have been none."""
    ended: bool = False
    retrieved: bool = False
    called: bool = False
    """A model was called here or below."""
    candidate_below: bool = False
    size: int = 0
    """Characters of text in `below`."""
    complete: bool = True
    """False when there were too many spans below to keep."""
    siblings: Siblings | None = None
    """What ended side by side under this span of nobody's dialect."""
    waiting: LateSpans | None = None
    """Of a candidate above this span that has ended before it."""
    snapshot: Snapshot | None = None
    """Of an observed call: what it has handed over, just before its span ended."""
    decided: Decided | None = None
    """What was decided then."""
    written: str | None = None
    """Why it is not evaluated, where its span says so already."""

    def __init__(self, span: Span | ReadableSpan, parent: OpenSpan | None, *, own: bool) -> None:
        self.span = span
        self.parent = parent
        self.own = own
        """A span of our own traffic."""
        self.below: list[ReadableSpan] = []
        """What has ended below it, as far as it is kept here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubTree:
    """A candidate's ended spans."""

    spans: tuple[ReadableSpan, ...]
    """The candidate, its descendants and, for a nested call, other spans of the same entry."""
    size: int
    """Characters of text in them, as a measure of bytes."""
    complete: bool
    """False when there were too many to keep."""
    late: LateSpans | None = None
    """Spans below the candidate that were still open when it ended."""
    streaming: bool = False
    """True where those are calls of a model, whose stream may go on for long, and has the answer."""
    siblings: Siblings | None = None
    """What ended beside the candidate, where its retrieval does."""
    around: OpenSpan | None = None
    """The span around them."""

    @property
    def waits(self) -> bool:
        """True where something that belongs to it may still be under way."""
        return self.late is not None or self.siblings is not None

    async def whole(self, *, late_s: float, stream_s: float) -> tuple[ReadableSpan, ...]:
        """All its spans, with those that end within the time. Raises TimeoutError where the answer was not among them:
        a stream that goes on, a later call beside the candidate."""
        if self.siblings is not None and self.around is not None:
            if not await self.siblings.wait_until_over(late_s) and self.around.children:
                raise TimeoutError("another call beside it is under way")
            return tuple(self.siblings.spans)
        if self.late is None:
            return self.spans
        ended = await self.late.wait(stream_s if self.streaming else late_s)
        if self.streaming and not self.late.all_ended:
            raise TimeoutError("the stream goes on")
        return (*self.spans, *ended)


class LateSpans:
    """Open spans that somebody waits for. Ends are told by application threads, waited for by the worker."""

    def __init__(self, waited_for: Iterable[Hashable]) -> None:
        self._lock = threading.RLock()
        self._waited_for = set(waited_for)
        self._spans: list[ReadableSpan] = []
        self._wake: Callable[[], object] | None = None

    def ended(self, one: Hashable, span: ReadableSpan) -> None:
        """One of them has ended."""
        with self._lock:
            if one not in self._waited_for:
                return
            self._waited_for.discard(one)
            self._spans.append(span)
            if self._waited_for or self._wake is None:
                return
            wake = self._wake
        wake()

    @property
    def all_ended(self) -> bool:
        return not self._waited_for

    async def wait(self, timeout_s: float) -> list[ReadableSpan]:
        """Those that have ended, once all have or the time is up; later ones are not waited for."""
        loop, all_ended = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the worker has ended meanwhile
                loop.call_soon_threadsafe(all_ended.set)

        with self._lock:
            if not self._waited_for:
                all_ended.set()
            self._wake = wake
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await all_ended.wait()
        with self._lock:
            return list(self._spans)


class Siblings:
    """What ended side by side under one span of nobody's dialect: retrievals, then the calls that were told of them.

    It is over when that span ends, or when the next retrieval there begins another one.
    """

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []
        self.size = 0
        """Characters of text in them."""
        self.complete = True
        """False when there were too many to keep."""
        self.answered = False
        """True once a call that may have been told of the retrievals has ended."""
        self._late_spans = LateSpans([self])

    def over(self, span: ReadableSpan) -> None:
        """Nothing more belongs to it; `span` is what tells."""
        self._late_spans.ended(self, span)

    async def wait_until_over(self, timeout_s: float) -> bool:
        """False when the time was up: more may come."""
        return bool(await self._late_spans.wait(timeout_s))
