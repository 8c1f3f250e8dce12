"""`instrument()`, `uninstrument()` and `flush()`: the one set-up of a process.

A decorated call without `instrument()` comes here too, through `rag_otel.observing.tracing`, and gets the same set-up
with the embedded judge.
"""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Never, TypeVar

from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Tracer

from rag_otel import semconv
from rag_otel.errors import ConfigurationError
from rag_otel.observing.tracing import forget_tracer
from rag_otel.processing import global_provider, provider
from rag_otel.processing.attach import redirect
from rag_otel.processing.processor import following
from rag_otel.protocols import Evaluator, Sampler, Writer
from rag_otel.safety.fork import ForkSafeLock
from rag_otel.safety.guard import guarded, logger
from rag_otel.safety.time_limit import EXIT_S, exit_budget
from rag_otel.settings import ResolvedSettings, Settings, resolve, unread_variables
from rag_otel.settings.rows import unknown_argument
from rag_otel.setup.parts import Parts
from rag_otel.setup.running import Instrumentation, flush_queue, left
from rag_otel.setup.runtime import Runtime

if TYPE_CHECKING:
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.ratings.rating import Rating
    from rag_otel.sampling.policy import SamplingPolicy
    from rag_otel.settings.groups import AlertSettings, DriftSettings, JudgeSettings, SpanSettings, TelemetrySettings

T = TypeVar("T")

_DETACH_S: Final = 10.0


_told_unread = False
_lock = ForkSafeLock()
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
    try:
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
        parts = Parts(
            evaluators=_objects(evaluators, "evaluators"),
            writers=_objects(writers, "writers"),
            sampler=sampler,
        )
        _tell_unread_variables()
        return _set_up(resolved, parts, tracer_provider)
    except ConfigurationError as error:
        # Whoever wrote the call reads the message, not our frames and what was tried before.
        raise error.with_traceback(None) from None


def _set_up(resolved: ResolvedSettings, parts: Parts, tracer_provider: object | None) -> Instrumentation:
    """Replace what is set up, where it is not the same. Composed before anything is taken down: a bad setting leaves
    what works in place."""
    global _current, _taken_off
    with _lock:
        target = provider.given_or_global(tracer_provider)
        if _current is not None and _is_same(_current, resolved, parts, target):
            return _current
        made = Instrumentation(
            resolved=resolved, parts=parts, explicit=True, given=None if tracer_provider is None else target
        )
        if made.settings.enabled and (guards := sys.modules.get("rag_otel.guarding.entry")) is not None:
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
        current.stop(timeout)
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
        done = flush_queue(queue, left(deadline)) and done
    if current is None:
        return done
    with guarded("flush"):
        return current.flush(left(deadline), evaluate=evaluate) and done
    return False


def flush_also(queue: ExportQueue[Rating]) -> None:
    """Have `flush` send this queue too: of ratings, in a process that takes some and is not instrumented."""
    _apart.append(queue)


def current() -> Instrumentation | None:
    """The set-up of this process; None where nothing is set up."""
    return _current


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
    if (current := _current) is not None:
        with guarded("atexit"), exit_budget.limited(EXIT_S) as limit_s:
            current.flush_at_exit(limit_s)
