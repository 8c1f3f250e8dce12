"""The runtime of the process, and the tracer of observed calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel import semconv
from rag_otel.observing import tracing
from rag_otel.safety.guard import RAISE_ENV, counters
from rag_otel.setup.runtime import active_runtime, default_runtime, explicit_runtime
from tests.processing.kit import Bench


@pytest.fixture(autouse=True)
def _no_set_up(uninstrumented: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test begins and ends with nothing set up, and no global provider."""
    monkeypatch.setattr(trace_api, "_TRACER_PROVIDER", None)
    tracing.forget_tracer()
    yield
    tracing.forget_tracer()


def test_the_tracer_is_picked_once() -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    rag_otel.instrument(provider)
    assert tracing.tracer() is tracing.tracer()
    assert tracing.tracer() is provider.get_tracer(semconv.SCOPE)


def test_a_provider_that_is_set_later_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the application sets its global provider after the first call, the tracer is picked again."""
    rag_otel.instrument()
    first, theirs = tracing.tracer(), TracerProvider(shutdown_on_exit=False)
    monkeypatch.setattr(trace_api, "_TRACER_PROVIDER", theirs)
    assert tracing.tracer() is theirs.get_tracer(semconv.SCOPE)
    assert tracing.tracer() is not first


def test_the_api_still_keeps_its_provider_where_we_look() -> None:
    """The one private name that the fast path reads exists in the installed version."""
    assert hasattr(trace_api, "_TRACER_PROVIDER")


def test_a_set_up_that_fails_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a setting that cannot be, calls go on with the plain global tracer, and are not held up again."""
    monkeypatch.setenv(RAISE_ENV, "0")
    monkeypatch.setenv("RAG_OTEL_SAMPLE_RATIO", "7")
    monkeypatch.setattr("rag_otel.setup.runtime.in_use.taken_off", False)
    before = counters.get("internal_error.observe.tracer")
    for _ in range(3):
        with tracing.tracer().start_as_current_span("x") as span:
            assert not span.is_recording()
    assert counters.get("internal_error.observe.tracer") == before + 1


def test_which_runtime_the_process_has() -> None:
    """None that judges after `uninstrument()`, and only what `instrument()` has set up is known to guards at once."""
    rag_otel.instrument(TracerProvider())
    assert active_runtime() is explicit_runtime() is default_runtime()
    rag_otel.uninstrument()
    assert (active_runtime(), explicit_runtime()) == (None, None)


def test_close_is_safe_to_call_twice() -> None:
    """A runtime that has never evaluated, or is closed already, can be closed."""
    bench = Bench()
    bench.runtime.close(1)
    bench.runtime.close(1)
