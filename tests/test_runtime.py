"""The registry that finds the composition root, and the tracer of observed calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Tracer

from rag_otel import runtime
from rag_otel.safety.guard import RAISE_ENV
from tests.processing.kit import Bench


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    """Every test leaves the process's registry as it was."""
    source, factory = runtime._tracer_source, runtime._default_factory
    yield
    runtime.set_tracer_source(source)
    runtime.set_default_factory(factory)


def test_the_tracer_is_picked_once() -> None:
    """The source is asked at the first call, not at every one."""
    asked: list[int] = []
    provider = TracerProvider(shutdown_on_exit=False)

    def source() -> Tracer:
        asked.append(1)
        return provider.get_tracer("rag_otel")

    runtime.set_tracer_source(source)
    assert runtime.tracer() is runtime.tracer()
    assert len(asked) == 1
    runtime.forget_tracer()
    runtime.tracer()
    assert len(asked) == 2


def test_a_provider_that_is_set_later_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the application sets its global provider after the first call, the tracer is picked again."""
    monkeypatch.setattr(trace_api, "_TRACER_PROVIDER", None)
    own, theirs = TracerProvider(shutdown_on_exit=False), TracerProvider(shutdown_on_exit=False)
    runtime.set_tracer_source(lambda: (trace_api._TRACER_PROVIDER or own).get_tracer("rag_otel"))
    first = runtime.tracer()
    assert first is own.get_tracer("rag_otel")
    monkeypatch.setattr(trace_api, "_TRACER_PROVIDER", theirs)
    assert runtime.tracer() is theirs.get_tracer("rag_otel")


def test_the_api_still_keeps_its_provider_where_we_look() -> None:
    """The one private name that the fast path reads exists in the installed version."""
    assert hasattr(trace_api, "_TRACER_PROVIDER")


def test_a_set_up_that_fails_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where picking raises, calls go on with the plain global tracer, and the failing set-up is not repeated."""
    monkeypatch.setenv(RAISE_ENV, "0")
    asked: list[int] = []

    def source() -> Tracer:
        asked.append(1)
        raise RuntimeError("set-up failed")

    runtime.set_tracer_source(source)
    for _ in range(3):
        with runtime.tracer().start_as_current_span("x"):
            pass
    assert len(asked) == 1


def test_close_is_safe_to_call_twice() -> None:
    """A runtime that has never evaluated, or is closed already, can be closed."""
    bench = Bench()
    bench.runtime.close(1)
    bench.runtime.close(1)
