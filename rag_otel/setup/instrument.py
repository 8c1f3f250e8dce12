"""`instrument()`, `uninstrument()` and `flush()`: the one set-up of a process.

A decorated call without `instrument()` comes here too, through `rag_otel.observing.tracing`, and gets the same set-up
with the embedded judge.
"""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Never

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
from rag_otel.settings import ResolvedSettings, Settings, resolve
from rag_otel.settings.rows import rows_of
from rag_otel.settings.unknown import unknown_argument, unread_variables
from rag_otel.setup.running import Instrumentation
from rag_otel.setup.runtime import in_use, left

if TYPE_CHECKING:
    from rag_otel.delivery.export_queue import ExportQueue
    from rag_otel.ratings.rating import Rating
    from rag_otel.sampling.policy import SamplingPolicy
    from rag_otel.settings.groups import AlertSettings, DriftSettings, JudgeSettings, SpanSettings, TelemetrySettings

_DETACH_S: Final = 10.0


_told_unread = False
_lock = ForkSafeLock()
_current: Instrumentation | None = None
_apart: list[ExportQueue[Rating]] = []


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
    given = dict(locals())  # a copy: what is looked through must not change, as it does under a debugger on Python 3.12
    del given["tracer_provider"], given["others"]
    try:
        if others:
            raise unknown_argument(others, rows_of(Settings).values())
        _refuse_words(enabled=enabled, capture_content=capture_content, drift=drift)
        if isinstance(sampling_policy, Sampler):
            given |= {"sampling_policy": None, "sampler": sampling_policy}
        else:
            given["sampling_policy"] = _as_written(sampling_policy)
        resolved = resolve(given)
        _tell_unread_variables()
        return _set_up(resolved, tracer_provider)
    except ConfigurationError as error:
        # Whoever wrote the call reads the message, not our frames and what was tried before.
        raise error.with_traceback(None) from None


def _set_up(resolved: ResolvedSettings, tracer_provider: object | None) -> Instrumentation:
    """Replace what is set up, where it is not the same. Composed before anything is taken down: a bad setting leaves
    what works in place."""
    with _lock:
        target = provider.given_or_global(tracer_provider)
        if _current is not None and _is_same(_current, resolved, target):
            return _current
        given = None if tracer_provider is None else target
        made = Instrumentation(resolved=resolved, explicit=True, given=given)
        if made.settings.enabled and (guards := sys.modules.get("rag_otel.guarding.entry")) is not None:
            guards.check_declared([each.name for each in made.runtime.pipeline.evaluators])
        uninstrument()
        _begin(made)
        forget_tracer()
        return made


def _refuse_words(**switches: object) -> None:
    """Words such as "yes" are the environment's. Here one is more likely meant for another argument."""
    for name, value in switches.items():
        if isinstance(value, str):
            table = " or DriftSettings(...)" if name == "drift" else ""
            raise ConfigurationError(f"{name} must be True or False{table}, not {value!r}")


def _as_written(policy: SamplingPolicy | str | Mapping[str, Any] | None) -> str | Mapping[str, Any] | None:
    """A policy as a file would have it: settings hold plain values."""
    if policy is None or isinstance(policy, str | Mapping):
        return policy
    written: dict[str, Any] = policy.model_dump(mode="json", exclude_unset=True)
    return written


def _tell_unread_variables() -> None:
    """One warning, once in a process: a misspelt variable would else be a default that nobody expects."""
    global _told_unread
    unread = [] if _told_unread else unread_variables(rows_of(Settings).values())
    if unread:
        _told_unread = True
        logger.warning("rag-otel: no setting reads the environment's %s", ", ".join(unread))


def uninstrument(*, timeout: float = _DETACH_S) -> None:
    """Release what is held, deliver what is queued (`timeout` seconds at most) and restore the provider.

    Decorated calls go on making spans with the global provider, and hide in them what the set-up hid; nothing is
    evaluated until `instrument()` is called again.
    """
    global _current
    with _lock:
        if (current := _current) is None:
            return
        _current, in_use.runtime, in_use.taken_off = None, None, True
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
        done = queue.flush(left(deadline)) and done
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


def tracer() -> Tracer:
    """The tracer of `@observe`: of the provider that is set up; lazily of the application's global SDK provider,
    else of one of our own that is not made global, so that the application can still set its own later."""
    with _lock:
        if in_use.taken_off and _current is None:
            return trace_api.get_tracer(semconv.SCOPE)
        instrumentation = lazily()
        if not instrumentation.settings.enabled:
            return trace_api.get_tracer(semconv.SCOPE)
        target = instrumentation.follow_provider()
        if not provider.exports(target):
            provider.warn_of_nowhere()
        return target.get_tracer(semconv.SCOPE)


def lazily() -> Instrumentation:
    """The current set-up. The lazy one judges with the embedded judge only: heavy imports belong to start-up.

    Raises ConfigurationError.
    """
    with _lock:
        if _current is not None:
            return _current
        made = Instrumentation(resolved=resolve({"judge": "embedded"}), explicit=False)
        _begin(made)
        return made


def _begin(made: Instrumentation) -> None:
    """Start it. From now on it is the set-up of the process."""
    global _current
    if made.settings.enabled:
        global_provider.watch(_provider_set)
        if made.explicit:
            made.follow_provider()
        made.start()
    _current, in_use.runtime, in_use.taken_off = made, made.runtime, False
    for processor in following():
        processor.use(made.runtime)


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


def _is_same(current: Instrumentation, resolved: ResolvedSettings, target: TracerProvider | None) -> bool:
    followed = current.provider is not None and not provider.exports(current.provider)
    same_provider = target is current.provider or not resolved.settings.enabled or (target is None and followed)
    return current.explicit and same_provider and resolved.settings == current.settings


@atexit.register
def _flush_at_exit() -> None:
    # Registered after the SDK's own handler of a provider that exists already, so it runs before: spans leave scored.
    if (current := _current) is not None:
        with guarded("atexit"), exit_budget.limited(EXIT_S) as limit_s:
            current.flush_at_exit(limit_s)
