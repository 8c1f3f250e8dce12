"""Context precision and recall without a judge: the retrieved chunks are compared with known good ones (the reference).

By ids, where `R` are the different ids that were retrieved and `G` the different ids of the reference:

    id_based_context_precision = |R and G| / |R|          id_based_context_recall = |R and G| / |G|

Example: retrieved a, b, c, d; reference b, d, e. Precision is 2/4 = 0.5, recall is 2/3 = 0.66667.

By text, with the similarity of two texts = 1 - Levenshtein distance / length of the longer one:

    non_llm_context_precision_with_reference = average precision over the retrieved chunks in order of rank; a chunk is
        useful if its similarity to any chunk of the reference is at least 0.5
    non_llm_context_recall = chunks of the reference whose similarity to any retrieved chunk is above 0.5
        / chunks of the reference

Example: retrieved "xyz", "kitten", "sitting"; reference "kitten", "abcdef". The similarities to the reference are 0,
1 and 0.571 (3 changes of 7 characters), so the second and the third chunk are useful: (1/2 + 2/3) / 2 = 0.58333.
Of the reference, "kitten" was found and "abcdef" was not: recall 0.5.

Source: Ragas, "Context Precision" and "Context Recall", docs.ragas.io; names and thresholds are the same. Where Ragas
gives NaN, the score is None with a reason.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Final

from rag_otel.model import Evaluation, ReasonCode
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.metrics.context_precision import average_precision
from rag_otel_evaluators.metrics.metric import Case, Metric
from rag_otel_evaluators.text.edit_distance import edit_similarity

SIMILAR_FROM: Final = 0.5
"""Similarity from which a text counts as that of the reference, as in Ragas."""
_NAMED: Final = 5
"""How many missing chunks an explanation names."""


class ContextOverlap(Metric):
    """The base of the four metrics. Question, response and reference answer are ignored.

    The score is None with the reason `no_reference`, or `no_context` (nothing was retrieved).
    """

    judge_name = "overlap"
    version = "1"
    default_name: str
    empty_scores_zero = False
    """Whether a retrieval of nothing scores 0, as in `context_recall`, or has no score."""

    def __init__(self) -> None:
        super().__init__(self.default_name)

    async def _score(self, case: Case) -> Evaluation:
        found, good = self._sides(case)
        if not good:
            return self._null(ReasonCode.NO_REFERENCE, "There is no chunk of the reference to compare with.")
        if found:
            return await self._compare(found, good)
        if self.empty_scores_zero:
            return replace(self._recall(good, good), reason_code=ReasonCode.NO_CONTEXT)
        return self._null(ReasonCode.NO_CONTEXT, "Nothing was retrieved that could be compared.")

    @abstractmethod
    def _sides(self, case: Case) -> tuple[list[str], list[str]]:
        """What is compared of the retrieved chunks, and of those of the reference."""

    @abstractmethod
    async def _compare(self, found: Sequence[str], good: Sequence[str]) -> Evaluation: ...

    def _recall(self, good: Sequence[str], missed: Sequence[str]) -> Evaluation:
        count = len(good) - len(missed)
        named = f" Missing: {', '.join(repr(each[:80]) for each in missed[:_NAMED])}." if missed else ""
        explanation = f"{count} of {len(good)} chunks of the reference were retrieved.{named}"
        return Evaluation(name=self.name, score=count / len(good), explanation=explanation)


class _ById(ContextOverlap):
    needs = ("chunk_ids", "reference_chunk_ids")

    def _sides(self, case: Case) -> tuple[list[str], list[str]]:
        """The different ids."""
        return list(dict.fromkeys(map(str, case.own_ids))), list(dict.fromkeys(map(str, case.reference_chunk_ids)))


class IdContextPrecision(_ById):
    """The share of the retrieved ids that are in the reference."""

    default_name = "id_based_context_precision"

    async def _compare(self, found: Sequence[str], good: Sequence[str]) -> Evaluation:
        known = len(set(found) & set(good))
        explanation = f"{known} of {len(found)} retrieved ids are in the reference."
        return Evaluation(name=self.name, score=known / len(found), explanation=explanation)


class IdContextRecall(_ById):
    """The share of the ids of the reference that were retrieved. 0 with the reason `no_context` if nothing was."""

    default_name = "id_based_context_recall"
    empty_scores_zero = True

    async def _compare(self, found: Sequence[str], good: Sequence[str]) -> Evaluation:
        known = set(found)
        return self._recall(good, [each for each in good if each not in known])


class _ByText(ContextOverlap):
    needs = ("chunks", "reference_chunks")

    def __init__(self, *, threshold: float = SIMILAR_FROM) -> None:
        """`threshold`: similarity in 0..1 from which a retrieved chunk is useful, or above which one of the reference
        was found."""
        super().__init__()
        self.threshold = threshold

    def _sides(self, case: Case) -> tuple[list[str], list[str]]:
        """The texts that are not blank."""
        return [text for text in case.chunks if text.strip()], [text for text in case.reference_chunks if text.strip()]


class TextContextPrecision(_ByText):
    """Average precision of the retrieved chunks. A chunk is useful if it resembles any chunk of the reference.

    `chunk_scores` of the result are 1 for a useful chunk and 0 for another. Blank chunks are left out.
    """

    default_name = "non_llm_context_precision_with_reference"

    async def _compare(self, found: Sequence[str], good: Sequence[str]) -> Evaluation:
        useful = [similarity >= self.threshold for similarity in await _best_similarities(found, good)]
        return Evaluation(
            name=self.name,
            score=average_precision(useful),
            explanation=f"{sum(useful)} of {len(useful)} chunks resemble a chunk of the reference.",
            chunk_scores=tuple(map(float, useful)),
        )


class TextContextRecall(_ByText):
    """The share of the chunks of the reference that resemble a retrieved chunk. 0 with the reason `no_context` if
    nothing was retrieved."""

    default_name = "non_llm_context_recall"
    empty_scores_zero = True

    async def _compare(self, found: Sequence[str], good: Sequence[str]) -> Evaluation:
        best = await _best_similarities(good, found)
        return self._recall(
            good, [text for text, similarity in zip(good, best, strict=True) if similarity <= self.threshold]
        )


async def _best_similarities(texts: Sequence[str], others: Sequence[str]) -> list[float]:
    """For each text, its similarity to the most similar one of `others`."""

    def compared() -> Generator[None, None, list[float]]:
        best = []
        for text in texts:
            similarities = []
            for other in others:
                similarities.append(edit_similarity(text, other))
                yield
            best.append(max(similarities))
        return best

    return await cooperatively(compared())
