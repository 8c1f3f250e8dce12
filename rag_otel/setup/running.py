"""A set-up while it runs: its provider is followed; its parts are started, flushed and stopped."""

from __future__ import annotations

import time
from dataclasses import field
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from rag_otel.evaluation.background_worker import prepare
from rag_otel.lazy_dataclass import compile_methods, dataclass
from rag_otel.model import Chunk, SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.processing import global_provider, provider
from rag_otel.processing.attach import Attachment, attach
from rag_otel.processing.hold import Slot
from rag_otel.processing.open_spans import SubTree
from rag_otel.processing.processor import following
from rag_otel.ratings.rating import FeedbackStatus
from rag_otel.rendering.text_cutting import shorten
from rag_otel.safety.background_import import background_import
from rag_otel.safety.fork import ForkSafeLock, after_fork_in_child
from rag_otel.settings import ResolvedSettings, Settings, sends_over_http
from rag_otel.setup.compose import compose
from rag_otel.setup.runtime import Runtime, left
from rag_otel.setup.writing import compose_ratings

if TYPE_CHECKING:
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.ratings.rating import Rating

_EVALUATION_SHARE: Final = 2 / 3
"""Of the time at exit; the rest is for delivering."""
_SHOWN: Final = 60
"""Characters of a setting in the short form of a set-up."""


@dataclass(kw_only=True, eq=False)
class Instrumentation:
    """What `instrument()` set up; `uninstrument()` takes it down."""

    resolved: ResolvedSettings
    explicit: bool
    """False for the set-up of a decorated call without `instrument()`."""
    given: TracerProvider | None = None
    """The provider that `instrument()` was given; None: the global one is followed, whichever that is."""
    provider: TracerProvider | None = None
    """None when `enabled=False`."""
    attachments: list[Attachment] = field(default_factory=list)
    """One for each provider that is evaluated."""
    runtime: Runtime = field(init=False)
    rating_queue: ExportQueue[Rating] | None = None
    """Where users' ratings go; None as long as there was none."""
    _rating_lock: ForkSafeLock = field(default_factory=ForkSafeLock)
    """Not that of the set-up, which `uninstrument()` may hold for seconds."""

    def __post_init__(self) -> None:
        self.runtime = compose(self.settings, explicit=self.explicit, emit=self.emit, resource=self.resource)

    @property
    def settings(self) -> Settings:
        return self.resolved.settings

    def __repr__(self) -> str:
        """Three lines: what is evaluated, where spans go, what was set."""
        if not self.settings.enabled:
            return "Instrumentation(enabled=False)"
        pipeline = self.runtime.pipeline
        names = ", ".join(f"{each.name} ({each.judge_name})" for each in pipeline.evaluators)
        where = "nowhere yet" if self.provider is None else type(self.provider).__name__
        if self.provider is not None and not provider.exports(self.provider):
            where += " without an exporter"
        rows = {name: (value, origin) for name, value, origin in self.resolved.rows()}
        changed = [f"{name}={shorten(value, _SHOWN)}" for name, (value, origin) in rows.items() if origin != "default"]
        phoenix = (
            rows["phoenix_endpoint"][0] if self.settings.spans.annotations and self.settings.phoenix_endpoint else None
        )
        return (
            f"Instrumentation(evaluates: {names or 'nothing here: jobs for workers'}\n"
            f"  spans go to: {where}; annotations to: {phoenix or 'nowhere'}\n"
            f"  set: {', '.join(changed) or 'nothing'})"
        )

    def emit(self, span: ReadableSpan) -> None:
        """Export an evaluation span whose target went through a provider that we could not stand in front of."""
        for attachment in self.attachments:
            if attachment.degraded:
                attachment.emit(span)

    def resource(self) -> Resource:
        """The resource of the provider that is evaluated."""
        return self.provider.resource if self.provider is not None else Resource.create()

    def export(self, span: ReadableSpan) -> None:
        """Export a span of our own making the way the application's spans go."""
        for attachment in self.attachments[:1]:
            attachment.emit(span)
        if not self.attachments:
            for processor in following()[:1]:
                processor.emit(span)

    def flush(self, timeout_s: float, *, evaluate: bool) -> bool:
        """Evaluate, export and deliver everything that has ended; False when time ran out."""
        deadline = time.monotonic() + timeout_s
        done = True
        for attachment in self.attachments:
            done = attachment.flush(left(deadline), evaluate=evaluate) and done
            if evaluate:
                done = attachment.processor.wait_until_evaluated(left(deadline)) and done
        done = self.flush_ratings(left(deadline)) and done
        done = self.runtime.flush(deadline, patient=True) and done
        if self.runtime.kept_traces is not None:
            # The process may end right after: evaluation spans must be out too.
            for attachment in self.attachments:
                done = attachment.flush(left(deadline), evaluate=False) and done
        return done

    def flush_at_exit(self, limit_s: float) -> None:
        """The same as the process ends. Exporters that their provider shuts down are left to that: it knows how long to
        wait for one that hangs."""
        now = time.monotonic()
        evaluated_by, deadline = now + limit_s * _EVALUATION_SHARE, now + limit_s
        for attachment in self.attachments:
            attachment.processor.release(left(evaluated_by), deadline)
            attachment.processor.wait_until_evaluated(left(evaluated_by))
        for attachment in self.attachments:
            if not attachment.exports_at_exit:
                attachment.flush(left(deadline) / 2, evaluate=False)
        self.flush_ratings(left(deadline) / 2)
        self.runtime.flush(deadline)

    def stop(self, timeout_s: float) -> None:
        """Release what is held, deliver what is queued, restore the provider."""
        for attachment in self.attachments:
            attachment.detach(timeout_s)
        for processor in following():
            processor.pause(timeout_s)
        if self.rating_queue is not None:
            self.flush_ratings(timeout_s / 2)
            self.rating_queue.close()
        self.runtime.close(timeout_s)

    def flush_ratings(self, timeout_s: float) -> bool:
        """Send users' ratings; False when time ran out."""
        return self.rating_queue is None or self.rating_queue.flush(timeout_s)

    def ratings(self) -> ExportQueue[Rating] | None:
        """Where users' ratings go; made with the first of them. None where there is nowhere to send them to."""
        if self.rating_queue is None and self.settings.enabled:
            emit = self.export if self.attachments or following() else None
            made = compose_ratings(self.settings, emit=emit, resource=self.resource)
            with self._rating_lock:
                if made is not None and self.rating_queue is None:
                    self.rating_queue = made
                    after_fork_in_child(made.after_fork)
        return self.rating_queue

    def status_of(self, rating: Rating) -> FeedbackStatus:
        """What has become of the rated trace in this process."""
        processors = (*(each.processor for each in self.attachments), *following())
        if any(each.is_evaluating(rating.trace_id, rating.span_id) for each in processors):
            return FeedbackStatus.AT_HAND
        decision = self.runtime.pipeline.decide(SpanRef(trace_id=rating.trace_id, span_id=rating.span_id or "0" * 16))
        return FeedbackStatus.NOT_HERE if decision.sampled else FeedbackStatus.NOT_SAMPLED

    def start(self) -> None:
        """Start what runs beside the spans: imports of evaluators, metrics and events."""
        background_import(_compile_what_calls_use)
        prepare(self.runtime.pipeline.evaluators, over_http=sends_over_http(self.settings))
        self.runtime.start()

    def follow_provider(self) -> TracerProvider:
        """Attach to the provider at hand. Where there is none, one is made: global where it has somewhere to export to
        and `instrument()` was called, else it stays ours, so that nothing stands in the application's way."""
        target = provider.given_or_global(self.given)
        if target is None and self.provider is not None:
            return self.provider
        if target is not None and (not global_provider.is_ours(target) or provider.fits(target, self.settings)):
            if target is not self.provider and not global_provider.is_ours(target):
                provider.warn_of_another_project(target, self.settings)
            return self.follow(target)
        made = provider.make(self.settings)
        if self.explicit and provider.exports(made):
            global_provider.install(made)  # where one of ours gives way to it, `_provider_set` redirects that one
        return self.follow(made)

    def follow(self, target: TracerProvider) -> TracerProvider:
        """Attach to a provider, once."""
        self.provider = target
        if not any(attachment.provider is target for attachment in self.attachments):
            self.attachments.append(attach(target, self.runtime))
        return target


def _compile_what_calls_use() -> None:
    """The first observed call does not wait for it."""
    compile_methods(Chunk, SamplingDecision, Slot, Snapshot, SpanRef, SubTree)
