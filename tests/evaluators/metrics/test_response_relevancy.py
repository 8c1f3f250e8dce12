"""Response relevancy: the mean cosine, noncommittal responses, and vectors that cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from rag_otel.model import ReasonCode
from rag_otel_evaluators.llm.embedding import Embedder, Embeddings, HashedNgramEmbedder, ModelEmbedder
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.response_relevancy import ResponseRelevancy
from testkit.judge_server import JudgeServer, ServerError, embed
from tests.evaluators.metrics.conftest import fields_of

QUESTION = "Where is France and what is its capital?"
RESPONSE = "France is in western Europe and its capital is Paris."
ASKED = ["Where is France and what is its capital?", "What is the capital of France?", "Where is France?"]


class FixedEmbedder:
    """An embedder whose vectors are given."""

    name = "fixed"

    def __init__(self, vectors: Sequence[Sequence[float]]) -> None:
        self.vectors = vectors

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(vectors=self.vectors)


async def evaluate(
    model: StructuredModel, embedder: Embedder, response: str = RESPONSE, question: str | None = QUESTION
) -> Any:
    """One evaluation of the France example."""
    metric = ResponseRelevancy(model=model, embedder=embedder)
    return await metric.evaluate(question=question, chunks=[], response=response)


async def test_the_score_is_the_mean_cosine(judge: JudgeServer, model: StructuredModel) -> None:
    """Vectors with cosines 1, 0.6 and 0.8 to the question give 0.8."""
    judge.answer = lambda request: {"noncommittal": False, "questions": ASKED}
    result = await evaluate(model, FixedEmbedder([(1, 0), (2, 0), (3, 4), (4, 3)]))
    assert result.score == pytest.approx((1 + 0.6 + 0.8) / 3, abs=1e-15)
    assert result.judge == "openai/test-judge+fixed"


async def test_questions_are_made_in_one_call_and_embedded_in_one(
    judge: JudgeServer, model: StructuredModel, embedder: ModelEmbedder
) -> None:
    """Over the wire: the model is asked for three questions without seeing the user's, and both calls are counted."""
    judge.answer = lambda request: {"noncommittal": False, "questions": ASKED}
    result = await evaluate(model, embedder)
    cosines = [sum(a * b for a, b in zip(embed(QUESTION), embed(text), strict=True)) for text in ASKED]
    assert result.score == pytest.approx(sum(cosines) / 3)
    chat, embeddings = judge.requests
    assert fields_of(chat) == {"count": "3", "answer": RESPONSE}
    assert embeddings.body["input"] == [QUESTION, *ASKED]
    assert result.usage.calls == 2


async def test_a_whole_answer_beats_half_of_one(judge: JudgeServer, model: StructuredModel) -> None:
    """The published example: naming the capital as well is more relevant than the place alone, by any embedder."""
    scores = []
    for asked in (ASKED[:1] * 3, ["Where is France located?"] * 3):
        judge.answer = lambda request, asked=asked: {"noncommittal": False, "questions": asked}
        scores.append((await evaluate(model, HashedNgramEmbedder())).score)
    assert scores[0] == pytest.approx(1.0)
    assert scores[0] > scores[1] > 0


async def test_a_noncommittal_response_scores_nothing(judge: JudgeServer, model: StructuredModel) -> None:
    """0, with a label and a flag that say why, and without an embedding call."""
    judge.answer = lambda request: {"noncommittal": True, "questions": ASKED}
    result = await evaluate(model, FixedEmbedder([]), response="That depends on many things, as one might say.")
    assert (result.score, result.label, result.reason_code) == (0.0, "noncommittal", ReasonCode.ABSTAINED)


@pytest.mark.parametrize("response", ["I don't know.", "No lo sé.", "Je ne sais pas.", "我不知道。"])
async def test_an_abstention_is_known_without_a_call(judge: JudgeServer, model: StructuredModel, response: str) -> None:
    """In each language, as the segmentation knows it."""
    result = await evaluate(model, FixedEmbedder([]), response=response)
    assert (result.score, result.label) == (0.0, "noncommittal")
    assert judge.requests == []


@pytest.mark.parametrize(
    ("question", "response", "reason"),
    [(None, RESPONSE, ReasonCode.NO_QUESTION), (QUESTION, " ", ReasonCode.NO_RESPONSE)],
)
async def test_what_is_missing_is_null_without_a_call(
    judge: JudgeServer, model: StructuredModel, question: str | None, response: str, reason: ReasonCode
) -> None:
    """Each missing part has its own reason."""
    result = await evaluate(model, FixedEmbedder([]), response=response, question=question)
    assert (result.score, result.reason_code) == (None, reason)
    assert judge.requests == []


@pytest.mark.parametrize("questions", [[], ["", "  "]])
async def test_no_question_is_no_score(judge: JudgeServer, model: StructuredModel, questions: list[str]) -> None:
    """A judge that asks nothing back says nothing about relevance."""
    judge.answer = lambda request: {"noncommittal": False, "questions": questions}
    result = await evaluate(model, FixedEmbedder([(1.0,)]))
    assert (result.score, result.reason_code) == (None, ReasonCode.PARSE_ERROR)


@pytest.mark.parametrize(
    "vectors",
    [
        [],
        [(1.0, 0.0)],
        [(1, 0), (1, 0), (0, 0), (1, 0)],
        [(1, 0), (1, 0), (1, 0, 0), (1, 0)],
        [(1, 0), (math.nan, 0), (1, 0), (1, 0)],
        [(math.inf, 0), (1, 0), (1, 0), (1, 0)],
    ],
)
async def test_vectors_without_a_cosine_are_no_score(
    judge: JudgeServer, model: StructuredModel, vectors: list[tuple[float, ...]]
) -> None:
    """Too few, zero, of another length, not finite: null with a reason, never NaN."""
    judge.answer = lambda request: {"noncommittal": False, "questions": ASKED}
    result = await evaluate(model, FixedEmbedder(vectors))
    assert (result.score, result.reason_code) == (None, ReasonCode.EMBEDDING_ERROR)


async def test_opposite_vectors_score_zero(judge: JudgeServer, model: StructuredModel) -> None:
    """A score stays within 0..1 whatever the embeddings say."""
    judge.answer = lambda request: {"noncommittal": False, "questions": ASKED}
    assert (await evaluate(model, FixedEmbedder([(1, 0), (-1, 0), (-1, 0), (-1, 0)]))).score == 0.0


async def test_an_outage_of_the_embedder_keeps_the_bill(
    judge: JudgeServer, model: StructuredModel, embedder: ModelEmbedder
) -> None:
    """The failed evaluation still says what the questions cost."""
    judge.answer = lambda request: {"noncommittal": False, "questions": ASKED}
    judge.fail_next(None, ServerError(status=401, code="invalid_api_key"))
    result = await evaluate(model, embedder)
    assert (result.score, result.reason_code, result.error_retryable) == (None, ReasonCode.JUDGE_ERROR, False)
    assert result.usage.calls == 1


async def test_superfluous_questions_are_left_out(judge: JudgeServer, model: StructuredModel) -> None:
    """N is the setting's, not the model's."""
    judge.answer = lambda request: {"noncommittal": False, "questions": [*ASKED, "And what else?"]}
    result = await evaluate(model, FixedEmbedder([(1, 0)] * 4))
    assert result.score == 1.0
    assert "what else" not in result.explanation
