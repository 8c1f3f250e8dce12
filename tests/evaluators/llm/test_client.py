"""A language model, through litellm and straight over HTTP, against a real server that fails on command."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.model import Usage
from rag_otel_evaluators.llm.cache import DiskCache
from rag_otel_evaluators.llm.circuit_breaker import CircuitBreaker
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.failures import FailureKind
from rag_otel_evaluators.llm.rate_limits import RateLimits
from rag_otel_evaluators.llm.structured import Message, StructuredModel
from testkit.judge_server import (
    ClosedConnection,
    Fault,
    Hang,
    JudgeRequest,
    JudgeServer,
    RateLimited,
    ServerError,
    Truncated,
)
from testkit.when_used import llm_model


class Verdicts(BaseModel):
    verdicts: list[str]


ANSWER = {"verdicts": ["supported", "contradicted"]}
EXPECTED = Verdicts.model_validate(ANSWER)
QUESTION = [Message(role="system", content="Judge."), Message(role="user", content="Is it so?")]
QUICK = RetryPolicy(base_s=0.01)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=lambda request: ANSWER) as running:
        yield running


@pytest.fixture(autouse=True, params=["direct", "litellm"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every promise holds on both ways to a server."""
    monkeypatch.setitem(OPTIONS, "direct", request.param == "direct")


OPTIONS: dict[str, Any] = {"retry": QUICK, "api_key": "key-of-the-test"}


def model_at(server: JudgeServer, name: str = "openai/local", **options: Any) -> ResilientModel:
    return llm_model(name, api_base=server.url, **{**OPTIONS, **options})


async def test_an_answer_comes_with_its_cost(server: JudgeServer) -> None:
    """Value, tokens and calls; no price is made up for a model whose price is unknown."""
    model = model_at(server)
    assert isinstance(model, StructuredModel)
    completion = await model.complete(QUESTION, Verdicts, max_output_tokens=90)
    assert completion.value == EXPECTED
    assert completion.usage.calls == 1
    assert completion.usage.input_tokens > 0
    assert completion.usage.output_tokens == len(completion.raw) // 4
    assert completion.usage.cost_usd is None
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer key-of-the-test"
    assert request.body["max_tokens"] == 90
    assert request.body["temperature"] == 0


async def test_nothing_of_our_switches_for_litellm_reaches_the_wire(server: JudgeServer) -> None:
    """Providers refuse fields that they do not know."""
    await model_at(server).complete(QUESTION, Verdicts)
    assert set(server.requests[0].body) == {"model", "messages", "temperature", "response_format"}


async def test_a_known_model_is_held_to_the_schema_and_has_a_price(server: JudgeServer) -> None:
    """The schema travels once, as response_format; the cost is litellm's price for the tokens."""
    completion = await model_at(server, "openai/gpt-4o-mini").complete(QUESTION, Verdicts)
    (request,) = server.requests
    assert request.schema is not None
    assert request.schema["required"] == ["verdicts"]
    assert "schema" not in request.prompt
    assert completion.usage.cost_usd is not None
    assert completion.usage.cost_usd > 0


async def test_a_price_can_be_given(server: JudgeServer) -> None:
    """For models that litellm does not know."""
    prices = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.002}
    # A name of its own: litellm remembers a price that it is given for as long as the process runs.
    usage = (await model_at(server, "openai/priced", parameters=prices).complete(QUESTION, Verdicts)).usage
    assert usage.cost_usd == pytest.approx(usage.input_tokens * 0.001 + usage.output_tokens * 0.002)


async def test_a_cancelled_call_stores_the_answer_it_has(tmp_path: Path) -> None:
    """An answer that was paid for is in the file, and its claim is given back, when the cancelled call has ended: the
    file may be closed then. All threads are busy while the answer waits to be written."""
    queued, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    cache = DiskCache(tmp_path / "answers.sqlite")

    class Threads(ThreadPoolExecutor):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            if getattr(function, "args", ())[:1] == (cache.put,):
                loop.call_soon_threadsafe(queued.set)
            return super().submit(function, *arguments, **named)

    threads = Threads(max_workers=1)
    loop.set_default_executor(threads)

    def answer(request: JudgeRequest) -> Any:
        threads.submit(go_on.wait)
        return ANSWER

    with JudgeServer(answer=answer) as server:
        asking = asyncio.create_task(model_at(server, cache=cache).complete(QUESTION, Verdicts))
        await queued.wait()
        asking.cancel()
        await asyncio.sleep(0)  # the cancellation reaches the call
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await asking
    cache.close()
    with closing(sqlite3.connect(cache.path)) as stored:
        assert stored.execute("SELECT count(*) FROM answers").fetchone() == (1,)
        assert stored.execute("SELECT count(*) FROM claims").fetchone() == (0,)


async def test_a_server_without_structured_output_is_asked_in_words(server: JudgeServer) -> None:
    """Refused with json_schema and with json_object: the prompt names the schema, and the next call starts there."""
    model = model_at(server)
    server.fail_next(ServerError(400, "invalid_request", "response_format?"), ServerError(400))
    assert (await model.complete(QUESTION, Verdicts)).value == EXPECTED
    assert (await model.complete(QUESTION, Verdicts)).value == EXPECTED
    formats = [(request.body.get("response_format") or {}).get("type") for request in server.requests]
    assert formats == ["json_schema", "json_object", None, None]
    assert '"verdicts"' in server.requests[-1].prompt


@pytest.mark.parametrize(
    "fault", [RateLimited(0.05), RateLimited(), ServerError(500), ServerError(503), Hang(), ClosedConnection()]
)
async def test_a_passing_fault_is_tried_again(server: JudgeServer, fault: Fault) -> None:
    """Limits, overload, silence and broken connections cost a second call, not the answer."""
    server.fail_next(fault)
    model = model_at(server, timeout_s=60)
    if isinstance(fault, Hang):  # another call that is not answered at once is one more fault
        model = model_at(server, timeout_s=0.5, retry=RetryPolicy(attempts=20, base_s=0.01))
    completion = await model.complete(QUESTION, Verdicts)
    assert completion.value == EXPECTED
    assert len(server.requests) == 2 or isinstance(fault, Hang)
    assert completion.usage.calls == 1


async def test_retry_after_is_waited_for_by_everybody(server: JudgeServer) -> None:
    """Nobody calls before the time that the provider named to one caller."""
    model = model_at(server, limits=RateLimits(concurrency=1))
    server.fail_next(RateLimited(0.3))
    await asyncio.gather(*(model.complete(QUESTION, Verdicts) for _ in range(3)))
    first, *others = (request.arrived_s for request in server.requests)
    assert len(others) == 3
    assert min(others) - first >= 0.3


async def test_a_truncated_answer_keeps_its_complete_items(server: JudgeServer) -> None:
    """Half of the items come back, marked as cut off; nothing is asked again on its own account."""
    server.answer = lambda request: {"verdicts": ["supported"] * 10}
    server.fail_next(Truncated(0.5))
    completion = await model_at(server).complete(QUESTION, Verdicts)
    assert completion.value is not None
    assert 0 < len(completion.value.verdicts) < 10
    assert completion.truncated
    assert completion.problems
    assert len(server.requests) == 1


async def test_an_answer_cut_off_before_its_first_item_gets_twice_the_room(server: JudgeServer) -> None:
    """Both calls are paid for and counted."""
    server.fail_next(Truncated(0.1))
    completion = await model_at(server).complete(QUESTION, Verdicts, max_output_tokens=100)
    assert completion.value == EXPECTED
    assert [request.body["max_tokens"] for request in server.requests] == [100, 200]
    assert completion.usage.calls == 2


async def test_an_unreadable_answer_is_shown_to_the_model_and_asked_for_again(server: JudgeServer) -> None:
    """Once: then what came is returned as it is, with the reason and what it cost."""
    server.answer = lambda request: "I would rather not."
    completion = await model_at(server).complete(QUESTION, Verdicts)
    assert completion.value is None
    assert completion.raw == "I would rather not."
    assert completion.problems == ("no JSON in the answer: 'I would rather not.'",)
    assert completion.usage.calls == len(server.requests) == 2
    assert [message["role"] for message in server.requests[1].body["messages"]][-2:] == ["assistant", "user"]


async def test_a_first_answer_is_not_lost_when_asking_again_fails(server: JudgeServer) -> None:
    """It was paid for: its usage and text are returned."""
    server.answer = lambda request: "No."
    server.fail_next(None, ServerError(401))
    completion = await model_at(server).complete(QUESTION, Verdicts)
    assert completion.value is None
    assert completion.raw == "No."
    assert completion.usage.calls == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (ServerError(401, "invalid_api_key", "bad key"), FailureKind.AUTH),
        (ServerError(402, "billing", "no credit"), FailureKind.BILLING),
        (ServerError(429, "insufficient_quota", "You exceeded your current quota"), FailureKind.BILLING),
        (ServerError(404, "model_not_found", "no such model"), FailureKind.ENDPOINT),
    ],
)
async def test_a_lasting_fault_opens_the_breaker(server: JudgeServer, fault: Fault, kind: FailureKind) -> None:
    """One call, then none: each refused caller is told why, and so is who reads the state."""
    model = model_at(server)
    server.fail_next(fault)
    with pytest.raises(PermanentError, match=kind):
        await model.complete(QUESTION, Verdicts)
    with pytest.raises(PermanentError, match="not called for now"):
        await model.complete(QUESTION, Verdicts)
    assert len(server.requests) == 1
    assert model.breaker.opened_by is not None
    assert model.breaker.opened_by.kind is kind


async def test_the_breaker_closes_when_the_judge_is_back(server: JudgeServer) -> None:
    """After the cool-down the next call goes through, and all is as before."""
    model = model_at(server, breaker=CircuitBreaker("judge", cool_down_s=0.0))
    server.fail_next(ServerError(401))
    with pytest.raises(PermanentError):
        await model.complete(QUESTION, Verdicts)
    assert (await model.complete(QUESTION, Verdicts)).value == EXPECTED
    assert model.breaker.opened_by is None


async def test_a_prompt_that_is_too_long_is_permanent_and_leaves_the_breaker_closed(server: JudgeServer) -> None:
    """It is the request's fault: other requests go on."""
    model = model_at(server)
    await model.complete(QUESTION, Verdicts)
    server.fail_next(ServerError(400, "context_length_exceeded", "maximum context length is 8192 tokens"))
    with pytest.raises(PermanentError, match="maximum context length"):
        await model.complete(QUESTION, Verdicts)
    assert (await model.complete(QUESTION, Verdicts)).value == EXPECTED
    assert len(server.requests) == 3


async def test_faults_that_do_not_pass_end_in_an_error_that_says_so(server: JudgeServer) -> None:
    """Every attempt is used, no more."""
    server.fail_next(*[ServerError(500)] * 10)
    with pytest.raises(RetryableError, match="overload"):
        await model_at(server, retry=RetryPolicy(attempts=3, base_s=0.01)).complete(QUESTION, Verdicts)
    assert len(server.requests) == 3


async def test_a_server_that_is_not_there_opens_the_breaker() -> None:
    """Refused connections are told from overload, and are not tried for ever."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        retry = RetryPolicy(attempts=10, base_s=0.01, deadline_s=10)
        model = llm_model("openai/local", api_base=url, **{**OPTIONS, "retry": retry})
        with pytest.raises(RetryableError, match="connection"):
            await model.complete(QUESTION, Verdicts)
    assert model.breaker.opened_by is not None
    assert model.breaker.opened_by.kind is FailureKind.CONNECTION


async def test_no_more_calls_are_under_way_than_allowed(server: JudgeServer) -> None:
    """The limit holds, and is used."""
    server.latency_s = 0.05
    model = model_at(server, limits=RateLimits(concurrency=3))
    await asyncio.gather(*(model.complete(QUESTION, Verdicts) for _ in range(9)))
    assert server.most_in_flight == 3


async def test_a_resumed_run_does_not_pay_twice(server: JudgeServer, tmp_path: Path) -> None:
    """A new model over the same file answers without a call, at no cost; another question is asked."""
    path = tmp_path / "answers.sqlite"
    first = await model_at(server, cache=DiskCache(path)).complete(QUESTION, Verdicts)
    again = await model_at(server, cache=DiskCache(path)).complete(QUESTION, Verdicts)
    assert len(server.requests) == 1
    assert again.value == first.value
    assert again.usage == Usage(cost_usd=0.0, cached_calls=1)
    other = [Message(role="user", content="And this?")]
    await model_at(server, cache=DiskCache(path)).complete(other, Verdicts)
    await model_at(server, cache=DiskCache(path), temperature=0.7).complete(QUESTION, Verdicts)
    await model_at(server, "openai/another", cache=DiskCache(path)).complete(QUESTION, Verdicts)
    assert len(server.requests) == 4


async def test_what_cannot_be_read_is_not_cached(server: JudgeServer, tmp_path: Path) -> None:
    """A resumed run gives a judge that had stumbled another chance."""
    server.answer = lambda request: "hm"
    model = model_at(server, cache=DiskCache(tmp_path / "answers.sqlite"))
    await model.complete(QUESTION, Verdicts)
    server.answer = lambda request: ANSWER
    assert (await model.complete(QUESTION, Verdicts)).value == EXPECTED


def test_one_model_serves_several_loops(server: JudgeServer) -> None:
    """A notebook's cells run one loop after the other."""
    model = model_at(server)
    for _ in range(2):
        assert asyncio.run(model.complete(QUESTION, Verdicts)).value == EXPECTED


async def test_a_cancelled_call_lets_go_of_its_place(server: JudgeServer) -> None:
    """The pipeline's deadline cancels; the next evaluation finds the slot free and the breaker closed."""
    model = model_at(server, limits=RateLimits(concurrency=1))
    server.fail_next(Hang())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await model.complete(QUESTION, Verdicts)
    assert (await model.complete(QUESTION, Verdicts)).value == EXPECTED


def test_a_name_without_a_provider_is_refused_at_once() -> None:
    """At start-up, with a name that would do."""
    with pytest.raises(ConfigurationError, match="openai/gpt-4o-mini"):
        llm_model("my-model")


async def test_a_reasoning_model_has_room_to_think(server: JudgeServer) -> None:
    """Its thoughts count as output: the budget for the answer comes on top; `temperature` is left out."""
    await model_at(server, "openai/o3-mini").complete(QUESTION, Verdicts, max_output_tokens=100)
    body = json.loads(json.dumps(server.requests[0].body))
    assert body["max_completion_tokens"] > 1_000
    assert "temperature" not in body
