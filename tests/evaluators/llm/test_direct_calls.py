"""Straight over HTTP: what goes over the wire is what litellm would send, and what comes back is told alike."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from pydantic import BaseModel

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.evaluation.current_evaluation import metered
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.structured import Message
from testkit.judge_server import JudgeServer, RateLimited
from testkit.when_used import llm_model

QUESTION = [Message(role="system", content="Judge."), Message(role="user", content="Is 🌍 \ud800 so?")]


class Verdict(BaseModel):
    good: bool


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=lambda request: {"good": True}) as running:
        yield running


@contextmanager
def saying(status: int, said: str) -> Iterator[str]:
    """The address of a server that says the same to everybody."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def both_ways(server: JudgeServer, model: str, **options: Any) -> list[ResilientModel]:
    return [llm_model(model, api_base=server.url, api_key="k", direct=direct, **options) for direct in (True, False)]


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("openai/gpt-4o-mini", {"seed": 3, "top_p": 0.5, "stop": ["\n"]}),
        ("openai/o3-mini", {"reasoning_effort": "low"}),
        ("openai/gpt-5-mini", {}),
        ("openai/org/some-model", {"frequency_penalty": 0.5}),
        ("hosted_vllm/org/some-model", {}),
    ],
)
async def test_the_request_is_the_one_that_litellm_sends(
    server: JudgeServer, model: str, parameters: dict[str, Any]
) -> None:
    """Parameters are translated for the model, others left out; tokens and price are the same."""
    question = [Message(role="system", content="Judge."), Message(role="user", content="¿Es así?")]
    completions = [
        await way.complete(question, Verdict, max_output_tokens=50)
        for way in both_ways(server, model, parameters=parameters)
    ]
    direct, through_litellm = (request.body for request in server.requests)
    assert direct == through_litellm
    costs = [completion.usage.cost_usd for completion in completions]
    assert costs[0] == (None if costs[1] is None else pytest.approx(costs[1]))
    assert completions[0].usage.input_tokens == completions[1].usage.input_tokens


def calls_of_openais_client(server: JudgeServer) -> int:
    """litellm goes through OpenAI's client, which names itself in every request."""
    return sum("openai" in request.headers.get("user-agent", "").lower() for request in server.requests)


async def test_a_parameter_that_only_litellm_understands_goes_through_it(server: JudgeServer) -> None:
    """Nothing is sent that may mean something else than its user thinks."""
    known, unknown = (
        llm_model("openai/local", api_base=server.url, api_key="k", parameters=parameters)
        for parameters in ({"seed": 1}, {"extra_headers": {"X-Team": "search"}})
    )
    await known.complete(QUESTION[:1], Verdict)
    assert calls_of_openais_client(server) == 0
    await unknown.complete(QUESTION[:1], Verdict)
    assert calls_of_openais_client(server) == 1
    assert server.requests[1].headers["x-team"] == "search"


async def test_text_that_is_no_unicode_is_sent_all_the_same(server: JudgeServer) -> None:
    """Half a surrogate pair, as cut texts hold it, must not cost the evaluation."""
    completion = await llm_model("openai/local", api_base=server.url, api_key="k").complete(QUESTION, Verdict)
    assert completion.value == Verdict(good=True)
    assert "🌍 ? so" in server.requests[0].prompt


async def test_cached_tokens_cost_less() -> None:
    """The provider says how many it had cached; the price for those is litellm's."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 800}}
    costs = []
    for details in (usage, {**usage, "prompt_tokens_details": None}):
        completion = {"choices": [{"message": {"content": '{"good": true}'}}], "usage": details}
        with saying(200, json.dumps(completion)) as url:
            model = llm_model("openai/gpt-4o-mini", api_base=url, api_key="k")
            costs.append((await model.complete(QUESTION[:1], Verdict)).usage.cost_usd)
    cached, full = costs
    assert cached is not None
    assert full is not None
    assert 0 < cached < full


@pytest.mark.parametrize(
    ("status", "said", "error", "message"),
    [
        (302, "", PermanentError, "endpoint.*redirected"),
        (503, "<html>overloaded</html>", RetryableError, "overload: HTTP 503: <html>"),
        (401, '{"error": {"message": "bad key", "code": "invalid_api_key"}}', PermanentError, r"auth.*bad key \(inv"),
        (400, '{"error": "too long"}', PermanentError, "request"),
    ],
)
async def test_what_is_no_answer_is_told_by_its_kind(
    status: int, said: str, error: type[Exception], message: str
) -> None:
    """A redirect, an error page, an error in another shape."""
    with saying(status, said) as url:
        model = llm_model("openai/local", api_base=url, api_key="k", retry=RetryPolicy(attempts=1))
        with pytest.raises(error, match=message):
            await model.complete(QUESTION[:1], Verdict)


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize(
    ("status", "form"), [(401, "message"), (401, "body"), (400, "quoted"), (503, "message"), (200, "body")]
)
async def test_no_error_quotes_what_was_sent(direct: bool, form: str, status: int) -> None:
    """Whatever a server repeats of the request: status and code remain, the prompt and the key do not."""
    secret = 'The patient Ann Lee\nhas the "diagnosis" J45.9.'
    echo = {"messages": [{"role": "user", "content": secret}], "authorization": "Bearer k-0123456789-9876543210"}
    said = {
        "message": json.dumps({"error": {"message": f"refused: {secret}", "code": "invalid_api_key"}}),
        "body": json.dumps(echo),
        "quoted": json.dumps({"error": {"message": "refused: 'J45.9' is filtered", "code": "invalid_api_key"}}),
    }[form]
    with saying(status, said) as url:
        model = llm_model("openai/local", api_base=url, api_key="k-0123456789-9876543210", direct=direct,
                          retry=RetryPolicy(attempts=1))  # fmt: skip
        try:
            told = "; ".join((await model.complete([Message(role="user", content=secret)], Verdict)).problems)
        except (PermanentError, RetryableError) as error:
            told = str(error)
    assert told
    assert not any(each in told for each in ("Ann", "diagnosis", "J45", "0123456789"))
    if direct and status == 401 and form != "body":
        assert "auth: HTTP 401: refused: " in told
        assert told.endswith("(invalid_api_key)")
    assert len(told) < 400


@pytest.mark.parametrize("make", [llm_model, openai_model])
async def test_a_password_in_the_address_is_sent_as_such(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, make: Any
) -> None:
    """Instead of a key. With a key there is a clear error at once, and the password is not in it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    address = server.url.replace("://", "://ann:s3cretword@")
    await make("openai/local", api_base=address).complete(QUESTION[:1], Verdict)
    assert server.requests[0].headers["authorization"] == "Basic YW5uOnMzY3JldHdvcmQ="
    with pytest.raises(ConfigurationError, match="judge_api_base has a user and a password, and") as both:
        make("openai/local", api_base=address, api_key="k")
    assert "s3cretword" not in str(both.value)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        make("openai/local", api_base=address)


async def test_a_missing_key_is_told_as_such_and_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's client is not made without one, so nothing was sent that could be paid for."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with metered() as spent, pytest.raises(PermanentError, match=r"auth: .*OPENAI_API_KEY"):
        await llm_model("openai/gpt-4o-mini").complete(QUESTION[:1], Verdict)
    assert spent.usage is None


async def test_a_wait_that_is_too_long_is_told(server: JudgeServer) -> None:
    """Retry-After is read on this way too; who asks for more than we wait gets no second call."""
    server.fail_next(RateLimited(retry_after_s=60))
    model = llm_model("openai/local", api_base=server.url, api_key="k", retry=RetryPolicy(attempts=2, longest_wait_s=5))
    with pytest.raises(RetryableError) as raised:
        await model.complete(QUESTION[:1], Verdict)
    assert raised.value.retry_after_s == 60
    assert len(server.requests) == 1


def test_connections_are_kept_within_a_loop_and_closed_with_it(
    server: JudgeServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Loop after loop works; none of them leaves an open session behind for aiohttp to complain about."""
    gc.collect()  # what other tests have left is not complained about here
    model = llm_model("openai/local", api_base=server.url, api_key="k")

    async def ask_twice(model: ResilientModel) -> None:
        for _ in range(2):
            await model.complete(QUESTION[:1], Verdict)

    with caplog.at_level(logging.ERROR, logger="asyncio"):
        for _ in range(2):
            asyncio.run(ask_twice(model))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(ask_twice(model))
        loop.close()
        del loop, model
        gc.collect()
    assert len(server.requests) == 6
    assert [record.getMessage() for record in caplog.records if record.name == "asyncio"] == []
