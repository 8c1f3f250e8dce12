"""An embedding model behind the same cache, breaker, limits and retries as a language model."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from rag_otel_evaluators.llm.embedding import Embeddings
from rag_otel_evaluators.llm.structured import Message, StructuredModel


class Vectors(BaseModel):
    """One vector per text, in the texts' order."""

    vectors: list[list[float]]


class ModelEmbedder:
    """An `Embedder` over a model whose transport takes texts for messages and answers with `Vectors`."""

    def __init__(self, model: StructuredModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed`. No vectors at all where the answer is not one vector per text."""
        answer = await self._model.complete([Message(role="user", content=text) for text in texts], Vectors)
        vectors = answer.value.vectors if answer.value is not None else []
        return Embeddings(vectors=vectors if len(vectors) == len(texts) else [], usage=answer.usage)
