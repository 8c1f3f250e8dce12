"""A judge's calls make no spans, whatever instruments the application's own calls: with the real packages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from rag_otel.errors import PermanentError
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel_evaluators.llm.structured import Message
from testkit.judge_server import JudgeServer, ServerError
from testkit.when_used import WhenUsed, llm_model

litellm, openai = WhenUsed("litellm"), WhenUsed("openai")
warm_up = WhenUsed("rag_otel_evaluators.judges.litellm_library", "warm_up")


class Answer(BaseModel):
    a: int


_QUESTION: Any = [{"role": "user", "content": "the application's own question"}]
Instrumented = Callable[[TracerProvider], AbstractContextManager[None]]


@contextmanager
def _with(instrumentor: Any, provider: TracerProvider) -> Iterator[None]:
    instrumentor.instrument(tracer_provider=provider, skip_dep_check=True)
    try:
        yield
    finally:
        instrumentor.uninstrument()


def _openinference_litellm(provider: TracerProvider) -> AbstractContextManager[None]:
    from openinference.instrumentation.litellm import LiteLLMInstrumentor

    return _with(LiteLLMInstrumentor(), provider)


def _openinference_openai(provider: TracerProvider) -> AbstractContextManager[None]:
    from openinference.instrumentation.openai import OpenAIInstrumentor

    return _with(OpenAIInstrumentor(), provider)


def _traceloop_openai(provider: TracerProvider) -> AbstractContextManager[None]:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    return _with(OpenAIInstrumentor(), provider)


def _official_openai(provider: TracerProvider) -> AbstractContextManager[None]:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

    return _with(OpenAIInstrumentor(), provider)


@contextmanager
def _litellm_callback(provider: TracerProvider) -> Iterator[None]:
    import litellm  # itself, and not what stands for it in this file: its attributes are set
    from litellm.integrations.opentelemetry import OpenTelemetry, OpenTelemetryConfig

    kept = {name: list(getattr(litellm, name)) for name in vars(litellm) if name.endswith(("callback", "callbacks"))}
    litellm.callbacks = [OpenTelemetry(config=OpenTelemetryConfig(exporter="console"), tracer_provider=provider)]
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(litellm, name, value)


async def _through_litellm(server: JudgeServer) -> None:
    await litellm.acompletion(model="openai/answering", messages=_QUESTION, api_base=server.url, api_key="k")


async def _through_openai(server: JudgeServer) -> None:
    async with openai.AsyncOpenAI(base_url=server.url, api_key="k") as client:
        await client.chat.completions.create(model="answering", messages=_QUESTION)


@pytest.mark.parametrize(
    ("instrumented", "application_call"),
    [
        (_openinference_litellm, _through_litellm),
        (_openinference_openai, _through_openai),
        (_traceloop_openai, _through_openai),
        (_official_openai, _through_openai),
        (_litellm_callback, _through_litellm),
    ],
)
async def test_an_instrumentation_sees_the_application_and_not_the_judge(
    instrumented: Instrumented, application_call: Callable[[JudgeServer], Any]
) -> None:
    """Warm-up, an answer and a failure inside suppression make no span; the application's next call makes its own."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with JudgeServer(answer=lambda request: {"a": 1}) as server, instrumented(provider):
        with suppressed():
            await asyncio.to_thread(warm_up, "openai/judge")
            for direct in (True, False):
                model = llm_model("openai/judge", api_base=server.url, api_key="k", direct=direct)
                assert (await model.complete([Message(role="user", content="?")], Answer)).value == Answer(a=1)
                server.fail_next(ServerError(401))
                with pytest.raises(PermanentError):
                    await model.complete([Message(role="user", content="?")], Answer)
        judge_calls = len(server.requests)
        await application_call(server)
        # The application's span may come later, from a worker; what the judge's calls had caused would come first.
        async with asyncio.timeout(20):
            while not exporter.get_finished_spans():
                await asyncio.sleep(0.01)
    assert judge_calls == 4
    written = [f"{span.name} {dict(span.attributes or {})}" for span in exporter.get_finished_spans()]
    assert any("answering" in text for text in written)
    assert not [text for text in written if "judge" in text]
