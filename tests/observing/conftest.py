"""A real SDK provider that records finished spans and their snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import DEFAULT_ON, Sampler

from rag_otel import semconv
from rag_otel.model import AttributeValue
from rag_otel.observing.call_snapshot import Snapshot, watch
from rag_otel.observing.tracing import forget_tracer, use_tracer
from rag_otel.safety import privacy


class Recorder(SpanProcessor):
    """Records ended spans, and watches their calls as the product's processor does."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []
        self.snapshots: list[Snapshot | None] = []
        self.provider = TracerProvider()
        self._handed: dict[int, Snapshot] = {}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        watch(span, self)

    def call_ending(self, span: trace.Span, snapshot: Snapshot, room: int | None) -> Mapping[str, AttributeValue]:
        self._handed[span.get_span_context().span_id] = snapshot
        return {}

    def ended_below(self, span: trace.Span) -> Sequence[ReadableSpan]:
        return ()

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)
        self.snapshots.append(self._handed.pop(span.context.span_id, None))

    def use(self, sampler: Sampler = DEFAULT_ON, *, scope: str = semconv.SCOPE) -> None:
        """Makes `@observe` create its spans on a new provider that is recorded here."""
        self.provider = TracerProvider(sampler=sampler)
        self.provider.add_span_processor(self)
        use_tracer(self.provider.get_tracer(scope))

    @property
    def span(self) -> ReadableSpan:
        """The one span that ended."""
        assert [span.name for span in self.spans] == [self.spans[0].name]
        return self.spans[0]

    @property
    def taken(self) -> Snapshot:
        """The snapshot of the one span that ended."""
        assert len(self.snapshots) == 1
        taken = self.snapshots[0]
        assert taken is not None
        return taken

    def attribute(self, key: str) -> object:
        return (self.span.attributes or {}).get(key)

    def clear(self) -> None:
        self.spans.clear()
        self.snapshots.clear()


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """`@observe` writes here. After the test its provider is restored."""
    recorder = Recorder()
    recorder.use()
    yield recorder
    forget_tracer()
    privacy.refresh()  # a test may have changed the environment
