"""The tracer that observed calls make their spans with, and calls that are left out with an unsampled parent."""

from __future__ import annotations

import importlib
import os
import threading
from typing import TYPE_CHECKING, Final

from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.trace import Span, Tracer

from rag_otel import semconv
from rag_otel.safety.guard import guarded

if TYPE_CHECKING:
    from rag_otel.guarding.guarded_call import GuardedCall

SET_UP: Final = "rag_otel.setup.instrument"
"""The module that sets the process up. It imports everything else, so it is imported with the first call."""
_PROVIDER: Final = "_TRACER_PROVIDER"
"""Where the API keeps the global provider. The public get_tracer_provider() reads the environment while none is set,
which costs a microsecond a call."""
_lock = threading.RLock()
_picked: tuple[object, Tracer] | None = None
"""The global provider that was seen, and the tracer that was picked then."""


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def tracer() -> Tracer:
    """The tracer of the set-up, which the first call makes. It is picked again when the global provider has changed,
    and after `forget_tracer()`. Never raises; a fraction of a microsecond when picked."""
    picked = _picked
    if picked is not None and picked[0] is getattr(trace_api, _PROVIDER, None):
        return picked[1]
    return _pick()


def use_tracer(tracer: Tracer) -> None:
    """Make spans with this tracer from now on, as if it had been picked."""
    global _picked
    _picked = (_global_provider(), tracer)


def forget_tracer() -> None:
    """Pick again at the next call: after `instrument()`, `uninstrument()` or a changed provider."""
    global _picked
    _picked = None


def _global_provider() -> object:
    return getattr(trace_api, _PROVIDER, None)


def _pick() -> Tracer:
    """Ask the set-up. Where it fails, the plain global tracer is kept: the set-up is not tried on every call."""
    global _picked
    with _lock:
        seen = _global_provider()
        if _picked is not None and _picked[0] is seen:
            return _picked[1]
        picked: Tracer | None = None
        with guarded("observe.tracer"):
            picked = importlib.import_module(SET_UP).tracer()
        picked = picked or trace_api.get_tracer(semconv.SCOPE)
        _picked = (seen, picked)
        return picked


# --- calls that are not recorded: told as cheaply as can be, and what they call is left out with them ----------------

_NEVER_BELOW_UNSAMPLED: Final = ("remoteParentNotSampled:AlwaysOffSampler", "localParentNotSampled:AlwaysOffSampler")
_told: tuple[Tracer, bool] | None = None


def is_left_out(parent: Span, tracer: Tracer) -> bool:
    """True when the parent was not sampled and the sampler follows it, as the SDK's default does.

    Asking for a span, only to get one that records nothing, is most of what such a call would cost.
    """
    if parent.is_recording():
        return False
    context = parent.get_span_context()
    return context.is_valid and not context.trace_flags.sampled and _follows_parents(tracer)


def _follows_parents(tracer: Tracer) -> bool:
    """Told by the sampler's description, which the specification defines; any other sampler is asked every time."""
    global _told
    told = _told
    if told is None or told[0] is not tracer:
        sampler = getattr(tracer, "sampler", None)
        description = "" if sampler is None else str(sampler.get_description())
        follows = description.startswith("ParentBased{") and all(part in description for part in _NEVER_BELOW_UNSAMPLED)
        _told = told = (tracer, follows)
    return told[1]


def leaves_out(span: Span, parent: Span) -> bool:
    """True when a span that records nothing must be made current, so that what is called below is left out too.

    Not so without an SDK or with a tracer that is switched off, where the span is the parent again or none at all.
    """
    own, above = span.get_span_context(), parent.get_span_context()
    if not own.is_valid or own.span_id == above.span_id:
        return False
    return parent.is_recording() or not above.is_valid


class Call:
    """A call that the sampler left out: its context is handed down, so that what it calls is left out too."""

    recording = False
    gate: GuardedCall | None = None
    """What decides on what leaves the call before the caller gets it, where it has a guard."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def returned(self, result: object) -> None:
        """Take what the result tells, now: it may change once the caller has it. The first result counts."""

    def complete(self, streamed: str | None = None) -> None:
        """End it; `streamed` is what a stream has said, where there was one."""

    def fail(self, error: BaseException, streamed: str | None = None) -> None:
        """End it with the `error` that it raised; cancellation, or a stream closed early, leaves it incomplete."""

    def abandon(self, streamed: str | None = None) -> None:
        """End it as incomplete."""
