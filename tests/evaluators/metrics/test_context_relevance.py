"""Context relevance: two judges, one valid is enough, and ratings are numbers."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel.errors import RetryableError
from rag_otel.model import ReasonCode
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.context_relevance import ContextRelevance
from rag_otel_evaluators.prompts import load_prompt
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError

QUESTION = "When and where was Albert Einstein born?"
CHUNKS = ["Albert Einstein was born March 14, 1879.", "Albert Einstein was born at Ulm, in Württemberg, Germany."]
GOOD = {"chunks": [{"chunk": 0, "rating": 1}, {"chunk": 1, "rating": 1}], "rating": 2}
FIRST = load_prompt("context_relevance_first").instruction


def is_first(request: JudgeRequest) -> bool:
    """True where the request comes from the first of the two judges."""
    return bool(request.body["messages"][0]["content"].startswith(FIRST))


def judges(first: Any, second: Any) -> Any:
    """An answer for each judge."""
    return lambda request: first if is_first(request) else second


async def evaluate(model: StructuredModel, chunks: list[str] = CHUNKS, question: str | None = QUESTION) -> Any:
    """One evaluation of the Einstein example."""
    return await ContextRelevance(model=model).evaluate(question=question, chunks=chunks, response="")


async def test_two_halves_answer_the_whole(judge: JudgeServer, model: StructuredModel) -> None:
    """The published example: both judges say 2 of the chunks together, 1 of each alone."""
    judge.answer = judges(GOOD, GOOD)
    result = await evaluate(model)
    assert result.score == 1.0
    assert result.chunk_scores == (0.5, 0.5)
    assert len(judge.requests) == 2
    assert len(result.prompts) == 2


async def test_the_judges_are_averaged(judge: JudgeServer, model: StructuredModel) -> None:
    """2 and 1 give 0.75, for the whole and for each chunk by its own ratings."""
    judge.answer = judges(GOOD, {"chunks": [{"chunk": 0, "rating": 2}, {"chunk": 1, "rating": 0}], "rating": 1})
    result = await evaluate(model)
    assert result.score == 0.75
    assert result.chunk_scores == (0.75, 0.25)


@pytest.mark.parametrize("which", [True, False])
async def test_one_valid_judge_is_enough(judge: JudgeServer, model: StructuredModel, which: bool) -> None:
    """Whichever of the two fails, the other one's rating is the score."""
    judge.answer = lambda request: GOOD if is_first(request) is which else "The relevance is high, maybe 2 or 1."
    result = await evaluate(model)
    assert result.score == 1.0
    assert "only one judge" in result.explanation


async def test_a_judge_is_asked_once_more(judge: JudgeServer, model: StructuredModel) -> None:
    """The second answer counts when the first could not be read."""
    answers = iter(["no"])
    judge.answer = lambda request: GOOD if is_first(request) else next(answers, GOOD)
    result = await evaluate(model)
    assert result.score == 1.0
    assert "alone" not in result.explanation
    assert len([request for request in judge.requests if not is_first(request)]) == 2


async def test_after_the_last_try_there_is_no_score(judge: JudgeServer, model: StructuredModel) -> None:
    """Two judges that never answer in form: null with a reason after two tries of each, all of them counted."""
    judge.answer = lambda request: "relevance: 2"
    result = await evaluate(model)
    assert (result.score, result.reason_code) == (None, ReasonCode.PARSE_ERROR)
    assert len(judge.requests) == ContextRelevance(model=model).most_calls == 4
    assert result.usage.calls == 4


async def test_after_an_answer_that_was_cut_off_there_is_more_room(judge: JudgeServer, model: StructuredModel) -> None:
    """Twice the budget in the second answer, and no third."""
    judge.answer = lambda request: "relev"
    judge.finish_reason = "length"
    metric = ContextRelevance(model=model)
    result = await metric.evaluate(question=QUESTION, chunks=["Ulm lies on the Danube."], response="")
    assert result.reason_code == ReasonCode.PARSE_ERROR
    assert len(judge.requests) == 4
    budgets = sorted({request.body["max_tokens"] for request in judge.requests})
    assert budgets == [budgets[0], 2 * budgets[0]]


@pytest.mark.parametrize("rating", [3, -1, 1.5, "2 or 1", None])
async def test_a_rating_off_the_scale_is_no_rating(judge: JudgeServer, model: StructuredModel, rating: Any) -> None:
    """Nothing is clipped, rounded or looked for in a text."""
    judge.answer = judges(GOOD, {"chunks": [], "rating": rating})
    result = await evaluate(model)
    assert result.score == 1.0
    assert result.reason_code == ReasonCode.INCOMPLETE
    assert "only one judge" in result.explanation


async def test_one_judge_in_an_outage_leaves_the_other(judge: JudgeServer, model: StructuredModel) -> None:
    """An HTTP error of one judge costs its own rating alone."""
    judge.answer = judges(GOOD, GOOD)
    judge.fail_next(ServerError(), None)
    result = await evaluate(model)
    assert result.score == 1.0
    assert "only one judge" in result.explanation
    assert result.error_type is None


async def test_an_outage_of_both_is_a_failure(judge: JudgeServer, model: StructuredModel) -> None:
    """No score, the error's type, and that trying again may help."""
    judge.fail_next(ServerError(), ServerError())
    result = await evaluate(model)
    assert (result.score, result.reason_code) == (None, ReasonCode.JUDGE_ERROR)
    assert result.error_type == f"{RetryableError.__module__}.{RetryableError.__qualname__}"
    assert result.error_retryable


@pytest.mark.parametrize(
    ("chunks", "reason"), [([], ReasonCode.NO_CONTEXT), (["", " "], ReasonCode.NO_CONTEXT), ([QUESTION], None)]
)
async def test_nothing_but_the_question_is_worth_nothing(
    judge: JudgeServer, model: StructuredModel, chunks: list[str], reason: ReasonCode | None
) -> None:
    """An empty context and one that repeats the question score 0 without a call."""
    result = await evaluate(model, chunks=chunks)
    assert (result.score, result.reason_code) == (0.0, reason)
    assert result.chunk_scores == (0.0,) * len(chunks)
    assert judge.requests == []


async def test_without_a_question_it_cannot_be_told(judge: JudgeServer, model: StructuredModel) -> None:
    """Null with a reason of its own."""
    result = await evaluate(model, question=None)
    assert (result.score, result.reason_code) == (None, ReasonCode.NO_QUESTION)
    assert judge.requests == []


async def test_a_chunk_without_a_rating_stays_unknown(judge: JudgeServer, model: StructuredModel) -> None:
    """A chunk that neither judge rated has no score; the whole still has."""
    partial = {"chunks": [{"chunk": 0, "rating": 2}], "rating": 2}
    judge.answer = judges(partial, partial)
    result = await evaluate(model)
    assert result.score == 1.0
    assert result.chunk_scores == (1.0, None)


async def test_chunks_counted_from_one_keep_their_ratings(judge: JudgeServer, model: StructuredModel) -> None:
    """1 and 2 for two chunks. Of numbers that do not fit no chunk has a score."""
    from_one = {"chunks": [{"chunk": 1, "rating": 2}, {"chunk": 2, "rating": 0}], "rating": 2}
    judge.answer = judges(from_one, from_one)
    assert (await evaluate(model)).chunk_scores == (1.0, 0.0)
    beyond = {"chunks": [{"chunk": 0, "rating": 2}, {"chunk": 2, "rating": 0}], "rating": 2}
    judge.answer = judges(beyond, beyond)
    result = await evaluate(model)
    assert (result.score, result.chunk_scores, result.reason_code) == (1.0, (None, None), ReasonCode.INCOMPLETE)
