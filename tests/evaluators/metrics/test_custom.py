"""Metrics of one's own, from a prompt or a function."""

from __future__ import annotations

import asyncio
import math
import threading
from typing import Any

import pytest
from pydantic import BaseModel, Field

from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, Evaluation, ReasonCode
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.custom import llm_evaluator
from rag_otel_evaluators.metrics.functions import function_evaluator
from rag_otel_evaluators.prompts import Example, Prompt
from testkit.judge_server import JudgeServer, ServerError
from tests.evaluators.metrics.conftest import fields_of

CASE: dict[str, Any] = {"question": "Where?", "chunks": ["Paris is in France."], "response": "In France, please."}


class Politeness(BaseModel):
    """A response model of a user's."""

    reason: str
    rating: int = Field(ge=1, le=5)


def politeness(model: StructuredModel, score: Any = lambda answer: (answer.rating - 1) / 4, **changes: Any) -> Any:
    """The example of the documentation."""
    prompt = "Rate from 1 to 5 how polite the response is."
    settings = {"name": "politeness", "prompt": prompt, "response_model": Politeness, "score": score, **changes}
    return llm_evaluator(model=model, **settings)


async def test_a_prompt_and_a_model_make_a_metric(judge: JudgeServer, model: StructuredModel) -> None:
    """Five lines: score, explanation, cost and the prompt's hash, like a built-in metric."""
    judge.answer = lambda request: {"reason": "It says please.", "rating": 4}
    evaluator = politeness(model)
    result = await evaluator.evaluate(**CASE)
    assert isinstance(evaluator, Evaluator)
    assert (result.name, result.score, result.explanation) == ("politeness", 0.75, "It says please.")
    assert result.prompts[0].startswith("politeness/en@1:")
    assert result.usage.calls == 1


async def test_the_parsed_answer_is_kept(judge: JudgeServer, model: StructuredModel) -> None:
    """All fields of the response model, also where the score cannot be computed; as JSON in the details."""
    judge.answer = lambda request: {"reason": "It says please.", "rating": 4}
    result = await politeness(model).evaluate(**CASE)
    assert Politeness.model_validate(result.answer) == Politeness(reason="It says please.", rating=4)
    assert result.to_dict()["answer"] == {"reason": "It says please.", "rating": 4}
    failed = await politeness(model, score=lambda answer: answer.rating).evaluate(**CASE)
    assert failed.error_type is not None
    assert failed.answer == result.answer


async def test_without_placeholders_all_that_is_known_follows(judge: JudgeServer, model: StructuredModel) -> None:
    """Question, chunks and response between their tags; no reference, because there is none."""
    judge.answer = lambda request: {"reason": "r", "rating": 1}
    await politeness(model).evaluate(**CASE)
    assert fields_of(judge.requests[0]) == {
        "question": "Where?",
        "chunks": "[0] Paris is in France.",
        "response": "In France, please.",
    }


async def test_placeholders_say_what_goes_where(judge: JudgeServer, model: StructuredModel) -> None:
    """Only the fields that the prompt names are sent, and its other braces stay as they are."""
    judge.answer = lambda request: {"reason": "r", "rating": 1}
    await politeness(model, prompt='Rate {response} as {"rating": 1}.').evaluate(**CASE)
    asked = judge.requests[0].body["messages"][-1]["content"]
    assert asked == 'Rate <response>\nIn France, please.\n</response> as {"rating": 1}.'


@pytest.mark.parametrize("returned", [math.nan, math.inf, -0.1, 1.1, "0.5", [0.5]])
async def test_what_is_no_score_is_a_failure(judge: JudgeServer, model: StructuredModel, returned: Any) -> None:
    """Never NaN, never clipped, never read out of a text."""
    judge.answer = lambda request: {"reason": "r", "rating": 1}
    result = await politeness(model, score=lambda answer: returned).evaluate(**CASE)
    assert (result.score, result.reason_code) == (None, ReasonCode.JUDGE_ERROR)
    assert result.error_type == "builtins.ValueError"


async def test_a_score_that_raises_is_a_failure(judge: JudgeServer, model: StructuredModel) -> None:
    """The user's own mistake, as data, with the cost of the call."""
    judge.answer = lambda request: {"reason": "r", "rating": 1}
    result = await politeness(model, score=lambda answer: answer.nothing).evaluate(**CASE)
    assert result.error_type == "builtins.AttributeError"
    assert result.usage.calls == 1


async def test_none_is_not_zero(judge: JudgeServer, model: StructuredModel) -> None:
    """A score of None is an answer: it cannot be told."""
    judge.answer = lambda request: {"reason": "r", "rating": 1}
    result = await politeness(model, score=lambda answer: None).evaluate(**CASE)
    assert (result.score, result.reason_code, result.error_type) == (None, ReasonCode.NOT_SCORED, None)


async def test_an_answer_out_of_shape_is_null(judge: JudgeServer, model: StructuredModel) -> None:
    """A rating of 9 of 5 is no answer."""
    judge.answer = lambda request: {"reason": "r", "rating": 9}
    result = await politeness(model).evaluate(**CASE)
    assert (result.score, result.reason_code) == (None, ReasonCode.PARSE_ERROR)


async def test_an_outage_is_data(judge: JudgeServer, model: StructuredModel) -> None:
    """Nothing is raised: the evaluation failed, and may succeed later."""
    judge.fail_next(ServerError())
    result = await politeness(model).evaluate(**CASE)
    assert (result.score, result.error_retryable) == (None, True)


async def test_a_field_can_be_the_score(judge: JudgeServer, model: StructuredModel) -> None:
    """By its name; a truth value is 1 or 0."""

    class Verdict(BaseModel):
        polite: bool

    judge.answer = lambda request: {"polite": True}
    assert (await politeness(model, response_model=Verdict, score="polite").evaluate(**CASE)).score == 1.0


def test_what_cannot_work_is_said_at_once(model: StructuredModel) -> None:
    """A field that the response model lacks, a metric's name that no attribute can have, examples without a turn."""
    with pytest.raises(ConfigurationError, match="it has: reason, rating"):
        politeness(model, score="ratting")
    with pytest.raises(ValueError, match="status"):
        politeness(model, name="status")
    example = Example(input={"response": "x"}, output={"rating": 1})
    with pytest.raises(ConfigurationError, match="examples"):
        politeness(model, prompt=Prompt(name="p", instruction="Rate {response}.", examples=(example,)))


async def test_a_function_is_a_metric() -> None:
    """Bare decoration; the function gets what it names and is still a function."""

    @function_evaluator
    def brevity(response: str) -> float:
        return min(1.0, 9 / len(response))

    result = await brevity.evaluate(**CASE)
    assert isinstance(brevity, Evaluator)
    assert (result.name, result.score) == ("brevity", 0.5)
    assert brevity("four") == 1.0


async def test_a_function_gets_chunks_as_chunks() -> None:
    """With ids and positions, whether they came as strings or not; `**anything` gets all there is."""
    seen: dict[str, Any] = {}

    @function_evaluator(name="seen", version="3")
    async def look(**everything: Any) -> tuple[float, str]:
        seen.update(everything)
        return 1.0, "looked"

    result = await look.evaluate(**CASE, reference="R")
    assert seen["chunks"] == [Chunk(id="0", text="Paris is in France.", position=0)]
    assert (seen["reference"], result.explanation, result.version) == ("R", "looked", "3")


async def test_a_blocking_function_leaves_the_loop_alone() -> None:
    """A sync function runs on a thread: the loop goes on while it waits."""
    released = threading.Event()

    @function_evaluator
    def waits(response: str) -> bool:
        return released.wait(timeout=30)

    evaluation = asyncio.ensure_future(waits.evaluate(**CASE))
    await asyncio.sleep(0)
    released.set()
    assert (await evaluation).score == 1.0


@pytest.mark.parametrize("returned", [math.nan, 2, "high", (0.5, "a", "b")])
async def test_a_function_that_returns_no_score_fails(returned: Any) -> None:
    """As data, with what it returned."""
    result = await function_evaluator(name="bad")(lambda response: returned).evaluate(**CASE)
    assert (result.score, result.error_type) == (None, "builtins.ValueError")


async def test_a_function_that_raises_fails_alone() -> None:
    """What it raised is on the result."""

    @function_evaluator
    def broken(response: str) -> float:
        raise KeyError("oops")

    result = await broken.evaluate(**CASE)
    assert (result.error_type, result.reason_code) == ("builtins.KeyError", ReasonCode.JUDGE_ERROR)
    assert "oops" in str(result.explanation)


async def test_a_function_may_return_a_whole_evaluation() -> None:
    """Chunk scores and labels of its own, under the metric's name."""

    @function_evaluator
    def whole(chunks: list[Chunk]) -> Evaluation:
        return Evaluation(name="anything", score=0.5, label="half", chunk_scores=(0.5,))

    result = await whole.evaluate(**CASE)
    assert (result.name, result.label, result.chunk_scores) == ("whole", "half", (0.5,))


def test_a_function_that_wants_something_else_is_refused() -> None:
    """At decoration, naming what there is."""
    with pytest.raises(ConfigurationError, match="question, chunks, response, reference"):
        function_evaluator(name="bad")(lambda answer: 1.0)
    with pytest.raises(ConfigurationError, match="keyword parameters"):
        function_evaluator(name="bad")(lambda response, /: 1.0)
    assert function_evaluator(name="good")(lambda response, threshold=0.5: 1.0).name == "good"
