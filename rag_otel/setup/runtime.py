"""What a set-up is made of while it runs, and how other modules reach that of the process without importing it."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rag_otel.lazy_dataclass import dataclass
from rag_otel.observing.tracing import SET_UP
from rag_otel.safety.fork import after_fork_in_child

# Only types: importing the pipeline and asyncio would double what `import rag_otel` costs.
if TYPE_CHECKING:
    from rag_otel.delivery.dispatcher import Dispatcher
    from rag_otel.delivery.late import LateDelivery
    from rag_otel.durable.kept_traces import KeptTraces
    from rag_otel.evaluation.background_worker import BackgroundWorker
    from rag_otel.model import AttributeValue, EvaluatedTrace, EvaluationStatus, RagTrace, SamplingDecision
    from rag_otel.pipeline import Pipeline
    from rag_otel.settings import Settings
    from rag_otel.telemetry.telemetry import Telemetry

    Attributes: TypeAlias = Mapping[str, AttributeValue]


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
    delivery: Dispatcher | LateDelivery
    """Delivers results to the writers and the alerts, in the background."""
    worker: BackgroundWorker = field(default_factory=_new_worker)
    """The one worker thread that evaluates; started by the first job."""
    telemetry: Telemetry | None = None
    """Metrics and events; None: switched off."""
    jobs: JobSink | None = None
    """Where traces go that are evaluated by workers; None: they are evaluated here."""
    kept_traces: KeptTraces | None = None
    """Keeps admitted traces on disk until their results are written; None: no state folder is set."""
    sentences: Callable[[str], Iterable[tuple[int, int]]] | None = None
    """(start, end) of each sentence of a text, for guards. None: a text counts as one sentence."""

    def __post_init__(self) -> None:
        after_fork_in_child(self.after_fork)

    def flush(self, deadline: float, *, patient: bool = False) -> bool:
        """Deliver results, publish jobs, write and export what is here, until `deadline` (`time.monotonic` seconds).
        False when something did not get out. `patient`: a broker that is away may be back in time."""

        def left() -> float:
            return max(0.0, deadline - time.monotonic())

        done = self.delivery.flush(left())
        if self.jobs is not None:
            done = self.jobs.flush(left(), patient=patient) and done
        if self.kept_traces is not None:
            done = self.kept_traces.flush(left()) and done
        if self.telemetry is not None:
            done = self.telemetry.flush(left()) and done
        return done

    def close(self, timeout_s: float) -> None:
        """Stop evaluating and delivering, within `timeout_s` seconds. Spans still held are released by their
        processors, so flush those first. Safe to call twice."""
        for part in (self.worker, self.delivery, self.jobs, self.telemetry):
            if part is not None:
                part.shutdown(timeout_s / 2)
        if self.kept_traces is not None:
            self.kept_traces.close(timeout_s / 2)

    def after_fork(self) -> None:
        """Start over in a forked child: nothing of the parent's work is done twice."""
        for part in (self.kept_traces, self.worker, self.delivery, self.jobs, self.telemetry):
            if part is not None:
                part.after_fork()


def _set_up() -> Any:
    """The module that sets the process up, imported when it is needed: it imports everything else."""
    return importlib.import_module(SET_UP)


def default_runtime() -> Runtime:
    """The runtime of the process, set up with the embedded judge where nothing is. Raises ConfigurationError."""
    runtime: Runtime = _set_up().lazy_runtime()
    return runtime


def active_runtime() -> Runtime | None:
    """The runtime that guards judge with: `default_runtime`, but None after `uninstrument()` and where evaluation is
    switched off. Raises ConfigurationError."""
    runtime: Runtime | None = _set_up().active_runtime()
    return runtime if runtime is not None and runtime.settings.enabled else None


def explicit_runtime() -> Runtime | None:
    """What `instrument()` has set up; None where nothing is, or only by a decorated call."""
    if (module := sys.modules.get(SET_UP)) is None:
        return None
    runtime: Runtime | None = module.explicit_runtime()
    return runtime
