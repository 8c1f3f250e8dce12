"""A language model by its name, with and without litellm."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.judges import language_model as models
from rag_otel_evaluators.judges.language_model import deferred_model, language_model
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.llm.structured import Message
from rag_otel_evaluators.llm.transport import Reply
from testkit.judge_server import JudgeServer

pytestmark = pytest.mark.server


class Answer(BaseModel):
    a: int


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=lambda request: {"a": 1}) as running:
        yield running


@pytest.fixture
def without_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment with the extra `openai` alone."""
    monkeypatch.setattr("rag_otel.safety.extras.importlib.util.find_spec", _all_but("litellm"))


def _all_but(*missing: str) -> object:
    import importlib.util

    real = importlib.util.find_spec
    return lambda name: None if name in missing else real(name)


def test_an_openai_server_needs_no_litellm(without_litellm: None, server: JudgeServer) -> None:
    """The request is what such a server reads; tokens are counted, and at given prices their cost."""
    prices = {"input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}
    model = language_model("openai/judge", api_base=server.url, parameters=prices)
    done = asyncio.run(model.complete([Message(role="user", content="?")], Answer, max_output_tokens=50))
    assert done.value == Answer(a=1)
    (request,) = server.requests
    body = request.body
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("judge", 0.0, 50)
    assert body["response_format"]["type"] == "json_schema"
    assert done.usage.cost_usd == pytest.approx(done.usage.input_tokens * 1e-6 + done.usage.output_tokens * 2e-6)


def test_a_model_that_thinks_is_asked_without_temperature_and_with_room(server: JudgeServer) -> None:
    """OpenAI refuses the one, and counts thoughts as output."""
    model = openai_model("openai/gpt-5-mini", api_base=server.url)
    asyncio.run(model.complete([Message(role="user", content="?")], Answer, max_output_tokens=50))
    body = server.requests[0].body
    assert "temperature" not in body
    assert body["max_completion_tokens"] > 1_000


def test_openai_itself_needs_a_key(without_litellm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        language_model("openai/gpt-4o-mini")


def test_another_provider_names_the_extra_that_is_missing(without_litellm: None) -> None:
    with pytest.raises(ConfigurationError, match=r"anthropic/x.*litellm.*rag-otel\[llm\]"):
        deferred_model("anthropic/x")


def test_without_aiohttp_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, not a ModuleNotFoundError."""
    monkeypatch.setattr("rag_otel.safety.extras.importlib.util.find_spec", _all_but("litellm", "aiohttp"))
    with pytest.raises(ConfigurationError, match=r"openai/x.*aiohttp.*rag-otel\[llm\]"):
        language_model("openai/x")


def test_a_deferred_model_is_made_once_when_it_is_first_asked(server: JudgeServer) -> None:
    """Two first questions at once wait for the same model."""
    made: list[Reply | object] = []

    def make() -> object:
        made.append(model := openai_model("openai/judge", api_base=server.url))
        return model

    deferred = models.DeferredModel("openai/judge", make)  # type: ignore[arg-type]

    async def ask_twice() -> list[object]:
        question = [Message(role="user", content="?")]
        return list(await asyncio.gather(deferred.complete(question, Answer), deferred.complete_once(question, Answer)))

    assert made == []
    assert len(asyncio.run(ask_twice())) == 2
    assert len(made) == 1
