"""Answer correctness: factual correctness and semantic similarity to a reference answer in one number.

    Answer Correctness = (w1 * F-beta of factual correctness + w2 * semantic similarity) / (w1 + w2)

with the weights 0.75 and 0.25. Example: F1 = 1/3 and similarity 0.96 give 0.75 * 0.33333 + 0.25 * 0.96 = 0.49.

Source: Ragas, "Answer Correctness", docs.ragas.io. Difference: Ragas gives the facts the value 1 if either text has no
statement; here the score then has the reason of `factual_correctness`.
"""

from __future__ import annotations

import dataclasses
from typing import Final, Unpack

from rag_otel.evaluation.current_evaluation import add_usage
from rag_otel.model import Evaluation, ReasonCode
from rag_otel_evaluators.llm.embedding import Embedder
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.factual_correctness import FactualCorrectness
from rag_otel_evaluators.metrics.llm_metric import LlmOptions
from rag_otel_evaluators.metrics.metric import Case
from rag_otel_evaluators.metrics.semantic_similarity import SemanticSimilarity, embedder_name

WEIGHTS: Final = (0.75, 0.25)
"""Of the facts and of the similarity, as in Ragas."""


class AnswerCorrectness(FactualCorrectness):
    """Makes one step of the judge and one embedding call. An abstention scores 0, whatever its wording.

    The score is None with the reason of `factual_correctness` or of `semantic_similarity` if one of them has none.
    """

    default_name = "answer_correctness"

    def __init__(
        self,
        *,
        model: StructuredModel,
        embedder: Embedder | None = None,
        weights: tuple[float, float] = WEIGHTS,
        beta: float = 1.0,
        **options: Unpack[LlmOptions],
    ) -> None:
        """`embedder`: as for `SemanticSimilarity`. `weights`: of the facts and of the similarity, not negative.
        `options`: see `LlmOptions`."""
        super().__init__(model=model, beta=beta, **options)
        if min(weights) < 0 or weights[0] <= 0:
            raise ValueError(f"weights must not be negative, and that of the facts must be above 0, not {weights}")
        self.weights = weights
        self.similarity = SemanticSimilarity(embedder=embedder)

    @property
    def judge_name(self) -> str:
        """The names of the model and of the embedder, because the score depends on both."""
        return f"{self.model.name}+{embedder_name(self.similarity.embedder)}" if self.weights[1] else self.model.name

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        facts = await super()._ask(case, model)
        if facts.score is None or facts.reason_code == ReasonCode.ABSTAINED or not self.weights[1]:
            return facts
        similar = await self.similarity.evaluate(
            question=None, chunks=(), response=case.response or "", reference=case.reference
        )
        usage = add_usage(facts.usage, similar.usage)
        if similar.score is None:
            return dataclasses.replace(similar, judge="", claims=facts.claims, usage=usage)
        return dataclasses.replace(
            facts,
            score=weighted(facts.score, similar.score, self.weights),
            explanation=f"Facts {facts.score:.3f}, similarity {similar.score:.3f}. {facts.explanation}",
            usage=usage,
        )


def weighted(facts: float, similarity: float, weights: tuple[float, float] = WEIGHTS) -> float:
    """Returns the weighted mean of the two scores.

    >>> round(weighted(1 / 3, 0.96), 5)
    0.49
    """
    return (weights[0] * facts + weights[1] * similarity) / sum(weights)
