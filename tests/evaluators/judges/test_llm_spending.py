"""What one answer can cost: one call and at most one repeat for each step, whatever comes back."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import RagOtelError
from rag_otel.evaluation.evaluate import evaluate as run_evaluator
from rag_otel.model import Evaluation, ReasonCode
from rag_otel_evaluators.judges.cascade import CascadeJudge
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge, most_calls_of
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.judges.statements import StatementsJudge
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.rate_limits import RateLimits
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.judge_server import Hang, JudgeRequest, JudgeServer, Said, ServerError, cut_to_budget
from testkit.when_used import llm_model
from testkit.word_overlap_judge import answer as oracle
from testkit.word_overlap_judge import fields_of, items_of

pytestmark = pytest.mark.usefixtures("litellm_is_loaded")

CHUNKS = ["The tower is 330 metres high and was finished in 1889."]
RESPONSE = " ".join(f"The tower number {i} is {300 + i} metres high." for i in range(6))


def half(request: JudgeRequest) -> Any:
    """The first half of the verdicts, or of the statements."""
    said = oracle(request)
    return {name: items[: len(items) // 2] for name, items in said.items()}


def thinking(request: JudgeRequest) -> Said:
    """Long thoughts before a good answer, within the budget."""
    thoughts = "Let me consider the claim carefully. " * 120
    return cut_to_budget(request, f"<think>\n{thoughts}</think>\n{json.dumps(oracle(request))}")


COMING_BACK: dict[str, Callable[[JudgeRequest], Any]] = {
    "garbage": lambda request: "I am sorry Dave",
    "empty": lambda request: "",
    "another object": lambda request: {"foo": 1},
    "no item": lambda request: {"verdicts": [], "statements": []},
    "half": half,
    "cut off": lambda request: Said('{"ver', finish_reason="length"),
    "only thoughts": lambda request: cut_to_budget(request, "<think>" + "hm " * 100_000),
    "no evidence": lambda request: {
        "verdicts": [{"claim": int(n), "evidence": [], "verdict": "supported"} for n in items_of(_claims(request))],
        "statements": [],
    },
}


def _claims(request: JudgeRequest) -> str:
    return fields_of(request).get("claims", "")


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=oracle) as running:
        yield running


def model_at(server: JudgeServer, name: str = "openai/judge", **options: Any) -> ResilientModel:
    return llm_model(name, api_base=server.url, **{"retry": RetryPolicy(attempts=2, base_s=0.01), **options})


JUDGES: dict[str, Callable[[ResilientModel], Judge]] = {
    "single": lambda model: LlmJudge(model=model),
    "two_step": lambda model: LlmJudge(model=model, strategy="two_step"),
    "three samples": lambda model: LlmJudge(model=model, samples=3),
    "classifier": lambda model: StatementsJudge(model=model, classifier=EmbeddedJudge()),
    "cascade": lambda model: CascadeJudge(
        cheap=EmbeddedJudge(), expensive=LlmJudge(model=model), sure_unsupported_to=0.0, sure_supported_from=1.0
    ),
}
MOST_CALLS = {"single": 2, "two_step": 4, "three samples": 4, "classifier": 2, "cascade": 2}


async def evaluate(judge: Judge, response: str = RESPONSE, chunks: list[str] = CHUNKS) -> Evaluation:
    return await Faithfulness(judge=judge).evaluate(question="How high?", chunks=chunks, response=response)


@pytest.mark.parametrize("said", COMING_BACK)
@pytest.mark.parametrize("kind", JUDGES)
async def test_no_answer_costs_more_calls_than_its_judge_says(server: JudgeServer, kind: str, said: str) -> None:
    """Unreadable, half-empty, cut off, thinking: the bound holds, and is the one in the documentation."""
    server.answer = COMING_BACK[said]
    judge = JUDGES[kind](model_at(server))
    with contextlib.suppress(RagOtelError):
        await evaluate(judge)
    assert 1 <= len(server.requests) <= most_calls_of(judge) == MOST_CALLS[kind]


@pytest.mark.parametrize("make", [llm_model, openai_model], ids=["litellm's knowledge", "without litellm"])
@pytest.mark.parametrize("name", ["openai/judge", "openai/Qwen/Qwen3-8B"])
async def test_a_thinking_model_is_read_within_one_repeat(
    server: JudgeServer, name: str, make: Callable[..., ResilientModel]
) -> None:
    """Known by its name it has the room from the start; unknown, the repeat has it, and so has every later call."""
    server.answer = thinking
    model = make(name, api_base=server.url)
    first, second = await evaluate(LlmJudge(model=model)), await evaluate(LlmJudge(model=model))
    assert first.reason_code is second.reason_code is None
    known = "Qwen3" in name
    assert len(server.requests) == (2 if known else 3)
    assert (server.requests[0].body.get("response_format") is None) is known


async def test_thoughts_in_a_field_of_their_own_get_room_too(server: JudgeServer) -> None:
    """As gpt-oss and deepseek-reasoner send them: the answer is empty when they used the budget up."""
    answers = iter([Said("", finish_reason="length", reasoning="Let me think. " * 90)])
    server.answer = lambda request: next(answers, None) or oracle(request)
    result = await evaluate(LlmJudge(model=model_at(server)))
    assert result.reason_code is None
    first, second = (request.body["max_tokens"] for request in server.requests)
    assert second >= first + 4_000


async def test_unreadable_answers_open_the_breaker(server: JudgeServer) -> None:
    """Forty traces against a judge that talks nonsense cost eight calls, not a hundred and sixty."""
    server.answer = COMING_BACK["garbage"]
    model = model_at(server)
    for _ in range(40):
        result = await run_evaluator(
            Faithfulness(judge=LlmJudge(model=model)),
            question="q",
            chunks=CHUNKS,
            response=RESPONSE,
            timeout_s=60,
        )
        assert result.score is None
    assert model.breaker.opened_by is not None
    assert len(server.requests) == 8


def mostly_unreadable(request: JudgeRequest) -> Any:
    """Half of the verdicts, or of the statements, have another form than was asked for."""
    return {
        name: [item if number % 2 else {"was": "different"} for number, item in enumerate(items)]
        for name, items in oracle(request).items()
    }


async def test_answers_that_are_half_unreadable_open_the_breaker(server: JudgeServer) -> None:
    """They cost two calls a trace and bring half of the verdicts: after eight in a row the judge is not called."""
    server.answer = mostly_unreadable
    model = model_at(server)
    for _ in range(40):
        await run_evaluator(
            Faithfulness(judge=LlmJudge(model=model)),
            question="q",
            chunks=CHUNKS,
            response=RESPONSE,
            timeout_s=60,
        )
    assert model.breaker.opened_by is not None
    assert len(server.requests) == 8


async def test_repeated_refusals_open_the_breaker(server: JudgeServer) -> None:
    """A 400 for everything: three ways to ask are tried each time, and after six refused answers none."""
    server.fail_next(*[ServerError(400)] * 200)
    model = model_at(server)
    for _ in range(40):
        with pytest.raises(RagOtelError):
            await evaluate(LlmJudge(model=model))
    assert model.breaker.opened_by is not None
    assert len(server.requests) == 18


async def test_a_hanging_judge_is_given_up_within_the_evaluation(server: JudgeServer) -> None:
    """The call ends before the evaluation does, so that its breaker hears of it: six calls for twenty traces, and one
    more for each that the machine held up so long that the evaluation ended first."""
    server.fail_next(*[Hang()] * 200)
    model = model_at(server, timeout_s=0.5)
    metric = Faithfulness(judge=LlmJudge(model=model))
    for _ in range(20):
        result = await run_evaluator(metric, question="q", chunks=CHUNKS, response=RESPONSE, timeout_s=0.5)
        assert (result.score, result.error_retryable) == (None, True)
        assert result.reason_code == ReasonCode.TIMEOUT
        assert "openai/judge" in (result.explanation or "") or "no answer within" in (result.explanation or "")
    assert model.breaker.opened_by is not None
    assert 6 <= len(server.requests) <= 10


async def test_calls_a_minute_are_capped(server: JudgeServer) -> None:
    """What would have to wait longer than its evaluation lasts is not asked, and says why."""
    metric = Faithfulness(judge=LlmJudge(model=model_at(server, limits=RateLimits(requests_per_minute=3))))
    results = [
        await run_evaluator(metric, question="q", chunks=CHUNKS, response=f"It is {i} metres.", timeout_s=1)
        for i in range(10)
    ]
    assert 1 <= len(server.requests) <= 3
    assert results[-1].reason_code == ReasonCode.BUDGET
    assert "cap of this process" in (results[-1].explanation or "")


async def test_evidence_is_sent_once(server: JudgeServer) -> None:
    """An answer of 400 claims over 30 kB of chunks: one request, a little larger than the chunks."""
    chunks = [f"Fact number {i} is true, and here is more to read about it than anybody wants to." for i in range(400)]
    await evaluate(LlmJudge(model=model_at(server)), " ".join(f"Fact number {i} is true." for i in range(400)), chunks)
    assert len(server.requests) == 1
    assert len(json.dumps(server.requests[0].body)) < 2.5 * len("".join(chunks))


async def test_several_samples_give_the_confidence(server: JudgeServer) -> None:
    """Two of three say supported: so does the verdict, with three fifths of confidence; one of three is outvoted."""
    votes = iter(["supported", "contradicted", "supported"] * 2)

    def vote(request: JudgeRequest) -> Any:
        said = next(votes)
        return {"verdicts": [{"claim": 0, "evidence": ["c0.s0"], "verdict": said, "confidence": 1.0}]}

    server.answer = vote
    result = await evaluate(LlmJudge(model=model_at(server), samples=3), "The tower is 330 metres high.")
    assert [claim.support_probability for claim in result.claims] == [pytest.approx(0.6)]
    assert "x3" in result.version
    assert len(server.requests) == 3
