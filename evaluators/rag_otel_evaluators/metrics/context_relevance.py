"""Context relevance: can the question be answered from the retrieved chunks?

    Context Relevance = mean over two judges of rating / 2, rating in {0, 1, 2}

Two prompts with different wording rate each chunk and all chunks together. One valid rating is enough. Source: "Context
Relevance" of NVIDIA's metrics in RAGAS, docs.ragas.io. Differences: if one judge fails, the rating of the other counts,
and a rating is a structured number, not searched for in a text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pydantic import BaseModel

from rag_otel.errors import RagOtelError, RetryableError
from rag_otel.model import Evaluation, ReasonCode
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, StructuredModel
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.metric import Case, with_problems
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.numbered_items import match

MAX_RATING: Final = 2
TOKENS_PER_CHUNK: Final = 20
TOKENS_BESIDES: Final = 100

Rating = Literal[0, 1, 2]


class ChunkRating(BaseModel):
    """How far one chunk alone answers the question."""

    chunk: int
    rating: Rating

    @property
    def index(self) -> int:
        return self.chunk

    @property
    def decision(self) -> int:
        return self.rating


class Ratings(BaseModel):
    """What a judge returns: the chunks one by one, then all together."""

    chunks: list[ChunkRating] = []
    rating: Rating


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opinion:
    """The result of one judge: its ratings, or the reason why there are none."""

    rating: int | None
    chunk_ratings: tuple[int | None, ...] = ()
    problems: tuple[str, ...] = ()
    error: RagOtelError | None = None


class ContextRelevance(LlmMetric):
    """Asks both judges in parallel. Each is asked once more if its rating cannot be read.

    `chunk_scores` are rating / 2 of each chunk alone, averaged over the judges. If nothing was retrieved, the score is
    0 with the reason `no_context`. If the context only repeats the question, the score is 0. If only one judge gave a
    rating, or a chunk has no rating, the score has the reason `incomplete`. The score is None with the reason
    `no_question`, `parse_error` (neither judge gave a rating).
    """

    needs = ("question", "chunks")
    most_calls = 2 * CALLS_A_STEP

    default_name = "context_relevance"
    prompt_names = ("context_relevance_first", "context_relevance_second")

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        if missing := self._missing(case, "question"):
            return missing
        nothing = tuple(0.0 for _ in case.chunks)
        if not case.has_context:
            return replace(self._null(ReasonCode.NO_CONTEXT, "Nothing was retrieved.", nothing), score=0.0)
        if "\n".join(case.chunks).strip() == (case.question or "").strip():
            explanation = "The retrieved text only repeats the question."
            return Evaluation(name=self.name, score=0.0, explanation=explanation, chunk_scores=nothing)
        opinions = await asyncio.gather(*(self._opinion(model, prompt, case) for prompt in self.prompts.values()))
        return self._combine(opinions, len(case.chunks))

    async def _opinion(self, model: StructuredModel, prompt: Prompt, case: Case) -> _Opinion:
        """Asks one judge. An error becomes part of its result, so that it does not affect the other judge."""
        messages = prompt.messages({"question": case.question, "chunks": case.chunks})
        budget = TOKENS_PER_CHUNK * len(case.chunks) + TOKENS_BESIDES
        try:
            completion = await model.complete(messages, Ratings, max_output_tokens=budget)
        except RagOtelError as error:
            return _Opinion(rating=None, problems=(str(error),), error=error)
        if completion.value is None:
            return _Opinion(rating=None, problems=("no rating could be read", *completion.problems))
        matched = match(completion.value.chunks, len(case.chunks))
        ratings = [matched.by_index.get(index) for index in range(len(case.chunks))]
        return _Opinion(
            rating=completion.value.rating,
            chunk_ratings=tuple(None if one is None else one.rating for one in ratings),
            problems=(*completion.problems, *matched.problems),
        )

    def _combine(self, opinions: Sequence[_Opinion], chunk_count: int) -> Evaluation:
        problems = [problem for opinion in opinions for problem in opinion.problems]
        valid = [opinion for opinion in opinions if opinion.rating is not None]
        ratings = [opinion.rating for opinion in opinions if opinion.rating is not None]
        if not valid:
            errors = [opinion.error for opinion in opinions if opinion.error is not None]
            if errors:
                raise next((error for error in errors if isinstance(error, RetryableError)), errors[0])
            return self._null(ReasonCode.PARSE_ERROR, with_problems("Neither judge gave a rating.", problems))
        by_chunk = zip(*(opinion.chunk_ratings for opinion in valid), strict=True)
        listed = " and ".join(str(rating) for rating in ratings)
        explanation = f"Rated {listed} of {MAX_RATING}" + (
            "." if len(valid) == len(opinions) else " by only one judge."
        )
        complete = len(valid) == len(opinions) and all(None not in opinion.chunk_ratings for opinion in valid)
        return Evaluation(
            name=self.name,
            score=mean_rating(ratings),
            reason_code=None if complete else ReasonCode.INCOMPLETE,
            explanation=with_problems(explanation, problems),
            chunk_scores=tuple(mean_rating(given) for given in by_chunk) if chunk_count else (),
        )


def mean_rating(ratings: Sequence[int | None]) -> float | None:
    """Returns the mean of the known ratings, in 0..1. None if all are unknown."""
    known = [rating for rating in ratings if rating is not None]
    return sum(known) / (MAX_RATING * len(known)) if known else None
