"""Taking a provider's exporting processors behind one `RagSpanProcessor`, following later changes, and undoing it.

Holding needs to stand *before* the exporting processors: one that stands beside them would export every held span
twice. The SDK has no public way to put something before a processor that is already there, so its tuple of processors
is exchanged, in `_exchange` and nowhere else. Where the SDK has changed and that cannot be done, a plain processor is
added that never holds: scores then follow as annotations and evaluation spans.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.trace import NonRecordingSpan, set_span_in_context

from rag_otel.processing import fan_out
from rag_otel.processing.processor import RagSpanProcessor
from rag_otel.processing.sdk_spans import enriched
from rag_otel.safety.guard import guarded, logger
from rag_otel.setup.runtime import Runtime

_MARK: Final = "_rag_otel_attachment"
DETACH_S: Final = 5.0
REDIRECT_S: Final = 1.0
"""How long the application may wait for spans that are held while it sets another provider."""


def attach(provider: TracerProvider, runtime: Runtime) -> Attachment:
    """Evaluate the spans of `provider` with `runtime` from now on.

    Twice is once: a provider that is attached already keeps the attachment (and the runtime) it has.
    """
    present: Attachment | None = getattr(provider, _MARK, None)
    if present is not None:
        return present
    attachment = Attachment(provider, runtime)
    setattr(provider, _MARK, attachment)
    return attachment


class Attachment:
    """One provider with its one `RagSpanProcessor`."""

    def __init__(self, provider: TracerProvider, runtime: Runtime) -> None:
        self.provider = provider
        self._lock = threading.RLock()
        self._before: tuple[SpanProcessor, ...] = ()
        """The provider's processors as they were."""
        self._ours: tuple[SpanProcessor, ...] | None = None
        """As we have left them; None while unwrapped."""
        self._followed: list[tuple[Any, Callable[..., None], bool]] = []
        """(who, its own `add_span_processor`, whether that stood on the instance)."""
        present = next((each for each in _processors(provider) or () if isinstance(each, RagSpanProcessor)), None)
        self._own_next = None if present is None else present.next
        """What a processor that the application added by itself already wraps."""
        self.processor = present or RagSpanProcessor((), runtime=runtime)
        self.degraded = not self._wrap()
        if self.degraded:
            _warn_degraded(provider)
            provider.add_span_processor(self.processor)
        else:
            for adder in (provider, _multi_processor(provider)):
                self._follow(adder)

    @property
    def resource(self) -> Resource:
        """The resource of the provider's spans."""
        return self.provider.resource

    @property
    def exports_at_exit(self) -> bool:
        """True where the provider shuts its exporters down by itself as the process ends."""
        return _shuts_down_at_exit(self.provider)

    def emit(self, span: ReadableSpan) -> None:
        """Export a finished span of our own making the way the provider's spans go. Never raises."""
        with guarded("attach.emit"):
            if self.degraded:
                _replay(self.provider, span)
            else:
                self.processor.emit(span)

    def flush(self, timeout_s: float, *, evaluate: bool = True) -> bool:
        """Let every held span go and export; see `RagSpanProcessor.flush`."""
        return self.processor.flush(timeout_s, evaluate=evaluate)

    def detach(self, timeout_s: float = DETACH_S) -> None:
        """Put the processors back as they were and let held spans go, within `timeout_s`. Safe to call twice."""
        with self._lock:
            if getattr(self.provider, _MARK, None) is not self:
                return
            delattr(self.provider, _MARK)
            self._unfollow()
            self._restore()
        if self._own_next is None:
            self.processor.stop()
        self.processor.flush(timeout_s)
        if self._own_next is not None:
            self.processor.replace_next(self._own_next)

    # --- following ----------------------------------------------------------------------------------------------

    def _follow(self, adder: Any) -> None:
        """After every `adder.add_span_processor(...)` take in what is new.

        The original is called on the processors as they were before us: an implementation may look for its own among
        them (phoenix.otel shuts its default processor down and takes it out).
        """
        original: Callable[..., None] = adder.add_span_processor
        self._followed.append((adder, original, "add_span_processor" in vars(adder)))

        @functools.wraps(original)
        def add_span_processor(*args: Any, **kwargs: Any) -> None:
            with self._lock:
                self._restore()
                try:
                    original(*args, **kwargs)
                finally:
                    with guarded("attach.follow"):
                        self._wrap()

        adder.add_span_processor = add_span_processor

    def _unfollow(self) -> None:
        for adder, original, stood_on_instance in self._followed:
            if stood_on_instance:
                adder.add_span_processor = original
            else:
                vars(adder).pop("add_span_processor", None)

    def _wrap(self) -> bool:
        """Take every processor that acts on ended spans behind ours; False when the SDK does not let us."""
        with self._lock:
            before = _processors(self.provider)
            if before is None:
                return False
            if before is self._ours:
                return True
            ending = [each for each in before if each is not self.processor and _acts_on_end(each)]
            self.processor.replace_next([*(self._own_next or ()), *ending])
            place = next((n for n, each in enumerate(before) if each is self.processor or each in ending), len(before))
            rest = [each for each in before[place:] if each is not self.processor and each not in ending]
            ours = (*before[:place], self.processor, *rest)
            _exchange(self.provider, ours)
            self._before, self._ours = before, ours
            return True

    def _restore(self) -> None:
        with self._lock:
            now = _processors(self.provider)
            if self._ours is None or now is None:
                return
            if now is self._ours:
                _exchange(self.provider, self._before)
            else:  # somebody has exchanged the tuple since: put what we wrap back in our place
                taken = [each for each in self.processor.next if each not in (self._own_next or ())]
                back = [self.processor] if self._own_next is not None else []
                place = now.index(self.processor) if self.processor in now else len(now)
                _exchange(self.provider, (*now[:place], *back, *taken, *now[place + 1 :]))
            self._ours = None


class Redirect(SpanProcessor):
    """Passes the spans of one provider on to the processors of another, with that one's resource where it is given."""

    def __init__(self, to: TracerProvider, *, resource: Resource | None = None) -> None:
        self._to = to
        self._resource = resource

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        _multi_processor(self._to).on_start(span, parent_context)

    def _on_ending(self, span: Span) -> None:
        _multi_processor(self._to)._on_ending(span)

    def on_end(self, span: ReadableSpan) -> None:
        going = span if self._resource is None else enriched(span, {}, resource=self._resource)
        _multi_processor(self._to).on_end(going)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._to.force_flush(timeout_millis)


def redirect(provider: TracerProvider, to: TracerProvider, *, same_resource: bool) -> None:
    """Have the spans of `provider`, whose tracers somebody may still hold, go the way of those of `to`; its own
    exporters export what they have and are shut down. With `same_resource` spans get the resource of `to`."""
    before = _processors(provider)
    if before is None or _multi_processor(to) is None:
        return
    attachment: Attachment | None = getattr(provider, _MARK, None)
    forward = Redirect(to, resource=to.resource if same_resource else None)
    if attachment is not None:
        attachment.detach(REDIRECT_S)
        attachment.processor.replace_next((forward,))  # for results that are still to come
        before = _processors(provider) or ()
    _exchange(provider, (forward,))
    # Not here: an exporter that hangs would hold the application up while it starts.
    ending = threading.Thread(target=fan_out.shutdown, args=(before,), name="rag-otel-shutdown", daemon=True)
    try:
        ending.start()
    except RuntimeError:  # the system has no thread left
        fan_out.shutdown(before)


def _acts_on_end(processor: SpanProcessor) -> bool:
    """False for a processor that only looks at starts (baggage, ids): it stays where it is."""
    return type(processor).on_end is not SpanProcessor.on_end or "on_end" in vars(processor)


# --- private parts of the SDK, all of them --------------------------------------------------------------------------


def _multi_processor(provider: TracerProvider) -> Any:
    return getattr(provider, "_active_span_processor", None)


def _processors(provider: TracerProvider) -> tuple[SpanProcessor, ...] | None:
    """The provider's span processors; None when they are not where this SDK version should have them."""
    processors = getattr(_multi_processor(provider), "_span_processors", None)
    if not isinstance(processors, tuple) or not hasattr(_multi_processor(provider), "_lock"):
        return None
    return processors


def _exchange(provider: TracerProvider, processors: tuple[SpanProcessor, ...]) -> None:
    """Set the provider's processors. A span that is just ending sees the old tuple or the new one, never both."""
    multi = _multi_processor(provider)
    with multi._lock:
        multi._span_processors = processors


def _shuts_down_at_exit(provider: TracerProvider) -> bool:
    return getattr(provider, "_atexit_handler", None) is not None


def _warn_degraded(provider: TracerProvider) -> None:
    logger.warning(
        "rag-otel: cannot stand before the span processors of %s (another version of the OpenTelemetry SDK?): spans "
        "are exported without scores, which follow as annotations and evaluation spans. To have them on the span, "
        "add RagSpanProcessor(your_exporter) to the provider yourself",
        type(provider).__qualname__,
    )


def _replay(provider: TracerProvider, span: ReadableSpan) -> None:
    """Make the span again through the public interface: its own id cannot be kept, everything else is."""
    scope = span.instrumentation_scope
    tracer = provider.get_tracer(scope.name if scope is not None else "")
    context = Context() if span.parent is None else set_span_in_context(NonRecordingSpan(span.parent), Context())
    copy = tracer.start_span(
        span.name,
        context=context,
        kind=span.kind,
        attributes=span.attributes,
        links=span.links,
        start_time=span.start_time,
    )
    copy.end(span.end_time)
