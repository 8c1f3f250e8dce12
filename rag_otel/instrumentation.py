"""`instrument()`: attaches one composed runtime to the application's tracer provider, once, and takes it off again.

A decorated call without `instrument()` comes here too, through `rag_otel.observing.tracing`, and gets the same set-up
with the embedded judge.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Never, TypeVar

from opentelemetry import trace as trace_api
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import Tracer

from rag_otel import semconv
from rag_otel.composition import Parts, compose, compose_ratings
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.prepare import prepare
from rag_otel.lazy_dataclass import compile_methods, dataclass
from rag_otel.model import Chunk, SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.observing.tracing import forget_tracer
from rag_otel.processing import global_provider, provider
from rag_otel.processing.attach import Attachment, attach, redirect
from rag_otel.processing.hold import Slot
from rag_otel.processing.open_spans import SubTree
from rag_otel.processing.processor import following
from rag_otel.protocols import Evaluator, Sampler, Writer
from rag_otel.ratings.status import FeedbackStatus
from rag_otel.rendering.text_cutting import shorten
from rag_otel.runtime import Runtime
from rag_otel.safety.background_import import background_import
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import guarded, logger
from rag_otel.safety.time_limit import EXIT_S, exit_budget
from rag_otel.settings import ResolvedSettings, Settings, resolve, sends_over_http, unread_variables
from rag_otel.settings.rows import unknown_argument

if TYPE_CHECKING:
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.ratings.rating import Rating
    from rag_otel.sampling.policy import SamplingPolicy
    from rag_otel.settings.groups import AlertSettings, DriftSettings, JudgeSettings, SpanSettings, TelemetrySettings

T = TypeVar("T")

_DETACH_S: Final = 10.0
_SHOWN: Final = 60
"""Characters of a setting in the short form of a set-up."""
_EVALUATION_SHARE: Final = 2 / 3
"""Of the time at exit; the rest is for delivering."""


@dataclass(kw_only=True, eq=False)
class Instrumentation:
    """What `instrument()` set up; `uninstrument()` takes it down."""

    resolved: ResolvedSettings
    parts: Parts
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
    _rating_lock: threading.Lock = field(default_factory=threading.Lock)
    """Not that of the set-up, which `uninstrument()` may hold for seconds."""

    def __post_init__(self) -> None:
        self.runtime = compose(self.settings, self.parts, emit=self.emit, resource=self.resource)

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

    def becomes_of(self, rating: Rating) -> FeedbackStatus:
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
        if self.runtime.kept_traces is not None:
            self.runtime.kept_traces.start()
        if self.runtime.telemetry is not None:
            self.runtime.telemetry.start()

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


_told_unread = False
_lock = threading.RLock()
_current: Instrumentation | None = None
_apart: list[ExportQueue[Rating]] = []
_taken_off = False
"""After `uninstrument()`: decorated calls set nothing up by themselves until `instrument()` is called again."""


def instrument(
    tracer_provider: object | None = None,
    *,
    judge: str | JudgeSettings | None = None,
    metrics: str | Sequence[str] | None = None,
    evaluators: Sequence[Evaluator] = (),
    evaluations_per_minute: float | None = None,
    sample_ratio: float | None = None,
    sampling_policy: SamplingPolicy | Sampler | str | Mapping[str, Any] | None = None,
    phoenix_endpoint: str | None = None,
    phoenix_api_key: str | None = None,
    project_name: str | None = None,
    capture_content: bool | None = None,
    spans: SpanSettings | None = None,
    alerts: AlertSettings | None = None,
    drift: bool | DriftSettings | None = None,
    telemetry: TelemetrySettings | None = None,
    writers: Sequence[Writer] = (),
    state_folder: str | None = None,
    enabled: bool | None = None,
    **others: Never,
) -> Instrumentation:
    """Evaluate the RAG traces of this process.

    `tracer_provider`: the SDK provider to attach to; else the global one; else one is made, exporting to Phoenix (or
    to where OTEL_EXPORTER_OTLP_ENDPOINT points), and made global. `evaluators` and `writers` are added to those that
    the settings name. `sampling_policy` (`rag_otel.sampling.policy`, a file, a mapping, a sampler of your own) takes
    the place of `sample_ratio`.

    What is None comes from the environment, else from the default: docs/settings.md lists every setting. Twice is
    once: the same call again changes nothing, another one replaces the first.

    Raises ConfigurationError, which names what is wrong and the way out; for an argument that there is not, one that
    is a TypeError too.
    """
    global _current, _taken_off
    if others:
        raise unknown_argument(Settings, others)
    _refuse_words(enabled=enabled, capture_content=capture_content, drift=drift)
    sampler = sampling_policy if isinstance(sampling_policy, Sampler) else None
    resolved = resolve(
        {
            "judge": judge,
            "metrics": metrics,
            "evaluations_per_minute": evaluations_per_minute,
            "sample_ratio": sample_ratio,
            "sampling_policy": None if isinstance(sampling_policy, Sampler) else _as_written(sampling_policy),
            "phoenix_endpoint": phoenix_endpoint,
            "phoenix_api_key": phoenix_api_key,
            "project_name": project_name,
            "capture_content": capture_content,
            "spans": spans,
            "alerts": alerts,
            "drift": drift,
            "telemetry": telemetry,
            "state_folder": state_folder,
            "enabled": enabled,
        }
    )
    _tell_unread_variables()
    parts = Parts(evaluators=_objects(evaluators, "evaluators"), writers=_objects(writers, "writers"), sampler=sampler)
    with _lock:
        target = provider.given_or_global(tracer_provider)
        if _current is not None and _is_same(_current, resolved, parts, target):
            return _current
        # Composed before anything is taken down: a bad setting leaves what works in place.
        made = Instrumentation(
            resolved=resolved, parts=parts, explicit=True, given=None if tracer_provider is None else target
        )
        if made.settings.enabled and (guards := sys.modules.get("rag_otel.guarding.calls")) is not None:
            guards.check_declared([each.name for each in made.runtime.pipeline.evaluators])
        uninstrument()
        if made.settings.enabled:
            global_provider.watch(_provider_set)
            made.follow_provider()
            made.start()
        _current, _taken_off = made, False
        for processor in following():
            processor.use(made.runtime)
        forget_tracer()
        return made


def _refuse_words(**switches: object) -> None:
    """Words such as "yes" are the environment's. Here one is more likely meant for another argument."""
    for name, value in switches.items():
        if isinstance(value, str):
            table = " or DriftSettings(...)" if name == "drift" else ""
            raise ConfigurationError(f"{name} must be True or False{table}, not {value!r}")


def _objects(given: Sequence[T], name: str) -> tuple[T, ...]:
    if isinstance(given, str):
        names = "; names of metrics go into metrics=" if name == "evaluators" else ""
        raise ConfigurationError(f"{name} must be a list of objects, not {given!r}{names}")
    return tuple(given) if isinstance(given, Iterable) else (given,)


def _as_written(policy: SamplingPolicy | str | Mapping[str, Any] | None) -> str | Mapping[str, Any] | None:
    """A policy as a file would have it: settings hold plain values."""
    if policy is None or isinstance(policy, str | Mapping):
        return policy
    written: dict[str, Any] = policy.model_dump(mode="json", exclude_unset=True)
    return written


def _tell_unread_variables() -> None:
    """One warning, once in a process: a misspelt variable would else be a default that nobody expects."""
    global _told_unread
    unread = [] if _told_unread else unread_variables()
    if unread:
        _told_unread = True
        logger.warning("rag-otel: no setting reads the environment's %s", ", ".join(unread))


def uninstrument(*, timeout: float = _DETACH_S) -> None:
    """Release what is held, deliver what is queued (`timeout` seconds at most) and restore the provider.

    Decorated calls go on making spans with the global provider, and hide in them what the set-up hid; nothing is
    evaluated until `instrument()` is called again.
    """
    global _current, _taken_off
    with _lock:
        if (current := _current) is None:
            return
        _current, _taken_off = None, True
        for attachment in current.attachments:
            attachment.detach(timeout)
        for processor in following():
            processor.pause(timeout)
        if current.rating_queue is not None:
            _flush_ratings(current, timeout / 2)
            current.rating_queue.close()
        current.runtime.close(timeout)
        forget_tracer()


def flush(*, evaluate: bool = True, timeout: float = 30.0) -> bool:
    """Evaluate, export and deliver everything that has ended; False when `timeout` seconds were not enough.

    For functions-as-a-service, where the process freezes after the response, and for scripts. `evaluate=False`
    exports at once what is held; its scores follow as annotations and evaluation spans when the process goes on.
    """
    current = _current
    deadline = time.monotonic() + timeout
    done = True
    for queue in _apart:
        done = _flush_queue(queue, _left(deadline)) and done
    if current is None:
        return done
    with guarded("flush"):
        for attachment in current.attachments:
            done = attachment.flush(_left(deadline), evaluate=evaluate) and done
            if evaluate:
                done = attachment.processor.wait_until_evaluated(_left(deadline)) and done
        done = current.runtime.delivery.flush(_left(deadline)) and done
        done = _flush_ratings(current, _left(deadline)) and done
        jobs = current.runtime.jobs  # they are kept in memory alone: a broker that is away may be back in time
        done = (jobs is None or jobs.flush(_left(deadline), patient=True)) and done
        if current.runtime.kept_traces is not None:
            # The process may end right after: what has become of everything must be on disk, of evaluation spans too.
            for attachment in current.attachments:
                done = attachment.flush(_left(deadline), evaluate=False) and done
            done = current.runtime.kept_traces.flush(_left(deadline)) and done
        telemetry = current.runtime.telemetry
        return (telemetry is None or telemetry.flush(_left(deadline))) and done
    return False


def flush_also(queue: ExportQueue[Rating]) -> None:
    """Have `flush` send this queue too: of ratings, in a process that takes some and is not instrumented."""
    _apart.append(queue)


def _flush_ratings(current: Instrumentation, timeout_s: float) -> bool:
    return current.rating_queue is None or _flush_queue(current.rating_queue, timeout_s)


def _flush_queue(queue: ExportQueue[Rating], timeout_s: float) -> bool:
    queue.send_now()
    return queue.wait_empty(timeout_s)


def current() -> Instrumentation | None:
    """The set-up of this process; None where nothing is set up."""
    return _current


def _left(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())


def lazy_runtime() -> Runtime:
    """The runtime of the current set-up; where there is none, one with the embedded judge."""
    return _lazily().runtime


def explicit_runtime() -> Runtime | None:
    """The runtime that `instrument()` has set up; None where nothing is, or only by a decorated call."""
    current = _current
    return current.runtime if current is not None and current.explicit and current.settings.enabled else None


def active_runtime() -> Runtime | None:
    """The runtime that guards judge with; None after `uninstrument()`."""
    current = _current  # without the lock, which whoever takes a set-up down holds for seconds
    if current is not None:
        return current.runtime
    return None if _taken_off else _lazily().runtime


def tracer() -> Tracer:
    """The tracer of `@observe`: of the provider that is set up; lazily of the application's global SDK provider,
    else of one of our own that is not made global, so that the application can still set its own later."""
    with _lock:
        if _taken_off and _current is None:
            return trace_api.get_tracer(semconv.SCOPE)
        instrumentation = _lazily()
        if not instrumentation.settings.enabled:
            return trace_api.get_tracer(semconv.SCOPE)
        target = instrumentation.follow_provider()
        if not provider.exports(target):
            provider.warn_of_nowhere()
        return target.get_tracer(semconv.SCOPE)


def _lazily() -> Instrumentation:
    """The current set-up. The lazy one judges with the embedded judge only: heavy imports belong to start-up."""
    global _current
    with _lock:
        if _current is None:
            _current = Instrumentation(resolved=resolve({"judge": "embedded"}), parts=Parts(), explicit=False)
            if _current.settings.enabled:
                global_provider.watch(_provider_set)
                _current.start()
            for processor in following():
                processor.use(_current.runtime)
        return _current


def _provider_set(before: object, after: TracerProvider) -> None:
    """The application has set its provider: its spans are evaluated from now on, and ours go the same way."""
    with _lock:
        current = _current
        if current is not None and current.given is None and current.settings.enabled:
            current.follow_provider()
        if isinstance(before, TracerProvider) and global_provider.is_ours(before):
            redirect(before, after, same_resource=global_provider.is_ours(after))
            if current is not None:
                current.attachments = [each for each in current.attachments if each.provider is not before]
        forget_tracer()


def _is_same(current: Instrumentation, resolved: ResolvedSettings, parts: Parts, target: TracerProvider | None) -> bool:
    followed = current.provider is not None and not provider.exports(current.provider)
    same_provider = target is current.provider or not resolved.settings.enabled or (target is None and followed)
    return current.explicit and same_provider and resolved.settings == current.settings and parts == current.parts


@atexit.register
def _flush_at_exit() -> None:
    # Registered after the SDK's own handler of a provider that exists already, so it runs before: spans leave scored.
    # The exporters are left to that handler, which knows how long to wait for one that hangs.
    current = _current
    if current is None:
        return
    with guarded("atexit"), exit_budget.limited(EXIT_S) as limit_s:
        now = time.monotonic()
        evaluated_by, deadline = now + limit_s * _EVALUATION_SHARE, now + limit_s
        for attachment in current.attachments:
            attachment.processor.release(_left(evaluated_by), deadline)
            attachment.processor.wait_until_evaluated(_left(evaluated_by))
        for attachment in current.attachments:
            if not attachment.exports_at_exit:
                attachment.flush(_left(deadline) / 2, evaluate=False)
        _flush_ratings(current, _left(deadline) / 2)
        current.runtime.delivery.flush(_left(deadline))
        if current.runtime.jobs is not None:
            current.runtime.jobs.flush(_left(deadline))
        if current.runtime.telemetry is not None:
            current.runtime.telemetry.flush(_left(deadline))
        if current.runtime.kept_traces is not None:
            current.runtime.kept_traces.flush(_left(deadline))
