"""Semantic similarity: how near is the response to a reference answer?

    Semantic Similarity = max(0, cosine of E(response) and E(reference))

where E is an embedding model. Example: the vectors (3, 4) and (4, 3) have the cosine (12 + 12) / (5 * 5) = 0.96.

Without an embedding model the texts are compared by shared words and pieces of words. That measures wording, not
meaning. The result says so: its judge begins with `lexical`, and so does the explanation. Such scores cannot be
compared with those of an embedding model.

Source: Ragas, "Semantic Similarity", docs.ragas.io. Difference: a negative cosine scores 0.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from rag_otel.errors import RagOtelError
from rag_otel.evaluation.evaluate import failed_evaluation
from rag_otel.model import Chunk, Evaluation, ReasonCode
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.llm.embedding import Embedder, HashedNgramEmbedder, cosine_similarity
from rag_otel_evaluators.metrics.inputs import Case, make_case
from rag_otel_evaluators.sync import SyncTwin


class SemanticSimilarity(SyncTwin):
    """Makes one embedding call for two texts.

    The score is None with the reason `no_response`, `no_reference`, or `embedding_error` (the cosine is not defined).
    """

    needs = ("response", "reference")
    version = "1"

    def __init__(self, *, embedder: Embedder | None = None, name: str = "semantic_similarity") -> None:
        """`embedder`: an embedding model, for example `local_embedder(...)`. None: the lexical comparison."""
        self.name = check_metric_name(name)
        self.embedder = HashedNgramEmbedder() if embedder is None else embedder

    @property
    def judge_name(self) -> str:
        """The name of the embedding model, or `lexical/...`."""
        return embedder_name(self.embedder)

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        """Compares one response with its reference. Question and chunks are ignored."""
        started = time.perf_counter()
        try:
            result = await self._compare(make_case(question, (), response, reference))
        except RagOtelError as error:
            result = failed_evaluation(self.name, error)
        return replace(
            result,
            evaluator=type(self).__qualname__,
            version=self.version,
            judge=self.judge_name,
            duration_s=time.perf_counter() - started,
        )

    async def _compare(self, case: Case) -> Evaluation:
        if case.response is None:
            return Evaluation(name=self.name, reason_code=ReasonCode.NO_RESPONSE, explanation="There is no response.")
        if case.reference is None:
            return Evaluation(name=self.name, reason_code=ReasonCode.NO_REFERENCE, explanation="There is no reference.")
        embeddings = await self.embedder.embed([case.response, case.reference])
        cosine = cosine_similarity(*embeddings.vectors) if len(embeddings.vectors) == 2 else None
        if cosine is None:
            explanation = "The vectors of the two texts have no cosine."
            reason = ReasonCode.EMBEDDING_ERROR
            return Evaluation(name=self.name, reason_code=reason, explanation=explanation, usage=embeddings.usage)
        kind = "Lexical: shared wording, not meaning. " if is_lexical(self.embedder) else ""
        explanation = f"{kind}The cosine with the reference is {cosine:.3f}."
        return Evaluation(name=self.name, score=max(0.0, cosine), explanation=explanation, usage=embeddings.usage)


def is_lexical(embedder: Embedder) -> bool:
    """True for the embedder that compares wording, not meaning."""
    return isinstance(embedder, HashedNgramEmbedder)


def embedder_name(embedder: Embedder) -> str:
    """The name of an embedder for the results: `lexical/...` if it compares wording."""
    return f"lexical/{embedder.name}" if is_lexical(embedder) else embedder.name
