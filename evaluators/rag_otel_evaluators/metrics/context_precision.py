"""Context precision: are the useful chunks at the top ranks of the retrieval?

    Context Precision@K = sum over k of (Precision@k * v_k) / number of useful chunks in the top K

with v_k = 1 if the chunk at rank k is useful, and Precision@k the share of useful chunks among the first k. This is
the average precision of information retrieval, with relevances given by a judge. Source: RAGAS, "Context Precision",
docs.ragas.io. Example: relevances 0, 1, 1 give (1/2 + 2/3) / 2 = 0.58333...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

from pydantic import BaseModel

from rag_otel.model import Evaluation, ReasonCode
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.llm_metric import LlmMetric, LlmOptions
from rag_otel_evaluators.metrics.metric import Case, only_abstains, with_problems
from rag_otel_evaluators.prompts.numbered_items import AnswerForm


class ChunkVerdict(BaseModel):
    """Whether one chunk was useful for arriving at the answer."""

    chunk: int
    reason: str = ""
    useful: bool

    @property
    def index(self) -> int:
        return self.chunk

    @property
    def decision(self) -> bool:
        return self.useful


class ChunkVerdicts(BaseModel):
    """What the judge returns."""

    verdicts: list[ChunkVerdict]


class ContextPrecision(LlmMetric):
    """Judges all chunks in one step: was each useful for the response, or for the reference answer?

    The score is None with the reason `no_question`, `no_context` (nothing was retrieved), `no_response` or
    `no_reference`, `abstained` (the answer only says that it does not know), `incomplete` (a chunk got no verdict).
    """

    prompt_names = ("context_precision",)

    def __init__(
        self,
        *,
        model: StructuredModel,
        against: Literal["response", "reference"] = "response",
        **options: Unpack[LlmOptions],
    ) -> None:
        """`against`: what the chunks are judged by. `options`: see `LlmOptions`."""
        self.default_name = "context_precision" if against == "response" else "context_precision_with_reference"
        super().__init__(model=model, **options)
        self.against = against

    @property
    def needs(self) -> tuple[str, ...]:
        return ("question", "chunks", self.against)

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        if missing := self._missing(case, "question", self.against):
            return missing
        if not case.has_context:
            return self._null(ReasonCode.NO_CONTEXT, "Nothing was retrieved, so there is no ranking to judge.")
        answer = (case.response if self.against == "response" else case.reference) or ""
        if only_abstains(answer):
            return self._null(ReasonCode.ABSTAINED, f"The {self.against} says that it does not know.")
        answers = await self._about_each(
            model,
            {"question": case.question, "answer": answer, "chunks": case.chunks},
            AnswerForm(response_model=ChunkVerdicts, answers=lambda response: response.verdicts, number="chunk"),
        )
        verdicts = [answers.by_index.get(index) for index in range(len(case.chunks))]
        chunk_scores = tuple(None if verdict is None else float(verdict.useful) for verdict in verdicts)
        relevances = [verdict.useful for verdict in verdicts if verdict is not None]
        if len(relevances) < len(verdicts):
            explanation = f"{len(verdicts) - len(relevances)} of {len(verdicts)} chunks got no verdict."
            return self._null(ReasonCode.INCOMPLETE, with_problems(explanation, answers.problems), chunk_scores)
        reasons = [f"{case.chunk_ids[index]}: {answer.reason}" for index, answer in sorted(answers.by_index.items())]
        explanation = " ".join(
            [f"{sum(relevances)} of {len(relevances)} chunks are useful, at ranks {_ranks(relevances)}.", *reasons]
        )
        return Evaluation(
            name=self.name,
            score=average_precision(relevances),
            explanation=with_problems(explanation, answers.problems),
            chunk_scores=chunk_scores,
        )


def average_precision(relevances: Sequence[bool]) -> float:
    """Returns Context Precision@K of relevances in order of rank, not rounded. 0 if no chunk is relevant.

    Raises ValueError for an empty list, for which the measure is not defined.
    """
    if not relevances:
        raise ValueError("the precision of an empty ranking is not defined")
    useful, total = 0, 0.0
    for rank, relevant in enumerate(relevances, start=1):
        if relevant:
            useful += 1
            total += useful / rank
    return total / useful if useful else 0.0


def _ranks(relevances: Sequence[bool]) -> str:
    return ", ".join(str(rank) for rank, relevant in enumerate(relevances, start=1) if relevant) or "none"
