"""Semantic similarity: how near is the response to a reference answer?

    Semantic Similarity = max(0, cosine of E(response) and E(reference))

where E is an embedding model. Example: the vectors (3, 4) and (4, 3) have the cosine (12 + 12) / (5 * 5) = 0.96.

Without an embedding model the texts are compared by shared words and pieces of words. That measures wording, not
meaning. The result says so: its judge begins with `lexical`, and so does the explanation. Such scores cannot be
compared with those of an embedding model.

Source: Ragas, "Semantic Similarity", docs.ragas.io. Difference: a negative cosine scores 0.
"""

from __future__ import annotations

from rag_otel.model import Evaluation, ReasonCode
from rag_otel_evaluators.llm.embedding import Embedder, HashedNgramEmbedder, cosine_similarity
from rag_otel_evaluators.metrics.metric import Case, Metric


class SemanticSimilarity(Metric):
    """Makes one embedding call for two texts.

    The score is None with the reason `no_response`, `no_reference`, or `embedding_error` (the cosine is not defined).
    """

    needs = ("response", "reference")
    version = "1"

    def __init__(self, *, embedder: Embedder | None = None, name: str = "semantic_similarity") -> None:
        """`embedder`: an embedding model, for example `local_embedder(...)`. None: the lexical comparison."""
        super().__init__(name)
        self.embedder = HashedNgramEmbedder() if embedder is None else embedder

    @property
    def judge_name(self) -> str:
        """The name of the embedding model, or `lexical/...`."""
        return embedder_name(self.embedder)

    async def _score(self, case: Case) -> Evaluation:
        if missing := self._missing(case, "response", "reference"):
            return missing
        assert case.response is not None
        assert case.reference is not None
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
