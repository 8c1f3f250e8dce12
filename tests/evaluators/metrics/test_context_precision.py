"""Context precision: the formula, one verdict a chunk, and what it cannot be computed for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.model import Chunk, ReasonCode
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.context_precision import ContextPrecision, average_precision
from testkit.judge_server import JudgeRequest, JudgeServer, doubled_item, dropped_item
from tests.evaluators.metrics.conftest import fields_of, items_of

QUESTION = "How long does a renewal take?"
RESPONSE = "It takes three weeks, or one week with the express service."
CHUNKS = ["Post offices renew passports.", "Renewal takes three weeks.", "Express renewal takes one week."]


def useful_if_week(request: JudgeRequest) -> dict[str, Any]:
    """A judge that finds the chunks useful that speak of weeks."""
    chunks = items_of(fields_of(request)["chunks"])
    return {"verdicts": [{"chunk": i, "reason": "r", "useful": "week" in text} for i, text in enumerate(chunks)]}


@pytest.mark.parametrize(
    ("relevances", "precision"),
    [
        ([False, True, True], (1 / 2 + 2 / 3) / 2),
        ([True, True, True], 1.0),
        ([True, False, True], (1 + 2 / 3) / 2),
        ([False, False], 0.0),
        ([True], 1.0),
    ],
)
def test_the_formula_is_exact(relevances: list[bool], precision: float) -> None:
    """Worked examples of the literature, unrounded: 0, 1, 1 gives 0.58333..."""
    assert average_precision(relevances) == precision


def test_the_published_example_is_not_rounded() -> None:
    """0.58333..., where a text rounds in between and prints 0.585."""
    assert average_precision([False, True, True]) == pytest.approx(7 / 12, abs=1e-15)


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_precision_is_a_score_and_better_order_is_better(relevances: list[bool]) -> None:
    """Within 0..1 for any ranking; 1 for the same chunks with the useful ones on top."""
    assert 0.0 <= average_precision(relevances) <= average_precision(sorted(relevances, reverse=True))
    assert average_precision(sorted(relevances, reverse=True)) == float(any(relevances))


def test_an_empty_ranking_has_no_precision() -> None:
    """Neither 0 nor 1: the formula is not defined."""
    with pytest.raises(ValueError, match="empty"):
        average_precision([])


async def test_all_chunks_are_judged_in_one_call(judge: JudgeServer, model: StructuredModel) -> None:
    """One request; the score, a score a chunk, cost and the prompt travel with the result."""
    judge.answer = useful_if_week
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.score == (1 / 2 + 2 / 3) / 2
    assert result.chunk_scores == (0.0, 1.0, 1.0)
    assert result.reason_code is None
    assert len(judge.requests) == 1
    assert result.usage is not None
    assert result.usage.calls == 1
    assert result.usage.input_tokens > 0
    assert result.judge == "openai/test-judge"
    assert result.prompts[0].startswith("context_precision/en@")


async def test_every_reason_is_kept(judge: JudgeServer, model: StructuredModel) -> None:
    """What the judge said of each chunk stands in the explanation, under the chunk's own id."""
    judge.answer = lambda request: {
        "verdicts": [{"chunk": i, "reason": f"Because {i}.", "useful": i > 0} for i in range(3)]
    }
    chunks = [Chunk(id=f"doc-{i}", text=text, position=i) for i, text in enumerate(CHUNKS)]
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=chunks, response=RESPONSE)
    assert result.explanation == (
        "2 of 3 chunks are useful, at ranks 2, 3. doc-0: Because 0. doc-1: Because 1. doc-2: Because 2."
    )


@pytest.mark.parametrize("verdict", [2, -1, 0.5, "perhaps", None, []])
async def test_what_is_neither_true_nor_false_is_no_verdict(
    judge: JudgeServer, model: StructuredModel, verdict: Any
) -> None:
    """A 2 or a -1 does not count as useful, nor as useless."""
    judge.answer = lambda request: {"verdicts": [{"chunk": i, "useful": verdict if i == 0 else True} for i in range(3)]}
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.chunk_scores == (None, 1.0, 1.0)
    assert (result.score, result.reason_code) == (None, ReasonCode.INCOMPLETE)


async def test_with_a_reference_the_chunks_are_judged_by_it(judge: JudgeServer, model: StructuredModel) -> None:
    """The judge sees the reference as the answer, and the metric has a name of its own."""
    judge.answer = useful_if_week
    metric = ContextPrecision(model=model, against="reference")
    result = await metric.evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE, reference="Three weeks.")
    assert result.name == "context_precision_with_reference"
    assert fields_of(judge.requests[0])["answer"] == "Three weeks."
    assert result.score is not None


@pytest.mark.parametrize(
    ("case", "against", "reason"),
    [
        ({"question": QUESTION, "chunks": [], "response": RESPONSE}, "response", ReasonCode.NO_CONTEXT),
        ({"question": QUESTION, "chunks": [" ", ""], "response": RESPONSE}, "response", ReasonCode.NO_CONTEXT),
        ({"question": None, "chunks": CHUNKS, "response": RESPONSE}, "response", ReasonCode.NO_QUESTION),
        ({"question": QUESTION, "chunks": CHUNKS, "response": " \n"}, "response", ReasonCode.NO_RESPONSE),
        ({"question": QUESTION, "chunks": CHUNKS, "response": "I don't know."}, "response", ReasonCode.ABSTAINED),
        ({"question": QUESTION, "chunks": CHUNKS, "response": "No lo sé."}, "response", ReasonCode.ABSTAINED),
        ({"question": QUESTION, "chunks": CHUNKS, "response": RESPONSE}, "reference", ReasonCode.NO_REFERENCE),
    ],
)
async def test_what_is_missing_is_null_without_a_call(
    judge: JudgeServer, model: StructuredModel, case: dict[str, Any], against: Any, reason: ReasonCode
) -> None:
    """Each missing part has its own reason, costs nothing and is never a 0."""
    result = await ContextPrecision(model=model, against=against).evaluate(**case)
    assert result.score is None
    assert result.reason_code == reason
    assert judge.requests == []


async def test_a_chunk_that_was_left_out_is_asked_about_alone(judge: JudgeServer, model: StructuredModel) -> None:
    """The second request holds the missing chunk only, and its verdict lands at its own rank."""
    judge.answer = lambda request: (
        dropped_item(useful_if_week(request)) if len(judge.requests) == 1 else useful_if_week(request)
    )
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.chunk_scores == (0.0, 1.0, 1.0)
    assert items_of(fields_of(judge.requests[1])["chunks"]) == [CHUNKS[2]]
    assert result.usage is not None
    assert result.usage.calls == 2


async def test_a_rank_without_a_verdict_leaves_no_score(judge: JudgeServer, model: StructuredModel) -> None:
    """The formula needs every rank; what was judged is kept in the chunks' scores."""
    judge.answer = lambda request: {"verdicts": [{"chunk": 0, "useful": True}]} if len(judge.requests) == 1 else {}
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.score is None
    assert result.reason_code == ReasonCode.INCOMPLETE
    assert result.chunk_scores == (1.0, None, None)


async def test_doubled_verdicts_change_nothing(judge: JudgeServer, model: StructuredModel) -> None:
    """A verdict that comes twice counts once."""
    judge.answer = lambda request: doubled_item(useful_if_week(request))
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.score == (1 / 2 + 2 / 3) / 2
    assert len(judge.requests) == 1


async def test_a_verdict_on_a_chunk_that_does_not_exist_spoils_its_response(
    judge: JudgeServer, model: StructuredModel
) -> None:
    """Chunk 9 of 3: who miscounts there may have miscounted before, so all chunks are asked about again."""

    def answer(request: JudgeRequest) -> Any:
        said = useful_if_week(request)
        if len(judge.requests) == 1:
            said["verdicts"].append({"chunk": 9, "useful": True})
        return said

    judge.answer = answer
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.score == (1 / 2 + 2 / 3) / 2
    assert items_of(fields_of(judge.requests[1])["chunks"]) == CHUNKS
    assert "items 0, 1, 2, 9 of 0 to 2: not used" in str(result.explanation)


async def test_chunks_counted_from_one_keep_their_verdicts(judge: JudgeServer, model: StructuredModel) -> None:
    """1, 2, 3 for three chunks: the ranks are those of a judge that counts from 0."""

    def answer(request: JudgeRequest) -> Any:
        return {"verdicts": [{**each, "chunk": each["chunk"] + 1} for each in useful_if_week(request)["verdicts"]]}

    judge.answer = answer
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.chunk_scores == (0.0, 1.0, 1.0)
    assert len(judge.requests) == 1


async def test_verdicts_that_disagree_are_asked_again(judge: JudgeServer, model: StructuredModel) -> None:
    """Useful and not useful for one chunk is no verdict, not the first one or the last one."""

    def answer(request: JudgeRequest) -> Any:
        said = useful_if_week(request)
        if len(judge.requests) == 1:
            said["verdicts"].append({"chunk": 0, "useful": True})
        return said

    judge.answer = answer
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=CHUNKS, response=RESPONSE)
    assert result.chunk_scores == (0.0, 1.0, 1.0)
    assert items_of(fields_of(judge.requests[1])["chunks"]) == [CHUNKS[0]]


async def test_no_useful_chunk_is_a_score(judge: JudgeServer, model: StructuredModel) -> None:
    """Judged and found useless: 0, without a reason code."""
    judge.answer = lambda request: {"verdicts": [{"chunk": i, "useful": False} for i in range(3)]}
    chunks = [Chunk(id=f"doc-{i}", text=text, position=i) for i, text in enumerate(CHUNKS)]
    result = await ContextPrecision(model=model).evaluate(question=QUESTION, chunks=chunks, response=RESPONSE)
    assert (result.score, result.reason_code) == (0.0, None)
