"""No instrumentation makes spans for what we do ourselves."""

from __future__ import annotations

import httpx
import pytest
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry import context as context_api
from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from rag_otel.safety.tracing_suppression import is_own, is_suppressed, suppressed
from testkit.when_used import WhenUsed
from tests.processing.kit import Exported, tracer

openai = WhenUsed("openai")


def test_every_switch_is_thrown_inside_and_none_outside() -> None:
    """OpenTelemetry's, OpenInference's and Traceloop's keys, an unsampled valid parent, and our own mark."""
    keys = (
        context_api._SUPPRESS_INSTRUMENTATION_KEY,
        context_api._SUPPRESS_HTTP_INSTRUMENTATION_KEY,
        "suppress_instrumentation",
        "suppress_language_model_instrumentation",
    )
    with suppressed():
        assert all(context_api.get_value(key) is True for key in keys)
        parent = trace_api.get_current_span().get_span_context()
        assert parent.is_valid
        assert not parent.trace_flags.sampled
        assert is_own(parent)
        assert is_suppressed()
    assert not any(context_api.get_value(key) for key in keys)
    assert not is_suppressed()


def test_a_parent_based_sampler_records_nothing() -> None:
    """The SDK's default sampler makes no recording span inside."""
    exported = Exported()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    with suppressed(), tracer(provider).start_as_current_span("x") as span:
        assert not span.is_recording()
    with tracer(provider).start_as_current_span("y"):
        pass
    assert exported.names() == ["y"]


@pytest.mark.parametrize("inside", [True, False])
def test_an_instrumented_client_is_silent_inside(inside: bool) -> None:
    """A judge's call through an instrumented OpenAI client leaves no span; the application's own call does."""
    exported = Exported()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=answer))
    client = openai.OpenAI(api_key="none", base_url="http://judge/v1", http_client=httpx.Client(transport=transport))
    try:
        if inside:
            with suppressed():
                client.chat.completions.create(model="m", messages=[])
        else:
            client.chat.completions.create(model="m", messages=[])
    finally:
        instrumentor.uninstrument()
    assert len(exported.spans) == (0 if inside else 1)
