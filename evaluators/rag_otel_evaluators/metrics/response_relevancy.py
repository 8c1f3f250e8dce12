"""Response relevancy: does the response answer the question, and only the question?

    Response Relevancy = mean cosine similarity of E(question) and E(g_i), over N questions g_i

The model generates the questions g_i from the response alone. If the response is relevant, they resemble the user's
question. The score is 0 if the response is noncommittal ("I don't know"). The metric does not say whether the response
is true. Source: RAGAS, "Response Relevancy", docs.ragas.io. Difference: the N questions are generated in one call.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, Unpack

from pydantic import BaseModel

from rag_otel.model import Evaluation, ReasonCode
from rag_otel_evaluators.llm.embedding import Embedder, cosine_similarity
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.llm_metric import LlmMetric, LlmOptions
from rag_otel_evaluators.metrics.metric import Case, only_abstains, with_problems

NONCOMMITTAL: Final = "noncommittal"
TOKENS_PER_QUESTION: Final = 80
TOKENS_BESIDES: Final = 100


class GeneratedQuestions(BaseModel):
    """What the judge returns."""

    noncommittal: bool
    questions: list[str] = []


class ResponseRelevancy(LlmMetric):
    """Makes one model call for N questions and one embedding call for N + 1 texts.

    A negative mean similarity scores 0. A noncommittal response scores 0 with the label `noncommittal` and the reason
    `abstained`. A score from fewer than N questions has the reason `incomplete`. The score is None with the reason
    `no_question`, `no_response`, `parse_error` (no question could be read), `embedding_error` (the cosine of the
    vectors is not defined).
    """

    needs = ("question", "response")
    conversation_as: Final = "question"
    """See `rag_otel.protocols.ReadsConversation`: "And the second one?" alone resembles no generated question."""

    default_name = "response_relevancy"
    prompt_names = ("response_relevancy",)

    def __init__(
        self, *, model: StructuredModel, embedder: Embedder, questions: int = 3, **options: Unpack[LlmOptions]
    ) -> None:
        """`questions` is N, at least 1. `options`: see `LlmOptions`."""
        super().__init__(model=model, **options)
        if questions < 1:
            raise ValueError(f"questions must be at least 1, not {questions}")
        self.embedder = embedder
        self.questions = questions

    @property
    def judge_name(self) -> str:
        """The names of the model and of the embedder, because the score depends on both."""
        return f"{self.model.name}+{self.embedder.name}"

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        if missing := self._missing(case, "question", "response"):
            return missing
        assert case.question is not None
        assert case.response is not None
        if only_abstains(case.response):
            return self._noncommittal("The response says that it does not know.")
        completion = await model.complete(
            self.prompt.messages({"count": self.questions, "answer": case.response}),
            GeneratedQuestions,
            max_output_tokens=TOKENS_PER_QUESTION * self.questions + TOKENS_BESIDES,
        )
        if completion.value is not None and completion.value.noncommittal:
            return self._noncommittal("The judge found the response noncommittal.")
        read = completion.value.questions if completion.value is not None else []
        generated = [question.strip() for question in read if question.strip()][: self.questions]
        if not generated:
            return self._null(ReasonCode.PARSE_ERROR, with_problems("No question could be read.", completion.problems))
        result = await self._compare(case.question, generated)
        if len(generated) < self.questions and result.reason_code is None:
            return dataclasses.replace(result, reason_code=ReasonCode.INCOMPLETE)
        return result

    async def _compare(self, question: str, generated: Sequence[str]) -> Evaluation:
        embeddings = await self.embedder.embed([question, *generated])
        original, *others = embeddings.vectors or [()]
        similarities = [cosine_similarity(original, other) for other in others[: len(generated)]]
        known = [similarity for similarity in similarities if similarity is not None]
        if len(known) < len(generated):
            explanation = (
                f"{len(generated) - len(known)} of {len(generated)} questions have no cosine with the question."
            )
            return dataclasses.replace(self._null(ReasonCode.EMBEDDING_ERROR, explanation), usage=embeddings.usage)
        pairs = zip(generated, known, strict=True)
        return Evaluation(
            name=self.name,
            score=max(0.0, sum(known) / len(known)),
            explanation="The response answers: " + "; ".join(f"{text} ({value:.2f})" for text, value in pairs),
            usage=embeddings.usage,
        )

    def _noncommittal(self, explanation: str) -> Evaluation:
        null = self._null(ReasonCode.ABSTAINED, explanation)
        return dataclasses.replace(null, score=0.0, label=NONCOMMITTAL)
