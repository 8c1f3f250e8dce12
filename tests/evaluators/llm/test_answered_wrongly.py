"""An answer with status 200 that is no chat completion: it was paid for, so it is asked for once more at most."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pytest
from pydantic import BaseModel

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.evaluation.current_evaluation import metered
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.structured import Message
from testkit.judge_server import Body, JudgeServer
from testkit.when_used import llm_embedder, llm_model

QUESTION = [Message(role="user", content="Is it so? " * 60)]
USAGE = {"prompt_tokens": 2000, "completion_tokens": 100}
PRICES = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.002}


class Verdict(BaseModel):
    good: bool


GOOD = {"good": True}
WITH_USAGE: Mapping[str, Body] = {
    "no choice": Body(json.dumps({"choices": [], "usage": USAGE})),
}
WITH_USAGE_WITHOUT_LITELLM: Mapping[str, Body] = {
    "a choice that is null": Body(json.dumps({"choices": [None], "usage": USAGE})),
    "no choices": Body(json.dumps({"usage": USAGE})),
    "no message": Body(json.dumps({"choices": [{"message": None}], "usage": USAGE})),
    "an error object": Body(json.dumps({"error": {"message": "overloaded", "code": 502}, "usage": USAGE})),
    "a stream": Body(
        'data: {"choices": [{"delta": {"content": "{}"}}]}\n\n'
        f"data: {json.dumps({'choices': [], 'usage': USAGE})}\n\ndata: [DONE]\n\n",
        content_type="text/event-stream",
    ),
}
WITHOUT_USAGE: Mapping[str, Body] = {
    "a page": Body("<html>Welcome</html>", content_type="text/html"),
    "an error object": Body(json.dumps({"error": {"message": "overloaded", "code": 502}})),
    "a list": Body("[]"),
    "nothing": Body(""),
    "nested without end": Body("[" * 100_000),
}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=lambda request: GOOD) as running:
        yield running


def model_at(server: JudgeServer, *, direct: bool) -> ResilientModel:
    return llm_model("openai/counted", api_base=server.url, api_key="k", parameters=PRICES, direct=direct,
                     retry=RetryPolicy(attempts=5, base_s=0.01))  # fmt: skip


BREAKS_OFF = Body('{"choices": [{"message"', missing_bytes=100)
BOTH = (True, False)
CASES = [
    *(pytest.param(d, body, True, id=f"{name}, direct {d}") for name, body in WITH_USAGE.items() for d in BOTH),
    *(pytest.param(True, body, True, id=f"{name}, with usage") for name, body in WITH_USAGE_WITHOUT_LITELLM.items()),
    *(pytest.param(d, body, False, id=f"{name}, direct {d}") for name, body in WITHOUT_USAGE.items() for d in BOTH),
    pytest.param(True, BREAKS_OFF, False, id="a body that breaks off"),
]


@pytest.mark.parametrize(("direct", "body", "says_usage"), CASES)
async def test_it_is_asked_for_once_more_and_paid(
    server: JudgeServer, direct: bool, body: Body, says_usage: bool
) -> None:
    """Two calls, not five; both are in the usage that budgets see, as the server says it or estimated."""
    server.answer = lambda request: body
    model = model_at(server, direct=direct)
    with metered() as spent:
        completion = await model.complete(QUESTION, Verdict)
    assert len(server.requests) == 2
    assert completion.value is None
    assert completion.problems
    usage = completion.usage
    assert spent.usage == usage
    assert usage.calls == 2
    assert usage.cost_usd == pytest.approx(usage.input_tokens * 0.001 + usage.output_tokens * 0.002)
    if says_usage:
        assert (usage.input_tokens, usage.output_tokens) == (4000, 200)
    else:
        assert 400 < usage.input_tokens < 800


@pytest.mark.parametrize("direct", [True, False])
async def test_the_second_answer_counts(server: JudgeServer, direct: bool) -> None:
    """One that is asked for once is asked for once; and the shape of answers is not settled by a page."""
    model = model_at(server, direct=direct)
    server.answer = lambda request: GOOD if len(server.requests) == 2 else Body("<html>Welcome</html>")
    assert (await model.complete(QUESTION, Verdict)).value == Verdict(good=True)
    assert (await model.complete_once(QUESTION, Verdict)).value is None
    assert len(server.requests) == 3
    assert [request.body["response_format"]["type"] for request in server.requests] == ["json_schema"] * 3


@pytest.mark.parametrize("direct", [True, False])
async def test_a_server_that_is_no_judge_is_soon_left_alone(server: JudgeServer, direct: bool) -> None:
    """A page for every question: eight calls, and the breaker says what came."""
    server.answer = lambda request: Body("<html>Welcome</html>", content_type="text/html")
    model = model_at(server, direct=direct)
    for _ in range(4):
        await model.complete(QUESTION, Verdict)
    assert len(server.requests) == 8
    assert model.breaker.opened_by is not None
    assert "<html>Welcome" in str(model.breaker.opened_by)


async def test_embeddings_of_another_shape_are_not_asked_for_again(server: JudgeServer) -> None:
    """An embedding model is asked once: what it was paid for is counted."""
    server.embeddings = Body(json.dumps({"data": [{"index": 0}], "usage": {"prompt_tokens": 50}}))
    embedder = llm_embedder("openai/counted", api_base=server.url, api_key="k", parameters=PRICES,
                            retry=RetryPolicy(attempts=5, base_s=0.01))  # fmt: skip
    with metered() as spent:
        await embedder.embed(["one", "two"])
    assert len(server.requests) == 1
    assert spent.usage is not None
    assert spent.usage.input_tokens == 50
