"""What happens to a request: each span goes on at once, is held for its trace, or is reported as malformed.

The rule of acceptance: a request is answered with success once all its spans are on disk, those that go on in the
outbox, those that are held in the journal. Until then it is refused as a whole, to be sent again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel.durable.journal import Journal
from rag_otel.errors import InputError, RetryableError
from rag_otel.model import SpanRef
from rag_otel.protocols import Convention, Sampler
from rag_otel.safety.guard import guarded
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.assembly.disk import short_of
from rag_otel_collectors.otlp.assembly.live_traces import SPAN_OVERHEAD_BYTES, LiveTraces
from rag_otel_collectors.otlp.exporters.outbox import Outbox
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.requests.span_records import attributes_from, outline
from rag_otel_collectors.otlp.requests.wire import SpanSlice, join, split, without_attributes

HELD: Final = "held"
MALFORMED: Final = "malformed"
NOT_SAMPLED: Final = "not_sampled"
NOT_RAG: Final = "not_rag"
LATE: Final = "late"
LARGE: Final = "too_large"
DISK_FULL: Final = "disk_queue_full"
TRACES_FULL: Final = "too_many_traces"
DISK_ERROR: Final = "disk_error"
CROWDED: Final = "too_many_requests"
DRAINING: Final = "shutting_down"

_NO_TRACE: Final = bytes(16)
_NO_SPAN: Final = bytes(8)
_FULL_S: Final = 0.1
_RETRY_AFTER_S: Final = 2.0
"""When refused senders may come back: soon enough for exporters, which give up after tens of seconds."""
_USUAL_REQUEST_BYTES: Final = 64 * 2**10
MALFORMED_IDS: Final = "trace_id must be 16 bytes and span_id 8 bytes, neither all zero"


class Accepted(NamedTuple):
    """A request that was taken in."""

    rejected_spans: int = 0
    """Malformed spans in it: all that a partial success is for."""
    message: str = ""


class RefusedError(RetryableError):
    """Nothing of the request was taken in; it may be sent again after `retry_after_s`. `reason` is for counting."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"not accepted for now: {reason}", retry_after_s=_RETRY_AFTER_S)
        self.reason = reason


_VERDICTS: Final = ("rag.evaluation.", "rag.sampling.", "rag.guard.")
"""Attributes that only an evaluation, its sampler and a guard may write."""


class _Remembered(dict[bytes, str]):
    """What `find` says of each trace id, which is asked once."""

    def __init__(self, find: Callable[[bytes], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, trace_id: bytes) -> str:
        self[trace_id] = found = self._find(trace_id)
        return found


class Intake:
    """Takes serialised requests in, whatever they came over. Belongs to the event loop's thread."""

    def __init__(
        self,
        *,
        conventions: Sequence[Convention],
        sampler: Sampler,
        live: LiveTraces,
        journal: Journal,
        outbox: Outbox,
        metrics: Metrics,
        max_disk_bytes: int,
        max_held_bytes: int,
        held: Callable[[], None] = lambda: None,
        other_disk_bytes: Callable[[], int] = lambda: 0,
        trusts_scores: bool = True,
    ) -> None:
        """`held` is called after spans were held. `max_held_bytes` is the bound of `live`: a request that would take
        up more than half of it alone is not evaluated, since waiting would not make it fit. `other_disk_bytes` is what
        else counts against `max_disk_bytes`. Without `trusts_scores`, what spans say of their own evaluation is
        taken off them, so that it neither prevents an evaluation nor gets stored."""
        self._conventions = conventions
        self._sampler = sampler
        self._live = live
        self._journal = journal
        self._outbox = outbox
        self._metrics = metrics
        self._max_disk_bytes = max_disk_bytes
        self._max_request_held = max_held_bytes // 2
        self._held = held
        self._other_disk_bytes = other_disk_bytes
        self._trusts_scores = trusts_scores
        self._full_until = 0.0
        self._wants_room = False
        self.draining = False

    def refusal(self, size: int = 0) -> str | None:
        """Why a request of `size` bytes would be refused now; None when it would be read."""
        if self.draining:
            return DRAINING
        # What is held will be in the outbox before it leaves the journal, so it takes its size twice.
        queues = self._outbox.disk_bytes + self._journal.disk_bytes + self._other_disk_bytes()
        expected = queues + self._live.held_bytes + 2 * size
        if expected > self._max_disk_bytes or short_of(self._outbox.log, self._live.held_bytes + 2 * size):
            self._wants_room = True
            return DISK_FULL
        if time.monotonic() < self._full_until or not self._live.room_for(0, 0):
            return TRACES_FULL
        return None

    @property
    def not_ready(self) -> str | None:
        """Why senders should go elsewhere: a request of usual size would be refused now."""
        return self.refusal(_USUAL_REQUEST_BYTES)

    def wanted_room(self) -> bool:
        """True where a request has been refused since the last call because the disk had no room for it."""
        wanted, self._wants_room = self._wants_room, False
        return wanted

    def admit(self, size: int = 0) -> None:
        """Raises RefusedError when a request of `size` bytes would be refused now."""
        if (reason := self.refusal(size)) is not None:
            raise self.refused(reason)

    def accept(self, request: bytes) -> Accepted:
        """Take a serialised ExportTraceServiceRequest in.

        Raises RefusedError (nothing was taken, send it again) and InputError (it is no such message).
        """
        self.admit(len(request))
        try:
            message = ExportTraceServiceRequest.FromString(request)
        except DecodeError:
            raise InputError("not an OTLP export request in protobuf") from None
        if not self._trusts_scores and (stripped := without_attributes(request, _VERDICTS)) != request:
            request, message = stripped, ExportTraceServiceRequest.FromString(stripped)
        dispositions = self._dispositions(message)
        if HELD in dispositions or MALFORMED in dispositions:
            self._take_apart(request, message, dispositions)
        elif dispositions:
            self._forward(request)
        counted = Counter(dispositions)
        self._count(counted)
        rejected = counted[MALFORMED]
        return Accepted(rejected, MALFORMED_IDS if rejected else "")

    def resume(self, trace_id: bytes, requests: Sequence[bytes]) -> None:
        """Take in again what an earlier process had accepted and not finished; it is in the journal already."""
        for request in requests:
            for item in split(request):
                self._live.hold(trace_id, item, root=_is_root(Span.FromString(item.span)))

    def _dispositions(self, message: ExportTraceServiceRequest) -> list[str]:
        """What becomes of each span, in the request's order."""
        dispositions: list[str] = []
        of_trace = _Remembered(self._disposition_of_trace)
        for resource_spans in message.resource_spans:
            for scope_spans in resource_spans.scope_spans:
                for span in scope_spans.spans:  # most of the work of a collector that passes on: no call for each span
                    disposition, span_id = of_trace[span.trace_id], span.span_id
                    if len(span_id) != 8 or span_id == _NO_SPAN:
                        disposition = MALFORMED
                    elif disposition is HELD:
                        disposition = self._disposition_of_span(span, scope_spans.scope.name)
                    dispositions.append(disposition)
        return dispositions

    def _disposition_of_span(self, span: Span, scope: str) -> str:
        """Of a span whose trace is held."""
        attributes = attributes_from(span.attributes)
        if self._is_rag(scope, attributes):
            return HELD
        root = _is_root(span) and semconv.FEEDBACK_RATING not in attributes  # feedback ends nothing
        self._live.passed(span.trace_id, outline(span, scope, attributes), root=root)
        return NOT_RAG

    def _disposition_of_trace(self, trace_id: bytes) -> str:
        if len(trace_id) != 16 or trace_id == _NO_TRACE:
            return MALFORMED
        if not self._sampler.decide(SpanRef(trace_id=trace_id.hex(), span_id="")).sampled:
            return NOT_SAMPLED
        left = self._live.has_left(trace_id)
        if left is None:
            return HELD
        self._metrics.add(names.LATE_SECONDS, time.monotonic() - left)
        return LATE

    def _is_rag(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        if attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR:
            return False
        with guarded("collector.owns"):
            return any(convention.owns(scope, attributes) for convention in self._conventions)
        return False

    def _take_apart(self, request: bytes, message: ExportTraceServiceRequest, dispositions: list[str]) -> None:
        """Hold the spans to be held, pass the others on; `dispositions` says in the end what became of them."""
        slices = split(request)
        held: dict[bytes, list[tuple[SpanSlice, bool]]] = {}
        for item, span, disposition in zip(slices, _spans(message), dispositions, strict=True):
            if disposition is HELD:
                held.setdefault(span.trace_id, []).append((item, _is_root(span)))
        needed = sum(_held_bytes(item for item, _ in items) for items in held.values())
        if needed > self._max_request_held:
            dispositions[:] = [LARGE if disposition is HELD else disposition for disposition in dispositions]
            held = {}
        elif held and not self._live.room_for(needed, 0):
            # Finding out took as much work as accepting does: for a moment, nothing is looked at.
            self._full_until = time.monotonic() + _FULL_S
            raise self.refused(TRACES_FULL)
        passing = [
            item for item, disposition in zip(slices, dispositions, strict=True) if disposition not in (HELD, MALFORMED)
        ]
        if held:
            written = {trace_id: join(item for item, _ in items) for trace_id, items in held.items()}
            self._write(lambda: self._journal.append(written.items()))
        if passing:
            try:
                self._forward(join(passing))
            except RefusedError:  # nothing of it was taken: it will come again as a whole
                if held:
                    self._journal.take_back()
                raise
        for trace_id, items in held.items():
            for item, root in items:
                self._live.hold(trace_id, item, root=root)
        if held:
            self._held()

    def _forward(self, request: bytes) -> None:
        self._write(lambda: self._outbox.append(request))

    def _write(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError:
            self._metrics.add(names.DISK_ERRORS)
            raise self.refused(DISK_ERROR) from None

    def refused(self, reason: str) -> RefusedError:
        """A refusal, counted."""
        self._metrics.add(names.REFUSED, reason=reason)
        return RefusedError(reason)

    def _count(self, counted: Counter[str]) -> None:
        for disposition, spans in counted.items():
            if disposition == HELD:
                self._metrics.add(names.HELD, spans)
            elif disposition == MALFORMED:
                self._metrics.add(names.REJECTED, spans)
            else:
                self._metrics.add(names.PASSED, spans, reason=disposition)
        self._metrics.add(names.RECEIVED, counted.total() - counted[MALFORMED])


def _is_root(span: Span) -> bool:
    return not span.parent_span_id.strip(b"\0")


def _spans(message: ExportTraceServiceRequest) -> Iterator[Span]:
    """In the order of `wire.split`."""
    for resource_spans in message.resource_spans:
        for scope_spans in resource_spans.scope_spans:
            yield from scope_spans.spans


def _held_bytes(items: Iterable[SpanSlice]) -> int:
    """What holding these spans of one trace takes, in memory and on disk."""
    around: dict[int, int] = {}
    size = 0
    for item in items:
        around[id(item.resource)] = len(item.resource) + len(item.scope)
        size += len(item.span) + SPAN_OVERHEAD_BYTES
    return size + sum(around.values())
