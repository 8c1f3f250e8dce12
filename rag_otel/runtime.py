"""The composed parts that a processor runs on, and the registry of the default runtime and of the tracer.

`instrumentation.py` composes a `Runtime` (settings, pipeline, writers) and registers here how a default one is made and
how the tracer of `@observe` is picked. Other modules ask here and need not import the composition root.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from opentelemetry import trace as trace_api
from opentelemetry.trace import Tracer

from rag_otel import semconv
from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import guarded

# Only types: importing the pipeline and asyncio would double what `import rag_otel` costs.
if TYPE_CHECKING:
    from rag_otel.durable.dead_letters import DeadLetters
    from rag_otel.durable.spool import Spool
    from rag_otel.evaluation.background_worker import BackgroundWorker
    from rag_otel.model import AttributeValue, EvaluatedTrace, EvaluationStatus, RagTrace, SamplingDecision
    from rag_otel.pipeline import Pipeline
    from rag_otel.settings import Settings

    Attributes: TypeAlias = Mapping[str, AttributeValue]


class Outlet(Protocol):
    """Exports metrics and events of the process; see `rag_otel.telemetry`."""

    def start(self) -> None:
        """Start exporting. Never raises."""
        ...

    def flush(self, timeout_s: float) -> bool:
        """Export what is here; False when something did not get out."""
        ...

    def shutdown(self, timeout_s: float) -> None:
        """Export what is here and stop. Safe to call twice."""
        ...

    def after_fork(self) -> None:
        """Start over in a forked child."""
        ...


class DeliveryQueue(Protocol):
    """Delivers results to the writers and the alerts, in the background."""

    def start(self) -> None:
        """A trace was seen: starts the timer that detects missing results. A fraction of a microsecond."""
        ...

    def submit(self, result: EvaluatedTrace, on_written: Callable[[], None] | None = None) -> object:
        """Take a result; returns at once and never raises. `on_written` is called when every writer is through with
        it; never, where one could not take it."""
        ...

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything submitted is delivered; False when time ran out."""
        ...

    def shutdown(self, timeout_s: float) -> object:
        """Deliver what can be delivered in time, then stop. Safe to call twice."""
        ...

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent delivers its own."""
        ...


class JobSink(Protocol):
    """Publishes traces as evaluation jobs, in the background; see `rag_otel_collectors.jobs`."""

    def prepare(self) -> None:
        """Import what publishing needs. Called at start-up on a background thread."""
        ...

    def submit(
        self,
        trace: RagTrace,
        decision: SamplingDecision,
        resource: Mapping[str, object],
        published: Callable[[], None] | None = None,
    ) -> str | None:
        """Take a trace; returns at once and never raises. Returns why it cannot become a job, None where it does.
        `published` is called when the broker has stored the job."""
        ...

    def flush(self, timeout_s: float, *, patient: bool = False) -> bool:
        """Wait until the broker has everything submitted; False when time ran out or, unless `patient`, the broker is
        away."""
        ...

    def shutdown(self, timeout_s: float) -> object:
        """Publish what can be published in time, then stop. Safe to call twice."""
        ...

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent publishes its own."""
        ...


def _new_worker() -> BackgroundWorker:
    from rag_otel.evaluation.background_worker import BackgroundWorker

    return BackgroundWorker()


@dataclass(frozen=True, kw_only=True, eq=False)
class Runtime:
    """One composed set-up: shared by every processor (a provider each) that evaluates with it."""

    settings: Settings
    pipeline: Pipeline
    attributes: Callable[[EvaluatedTrace], Attributes]
    """What is written on the span of an evaluated trace."""
    status_attributes: Callable[[EvaluationStatus, str | None, SamplingDecision | None], Attributes]
    """What is written on a span without scores: its status, why, and the sampling decision."""
    delivery: DeliveryQueue
    worker: BackgroundWorker = field(default_factory=_new_worker)
    """The one worker thread that evaluates; started by the first job."""
    telemetry: Outlet | None = None
    """Metrics and events; None: switched off."""
    jobs: JobSink | None = None
    """Where traces go that are evaluated by workers; None: they are evaluated here."""
    spool: Spool | None = None
    """Keeps admitted traces on disk; None: no folder is set."""
    dead_letters: DeadLetters | None = None
    """Keeps what a backend refuses for good; with the spool."""
    sentences: Callable[[str], Iterable[tuple[int, int]]] | None = None
    """(start, end) of each sentence of a text, for guards. None: a text counts as one sentence."""

    def __post_init__(self) -> None:
        after_fork_in_child(self.after_fork)

    def close(self, timeout_s: float) -> None:
        """Stop evaluating and delivering, within `timeout_s` seconds. Spans still held are released by their
        processors, so flush those first. Safe to call twice."""
        self.worker.shutdown(timeout_s / 2)
        self.delivery.shutdown(timeout_s / 2)
        if self.jobs is not None:
            self.jobs.shutdown(timeout_s / 2)
        if self.telemetry is not None:
            self.telemetry.shutdown(timeout_s / 2)
        if self.spool is not None:
            self.spool.close(timeout_s / 2)

    def after_fork(self) -> None:
        """Start over in a forked child: nothing of the parent's work is done twice."""
        if self.spool is not None:
            self.spool.after_fork()
        self.worker.after_fork()
        self.delivery.after_fork()
        if self.jobs is not None:
            self.jobs.after_fork()
        if self.telemetry is not None:
            self.telemetry.after_fork()


# --- the registry ---------------------------------------------------------------------------------------------------

_lock = threading.RLock()
_default_factory: Callable[[], Runtime] | None = None
_active_source: Callable[[], Runtime | None] | None = None
_explicit: Runtime | None = None
_tracer_source: Callable[[], Tracer] | None = None
_picked: tuple[object, Tracer] | None = None


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def set_default_factory(factory: Callable[[], Runtime] | None) -> None:
    """Register who gives the default runtime: the same one at every call, until the set-up changes."""
    global _default_factory
    _default_factory = factory


def default_runtime() -> Runtime:
    """The runtime of the process.

    Raises ConfigurationError when no factory is registered, and what the factory raises.
    """
    if _default_factory is None:
        raise ConfigurationError("rag-otel is not set up: call rag_otel.instrument(), or pass runtime=...")
    return _default_factory()


def set_active_source(source: Callable[[], Runtime | None] | None) -> None:
    """Register who gives the runtime that guards judge with: None after `uninstrument()`."""
    global _active_source
    _active_source = source


def active_runtime() -> Runtime | None:
    """The runtime of the process where evaluation is switched on, else None. Raises what composing one raises."""
    runtime = None if _active_source is None else _active_source()
    return runtime if runtime is not None and runtime.settings.enabled else None


def set_explicit(runtime: Runtime | None) -> None:
    """Register what `instrument()` has set up; None after `uninstrument()`."""
    global _explicit
    _explicit = runtime


def explicit_runtime() -> Runtime | None:
    """What `instrument()` has set up; None where nothing is, or only by a decorated call."""
    return _explicit


def set_tracer_source(source: Callable[[], Tracer] | None) -> None:
    """Register how the tracer of `@observe` is picked.

    `source` is called at the first use and again whenever the global tracer provider has changed or
    `forget_tracer()` was called. It may set things up and attach to the provider it finds.
    """
    global _tracer_source
    with _lock:
        _tracer_source = source
        forget_tracer()


def forget_tracer() -> None:
    """Pick again at the next call: after `instrument()`, `uninstrument()` or a changed provider."""
    global _picked
    _picked = None


def tracer() -> Tracer:
    """The tracer that observed calls make their spans with. Never raises; a fraction of a microsecond when picked."""
    picked = _picked
    if picked is not None and picked[0] is _global_provider():
        return picked[1]
    return _pick()


def _global_provider() -> object:
    # The public get_tracer_provider() reads the environment while none is set, which costs a microsecond a call.
    return getattr(trace_api, "_TRACER_PROVIDER", None)


def _pick() -> Tracer:
    """Ask the source. Where it fails, the plain global tracer is kept: the set-up is not tried on every call."""
    global _picked
    with _lock:
        seen = _global_provider()
        if _picked is not None and _picked[0] is seen:
            return _picked[1]
        picked: Tracer | None = None
        with guarded("runtime.tracer"):
            if _tracer_source is not None:
                picked = _tracer_source()
        picked = picked or trace_api.get_tracer(semconv.SCOPE)
        _picked = (seen, picked)
        return picked
