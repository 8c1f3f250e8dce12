"""Metrics that compare a response with a reference answer, with the numbers of the worked examples."""

from __future__ import annotations

import doctest
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest

from rag_otel.model import ReasonCode, Verdict
from rag_otel_evaluators.llm.embedding import Embeddings, ModelEmbedder
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics import answer_correctness, critics, factual_correctness, noise_sensitivity
from rag_otel_evaluators.metrics.answer_correctness import AnswerCorrectness
from rag_otel_evaluators.metrics.factual_correctness import ClaimAgreement, FactualCorrectness
from rag_otel_evaluators.metrics.noise_sensitivity import NoiseSensitivity
from rag_otel_evaluators.metrics.semantic_similarity import SemanticSimilarity
from rag_otel_evaluators.text import edit_distance
from testkit.judge_server import JudgeRequest, JudgeServer, dropped_item
from tests.evaluators.metrics.conftest import fields_of, items_of

BRIDGE: dict[str, Any] = {
    "question": "When was Tower Bridge built?",
    "chunks": [],
    "response": "Tower Bridge was opened in 1894. It is a stone arch bridge.",
    "reference": "It is a bascule bridge. It was opened on 30 June 1894. It crosses the Thames.",
}
MUSEUM: dict[str, Any] = {
    "question": "What should I know?",
    "chunks": ["The museum opens at 9 and tickets cost 5 euros.", "The museum closes at 8."],
    "response": "It opens at 9. It is closed on Mondays. Tickets cost 5 euros. It closes at 8.",
    "reference": "It opens at 9. It is closed on Mondays.",
}
ORIGINS: dict[str, tuple[list[int], bool]] = {
    "It opens at 9.": ([0], True),
    "It is closed on Mondays.": ([], True),
    "Tickets cost 5 euros.": ([0], False),
    "It closes at 8.": ([1], False),
}


def statements(stated: Mapping[str, bool]) -> Callable[[JudgeRequest], Any]:
    """A judge that finds the claims that end with these words in the other text."""

    def answer(request: JudgeRequest) -> Any:
        claims = items_of(fields_of(request)["claims"])
        found = [next(value for words, value in stated.items() if claim.endswith(words)) for claim in claims]
        return {"verdicts": [{"claim": i, "reason": "r", "stated": value} for i, value in enumerate(found)]}

    return answer


def origins(request: JudgeRequest) -> Any:
    """The judge of the museum."""
    claims = [item.partition(") ")[2] for item in items_of(fields_of(request)["claims"])]
    return {
        "verdicts": [
            {"claim": i, "chunks": ORIGINS[claim][0], "reason": "r", "in_reference": ORIGINS[claim][1]}
            for i, claim in enumerate(claims)
        ]
    }


ONE_OF_TWO = statements({"opened in 1894.": True, "arch bridge.": False, "": False})
"""TP 1, FP 1, FN 3."""


@pytest.mark.parametrize("module", [answer_correctness, critics, factual_correctness, noise_sensitivity, edit_distance])
def test_worked_examples(module: ModuleType) -> None:
    """The examples in the docstrings have these results."""
    tried = doctest.testmod(module)
    assert tried.attempted
    assert tried.failed == 0


@pytest.mark.parametrize(
    ("mode", "beta", "expected"),
    [("precision", 1.0, 1 / 2), ("recall", 1.0, 1 / 4), ("f1", 1.0, 1 / 3), ("f1", 2.0, 5 * 0.125 / 2.25)],
)
async def test_factual_correctness(
    judge: JudgeServer, model: StructuredModel, mode: Any, beta: float, expected: float
) -> None:
    """TP 1, FP 1, FN 3: precision 1/2, recall 1/4; one call for both directions."""
    judge.answer = ONE_OF_TWO
    result = await FactualCorrectness(model=model, mode=mode, beta=beta).evaluate(**BRIDGE)
    assert result.score == pytest.approx(expected)
    assert [claim.verdict for claim in result.claims] == [Verdict.SUPPORTED, Verdict.NOT_ENOUGH_INFO]
    assert BRIDGE["response"][result.claims[1].claim.start : result.claims[1].claim.end] == "It is a stone arch bridge."
    assert "Missing: 'It is a bascule bridge.'" in (result.explanation or "")
    assert len(judge.requests) == 1


async def test_both_texts_and_all_claims_are_asked_about(judge: JudgeServer, model: StructuredModel) -> None:
    """Each claim says which text it is from."""
    judge.answer = ONE_OF_TWO
    await FactualCorrectness(model=model).evaluate(**BRIDGE)
    asked = fields_of(judge.requests[0])
    assert (asked["response"], asked["reference"]) == (BRIDGE["response"], BRIDGE["reference"])
    assert [item.split(")")[0] for item in items_of(asked["claims"])] == ["(response"] * 2 + ["(reference"] * 3


def test_nothing_in_common_is_0() -> None:
    """Also where a text makes no claim; never a division by zero."""
    for mode in ("f1", "precision", "recall"):
        assert ClaimAgreement(true_positives=0, false_positives=0, false_negatives=2).score(mode) == 0.0  # type: ignore[arg-type]
    assert ClaimAgreement(true_positives=3, false_positives=0, false_negatives=0).score() == 1.0


@pytest.mark.parametrize(
    ("change", "score", "reason"),
    [
        ({"response": "I don't know."}, 0.0, ReasonCode.ABSTAINED),
        ({"response": " "}, None, ReasonCode.NO_RESPONSE),
        ({"reference": None}, None, ReasonCode.NO_REFERENCE),
        ({"reference": "I don't know."}, None, ReasonCode.NO_CLAIMS),
    ],
)
@pytest.mark.parametrize("metric", [FactualCorrectness, AnswerCorrectness])
async def test_nothing_to_compare(
    judge: JudgeServer, model: StructuredModel, metric: Any, change: dict[str, Any], score: float | None, reason: str
) -> None:
    """A reason, and no call."""
    result = await metric(model=model).evaluate(**{**BRIDGE, **change})
    assert (result.score, result.reason_code) == (score, reason)
    assert judge.requests == []


async def test_a_short_answer_is_a_claim(judge: JudgeServer, model: StructuredModel) -> None:
    """ "No" is right where the reference says no."""
    judge.answer = statements({"": True})
    result = await FactualCorrectness(model=model).evaluate(question="Is it?", chunks=[], response="No", reference="No")
    assert result.score == 1.0


async def test_a_missing_verdict_is_asked_for_again_and_then_null(judge: JudgeServer, model: StructuredModel) -> None:
    """The formula needs all claims."""
    judge.answer = lambda request: dropped_item(ONE_OF_TWO(request))
    result = await FactualCorrectness(model=model).evaluate(**BRIDGE)
    assert (result.score, result.reason_code) == (None, ReasonCode.INCOMPLETE)
    assert len(judge.requests) == 2
    assert fields_of(judge.requests[1])["claims"].endswith("It crosses the Thames.")


async def test_of_many_claims_the_first_are_judged(judge: JudgeServer, model: StructuredModel) -> None:
    """With the reason."""
    judge.answer = statements({"": True})
    many = " ".join(f"The tower has {number} steps." for number in range(40))
    result = await FactualCorrectness(model=model).evaluate(question=None, chunks=[], response=many, reference=many)
    assert (result.score, result.reason_code, len(result.claims)) == (1.0, ReasonCode.TOO_LONG, 30)


class Fixed:
    """An embedder with the vectors of the worked example."""

    name = "fixed"

    def __init__(self, *vectors: tuple[float, ...]) -> None:
        self.vectors = vectors

    async def embed(self, texts: Any) -> Embeddings:
        return Embeddings(vectors=self.vectors)


async def test_semantic_similarity() -> None:
    """(3, 4) and (4, 3): 24 / 25. A negative cosine is 0; no cosine is no score."""
    result = await SemanticSimilarity(embedder=Fixed((3, 4), (4, 3))).evaluate(**BRIDGE)
    assert (result.score, result.judge) == (pytest.approx(0.96), "fixed")
    assert (await SemanticSimilarity(embedder=Fixed((1, 0), (-1, 0))).evaluate(**BRIDGE)).score == 0.0
    undefined = await SemanticSimilarity(embedder=Fixed((0, 0), (1, 0))).evaluate(**BRIDGE)
    assert (undefined.score, undefined.reason_code) == (None, ReasonCode.EMBEDDING_ERROR)


async def test_semantic_similarity_by_a_server(embedder: ModelEmbedder) -> None:
    """One call for two texts."""
    result = await SemanticSimilarity(embedder=embedder).evaluate(**{**BRIDGE, "response": BRIDGE["reference"]})
    assert result.score == pytest.approx(1.0)
    assert result.judge == "openai/test-embedder"
    assert result.usage is not None
    assert result.usage.calls == 1


def test_without_a_model_the_similarity_is_named_lexical() -> None:
    """In the judge's name and in the explanation."""
    result = SemanticSimilarity().evaluate_sync(**BRIDGE)
    assert result.judge == "lexical/hashed-ngrams-1024"
    assert (result.explanation or "").startswith("Lexical: shared wording, not meaning.")
    assert 0.0 < (result.score or 0.0) < 1.0
    missing = SemanticSimilarity().evaluate_sync(question=None, chunks=[], response="a")
    assert missing.reason_code == ReasonCode.NO_REFERENCE


async def test_answer_correctness(judge: JudgeServer, model: StructuredModel) -> None:
    """0.75 * 1/3 + 0.25 * 0.96 = 0.49; with other weights another mean; without similarity no embedder is asked."""
    judge.answer = ONE_OF_TWO
    metric = AnswerCorrectness(model=model, embedder=Fixed((3, 4), (4, 3)))
    result = await metric.evaluate(**BRIDGE)
    assert result.score == pytest.approx(0.49)
    assert result.judge == "openai/test-judge+fixed"
    assert len(result.claims) == 2
    facts = await AnswerCorrectness(model=model, embedder=Fixed(), weights=(1, 0)).evaluate(**BRIDGE)
    assert (facts.score, facts.judge) == (pytest.approx(1 / 3), "openai/test-judge")
    undefined = await AnswerCorrectness(model=model, embedder=Fixed((0,), (0,))).evaluate(**BRIDGE)
    assert (undefined.name, undefined.score) == ("answer_correctness", None)
    assert undefined.reason_code == ReasonCode.EMBEDDING_ERROR
    with pytest.raises(ValueError, match="weights"):
        AnswerCorrectness(model=model, weights=(0, 1))


@pytest.mark.parametrize("mode", ["relevant", "irrelevant"])
async def test_noise_sensitivity(judge: JudgeServer, model: StructuredModel, mode: Any) -> None:
    """Of four claims two are wrong: one is in the useful chunk, one only in the useless chunk. One call."""
    judge.answer = origins
    result = await NoiseSensitivity(model=model, mode=mode).evaluate(**MUSEUM)
    assert result.score == 0.25
    assert result.chunk_scores == (1.0, 0.0)
    assert [claim.chunk_ids for claim in result.claims] == [("0",), (), ("0",), ("1",)]
    assert len(judge.requests) == 1


async def test_noise_sensitivity_without_ground(judge: JudgeServer, model: StructuredModel) -> None:
    """No context, no claims and an abstention have reasons; chunks that do not exist are no origin."""
    metric = NoiseSensitivity(model=model)
    reasons = []
    for change in ({"chunks": []}, {"response": "I don't know."}, {"reference": "I don't know."}, {"reference": None}):
        reasons.append((await metric.evaluate(**{**MUSEUM, **change})).reason_code)
    assert reasons == [ReasonCode.NO_CONTEXT, ReasonCode.ABSTAINED, ReasonCode.NO_CLAIMS, ReasonCode.NO_REFERENCE]
    judge.answer = lambda request: {"verdicts": [{"claim": i, "chunks": [7], "in_reference": False} for i in range(6)]}
    result = await metric.evaluate(**MUSEUM)
    assert (result.score, result.reason_code) == (None, ReasonCode.INCOMPLETE)


async def test_noise_sensitivity_of_a_judge_that_counts_from_one(judge: JudgeServer, model: StructuredModel) -> None:
    """Claims and chunks from 1: the same score and the same chunks."""
    judge.answer = lambda request: {
        "verdicts": [
            {**each, "claim": each["claim"] + 1, "chunks": [number + 1 for number in each["chunks"]]}
            for each in origins(request)["verdicts"]
        ]
    }
    result = await NoiseSensitivity(model=model).evaluate(**MUSEUM)
    assert (result.score, result.chunk_scores) == (0.25, (1.0, 0.0))
    assert [claim.chunk_ids for claim in result.claims] == [("0",), (), ("0",), ("1",)]
