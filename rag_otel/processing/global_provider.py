"""The global tracer provider: told when the application sets one, and ours makes room for the application's.

OpenTelemetry lets the global provider be set once. One of our own, installed because there was none, must not lose the
application's spans when it sets its provider later, or when Phoenix's `register()` does: then that one becomes global,
and spans of tracers that were taken from ours are passed on to it. This takes private parts of the API; where they are
missing, a provider of the application's is refused as OpenTelemetry refuses it, with its warning.

The global provider may also be a proxy that passes everything on to an SDK provider, and exchanges it when it is
configured again. Logfire's is one. Then the SDK provider behind it is meant.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Final

from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider

from rag_otel.safety.guard import guarded

_SETTER: Final = "_set_tracer_provider"
_GLOBAL: Final = "_TRACER_PROVIDER"
_BEHIND: Final = "provider"
"""Attribute of a proxy: the provider that it passes everything on to."""
_made_by_us: Final[weakref.WeakSet[TracerProvider]] = weakref.WeakSet()
_changed: Callable[[object, TracerProvider], None] | None = None


def sdk_provider(provider: object) -> TracerProvider | None:
    """An SDK provider itself, or the one behind a proxy; None for any other object."""
    if isinstance(provider, TracerProvider):
        return provider
    behind = getattr(provider, _BEHIND, None)
    return behind if isinstance(behind, TracerProvider) else None


def current() -> TracerProvider | None:
    """The application's global SDK provider, also behind a proxy; None while there is none."""
    now: Any = trace_api.get_tracer_provider()
    _follow_proxy(now)
    return sdk_provider(now)


def _follow_proxy(proxy: Any) -> None:
    """Tell when a proxy gets another SDK provider."""
    exchange: Callable[..., None] | None = getattr(proxy, "set_provider", None)
    if isinstance(proxy, TracerProvider) or exchange is None or not hasattr(proxy, _BEHIND):
        return
    if getattr(exchange, "_rag_otel", False):
        return

    @functools.wraps(exchange)
    def set_provider(*args: Any, **kwargs: Any) -> None:
        before = sdk_provider(proxy)
        exchange(*args, **kwargs)
        _tell(before, sdk_provider(proxy))

    set_provider._rag_otel = True  # type: ignore[attr-defined]
    with guarded("global_provider.follow_proxy"):
        proxy.set_provider = set_provider


def _tell(before: object, after: TracerProvider | None) -> None:
    if after is None or after is before:
        return
    with guarded("global_provider.changed"):
        if _changed is not None:
            _changed(before, after)


def watch(changed: Callable[[object, TracerProvider], None]) -> None:
    """Call `changed(before, after)` when the application sets its SDK provider; the last caller counts."""
    global _changed
    _changed = changed
    original: Callable[..., None] | None = getattr(trace_api, _SETTER, None)
    if original is None or getattr(original, "_rag_otel", False):
        return

    def set_tracer_provider(tracer_provider: Any, *args: Any, **kwargs: Any) -> None:
        before: Any = getattr(trace_api, _GLOBAL, None)
        if is_ours(before) and sdk_provider(tracer_provider) not in (None, before):
            setattr(trace_api, _GLOBAL, tracer_provider)
        else:
            original(tracer_provider, *args, **kwargs)
        after: Any = getattr(trace_api, _GLOBAL, None)
        if after is tracer_provider and after is not before:
            _follow_proxy(after)
            _tell(before, sdk_provider(after))

    set_tracer_provider._rag_otel = True  # type: ignore[attr-defined]
    setattr(trace_api, _SETTER, set_tracer_provider)


def install(provider: TracerProvider) -> bool:
    """Make a provider of ours the global one; False where the application was quicker."""
    _made_by_us.add(provider)
    trace_api.set_tracer_provider(provider)
    return trace_api.get_tracer_provider() is provider


def is_ours(provider: object) -> bool:
    """True for a provider that `install` made global: it gives way to the application's."""
    return isinstance(provider, TracerProvider) and provider in _made_by_us
