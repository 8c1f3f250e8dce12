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

import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_otel.model import Chunk, Evaluation, ReasonCode
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.metrics.context_precision import average_precision
from rag_otel_evaluators.metrics.inputs import as_chunks
from rag_otel_evaluators.sync import run_sync
from rag_otel_evaluators.text.edit_distance import edit_similarity

SIMILAR_FROM: Final = 0.5
"""Similarity from which a text counts as that of the reference, as in Ragas."""
_NAMED: Final = 5
"""How many missing chunks an explanation names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunks:
    """The texts that are not blank, and the different ids, of the chunks of one side."""

    texts: list[str]
    ids: list[str]


class ContextOverlap(ABC):
    """The base of the four metrics: an `Evaluator` with further arguments, which a data set gives as columns."""

    judge_name = "overlap"
    version = "1"
    name: str

    async def evaluate(
        self,
        *,
        question: str | None = None,
        chunks: Sequence[Chunk | str],
        response: str = "",
        reference: str | None = None,
        chunk_ids: Sequence[str] | None = None,
        reference_chunks: Sequence[str] | None = None,
        reference_chunk_ids: Sequence[str] | None = None,
    ) -> Evaluation:
        """Scores one retrieval. Question, response and reference answer are ignored.

        `chunk_ids`: the ids of the retrieved chunks. None: those that the chunks have. `reference_chunks` and
        `reference_chunk_ids`: texts and ids of the known good chunks. The score is None with the reason `no_context`
        (nothing was retrieved) or `no_reference`.
        """
        started = time.perf_counter()
        found = as_chunks(chunks)
        if chunk_ids is None:
            chunk_ids = [chunk.id for chunk, given in zip(found, chunks, strict=True) if _has_id(chunk, given)]
        result = await self._compare(
            _chunks([chunk.text for chunk in found], chunk_ids),
            _chunks(reference_chunks or (), reference_chunk_ids or ()),
        )
        return replace(
            result,
            evaluator=type(self).__qualname__,
            version=self.version,
            judge=self.judge_name,
            duration_s=time.perf_counter() - started,
        )

    def evaluate_sync(
        self,
        *,
        question: str | None = None,
        chunks: Sequence[Chunk | str],
        response: str = "",
        reference: str | None = None,
        chunk_ids: Sequence[str] | None = None,
        reference_chunks: Sequence[str] | None = None,
        reference_chunk_ids: Sequence[str] | None = None,
    ) -> Evaluation:
        """Like `evaluate`, but blocks until the result is available."""
        return run_sync(
            self.evaluate(
                chunks=chunks,
                chunk_ids=chunk_ids,
                reference_chunks=reference_chunks,
                reference_chunk_ids=reference_chunk_ids,
            )
        )

    @abstractmethod
    async def _compare(self, retrieved: _Chunks, reference: _Chunks) -> Evaluation: ...

    def _null(self, retrieved: bool, reference: bool) -> Evaluation | None:
        """The result if there is nothing to compare. None if there is."""
        if not reference:
            explanation = "There is no chunk of the reference to compare with."
            return Evaluation(name=self.name, reason_code=ReasonCode.NO_REFERENCE, explanation=explanation)
        if not retrieved:
            explanation = "Nothing was retrieved that could be compared."
            return Evaluation(name=self.name, reason_code=ReasonCode.NO_CONTEXT, explanation=explanation)
        return None

    def _recall(self, good: Sequence[str], missed: Sequence[str]) -> Evaluation:
        found = len(good) - len(missed)
        named = f" Missing: {', '.join(repr(each[:80]) for each in missed[:_NAMED])}." if missed else ""
        explanation = f"{found} of {len(good)} chunks of the reference were retrieved.{named}"
        return Evaluation(name=self.name, score=found / len(good), explanation=explanation)

    def _nothing_found(self, good: Sequence[str]) -> Evaluation:
        """The recall if nothing was retrieved: 0, as in `context_recall`."""
        return replace(self._recall(good, good), reason_code=ReasonCode.NO_CONTEXT)


class IdContextPrecision(ContextOverlap):
    """The share of the retrieved ids that are in the reference."""

    name = "id_based_context_precision"
    needs = ("chunk_ids", "reference_chunk_ids")

    async def _compare(self, retrieved: _Chunks, reference: _Chunks) -> Evaluation:
        if null := self._null(bool(retrieved.ids), bool(reference.ids)):
            return null
        known = len(set(retrieved.ids) & set(reference.ids))
        explanation = f"{known} of {len(retrieved.ids)} retrieved ids are in the reference."
        return Evaluation(name=self.name, score=known / len(retrieved.ids), explanation=explanation)


class IdContextRecall(ContextOverlap):
    """The share of the ids of the reference that were retrieved. 0 with the reason `no_context` if nothing was."""

    name = "id_based_context_recall"
    needs = ("chunk_ids", "reference_chunk_ids")

    async def _compare(self, retrieved: _Chunks, reference: _Chunks) -> Evaluation:
        if null := self._null(True, bool(reference.ids)):
            return null
        known = set(retrieved.ids)
        missed = [each for each in reference.ids if each not in known]
        return self._recall(reference.ids, missed) if known else self._nothing_found(reference.ids)


class TextContextPrecision(ContextOverlap):
    """Average precision of the retrieved chunks. A chunk is useful if it resembles any chunk of the reference.

    `chunk_scores` of the result are 1 for a useful chunk and 0 for another. Blank chunks are left out.
    """

    name = "non_llm_context_precision_with_reference"
    needs = ("chunks", "reference_chunks")

    def __init__(self, *, threshold: float = SIMILAR_FROM) -> None:
        """`threshold`: similarity in 0..1 from which a chunk is useful."""
        self.threshold = threshold

    async def _compare(self, retrieved: _Chunks, reference: _Chunks) -> Evaluation:
        if null := self._null(bool(retrieved.texts), bool(reference.texts)):
            return null
        best = await _best_similarities(retrieved.texts, reference.texts)
        useful = [similarity >= self.threshold for similarity in best]
        explanation = f"{sum(useful)} of {len(useful)} chunks resemble a chunk of the reference."
        return Evaluation(
            name=self.name,
            score=average_precision(useful),
            explanation=explanation,
            chunk_scores=tuple(map(float, useful)),
        )


class TextContextRecall(ContextOverlap):
    """The share of the chunks of the reference that resemble a retrieved chunk. 0 with the reason `no_context` if
    nothing was retrieved."""

    name = "non_llm_context_recall"
    needs = ("chunks", "reference_chunks")

    def __init__(self, *, threshold: float = SIMILAR_FROM) -> None:
        """`threshold`: similarity in 0..1 above which a chunk of the reference was found."""
        self.threshold = threshold

    async def _compare(self, retrieved: _Chunks, reference: _Chunks) -> Evaluation:
        if null := self._null(True, bool(reference.texts)):
            return null
        if not retrieved.texts:
            return self._nothing_found(reference.texts)
        best = await _best_similarities(reference.texts, retrieved.texts)
        missed = [text for text, similarity in zip(reference.texts, best, strict=True) if similarity <= self.threshold]
        return self._recall(reference.texts, missed)


def _has_id(chunk: Chunk, given: Chunk | str) -> bool:
    return chunk.has_id and not isinstance(given, str)


def _chunks(texts: Iterable[str], ids: Iterable[object]) -> _Chunks:
    return _Chunks(texts=[text for text in texts if text.strip()], ids=list(dict.fromkeys(map(str, ids))))


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
