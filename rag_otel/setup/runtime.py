"""What a set-up is made of while it runs, and how other modules reach that of the process without importing it."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel.observing.tracing import SET_UP
from rag_otel.safety.fork import after_fork_in_child

# Only types: importing the worker with asyncio, and the settings, would double what `import rag_otel` costs.
if TYPE_CHECKING:
    from rag_otel.delivery.dispatcher import Dispatcher
    from rag_otel.delivery.late import LateDelivery
    from rag_otel.durable.kept_traces import KeptTraces
    from rag_otel.evaluation.background_worker import BackgroundWorker
    from rag_otel.pipeline import Pipeline
    from rag_otel.settings import Settings
    from rag_otel.telemetry.telemetry import Telemetry
    from rag_otel_collectors.jobs.publisher import JobPublisher


@dataclass(frozen=True, kw_only=True, eq=False)
class Runtime:
    """One composed set-up: shared by every processor (a provider each) that evaluates with it."""

    settings: Settings
    pipeline: Pipeline
    delivery: Dispatcher | LateDelivery
    """Delivers results to the writers and the alerts, in the background."""
    worker: BackgroundWorker
    """The one worker thread that evaluates; started by the first job."""
    telemetry: Telemetry
    """Metrics and events of what is evaluated."""
    explicit: bool = False
    """True: `instrument()` made it. False: a decorated call did, or whoever needed one."""
    jobs: JobPublisher | None = None
    """Where traces go that are evaluated by workers; None: they are evaluated here."""
    kept_traces: KeptTraces | None = None
    """Keeps admitted traces on disk until their results are written; None: no state folder is set."""
    sentences: Callable[[str], Iterable[tuple[int, int]]] | None = None
    """(start, end) of each sentence of a text, for guards. None: a text counts as one sentence."""

    def __post_init__(self) -> None:
        after_fork_in_child(self.after_fork)

    def start(self) -> None:
        """Start what runs beside the spans: traces that are kept on disk, metrics and events."""
        if self.kept_traces is not None:
            self.kept_traces.start()
        self.telemetry.start()

    def flush(self, deadline: float, *, patient: bool = False) -> bool:
        """Deliver results, publish jobs, write and export what is here, until `deadline` (`time.monotonic` seconds).
        False when something did not get out. `patient`: a broker that is away may be back in time."""
        done = self.delivery.flush(left(deadline))
        if self.jobs is not None:
            done = self.jobs.flush(left(deadline), patient=patient) and done
        if self.kept_traces is not None:
            done = self.kept_traces.flush(left(deadline)) and done
        return self.telemetry.flush(left(deadline)) and done

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


def left(deadline: float) -> float:
    """Seconds until then (`time.monotonic`), at least 0."""
    return max(0.0, deadline - time.monotonic())


# --- the runtime of the process --------------------------------------------------------------------------------------


class InUse:
    """What this process evaluates with. Changed by the set-up alone."""

    runtime: Runtime | None = None
    """None: nothing is set up."""
    taken_off = False
    """After `uninstrument()`: decorated calls set nothing up by themselves until `instrument()` is called again."""


in_use: Final = InUse()


def default_runtime() -> Runtime:
    """The runtime of the process, set up with the embedded judge where nothing is. Raises ConfigurationError."""
    if in_use.runtime is not None:  # without the lock, which whoever takes a set-up down holds for seconds
        return in_use.runtime
    set_up: Any = importlib.import_module(SET_UP)  # now that it is needed: it imports everything else
    made: Runtime = set_up.lazily().runtime
    return made


def active_runtime() -> Runtime | None:
    """The runtime that guards judge with: `default_runtime`, but None after `uninstrument()` and where evaluation is
    switched off. Raises ConfigurationError."""
    if in_use.runtime is None and in_use.taken_off:
        return None
    runtime = default_runtime()
    return runtime if runtime.settings.enabled else None


def explicit_runtime() -> Runtime | None:
    """What `instrument()` has set up; None where nothing is, or only by a decorated call."""
    runtime = in_use.runtime
    return runtime if runtime is not None and runtime.explicit and runtime.settings.enabled else None
