"""An embedding model in this process, through sentence-transformers: no key, no server. Needs the extra `local`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from rag_otel.errors import ConfigurationError, PermanentError
from rag_otel.model import Usage
from rag_otel_evaluators.judges.local_thread import ModelThread
from rag_otel_evaluators.llm.embedding import Embeddings

try:
    from sentence_transformers import SentenceTransformer
except ImportError as error:
    raise ConfigurationError(
        f"an embedding model in this process needs sentence-transformers ({error}); "
        "install it with: pip install 'rag-otel[local]'"
    ) from None


def local_embedder(
    model: str | Path, *, revision: str | None = None, device: str | None = None, prefix: str = ""
) -> LocalEmbedder:
    """Load an embedding model from a folder or the Hugging Face hub, its pooling as the checkpoint says (else mean).

    `prefix` is put before every text, for models that want one (`query: ` for E5). Raises ConfigurationError where
    the extra is not installed or the model cannot be loaded.
    """
    try:
        network = SentenceTransformer(str(model), revision=revision, device=device)
    except (OSError, ValueError, ImportError) as error:
        raise ConfigurationError(f"{model} cannot be loaded as an embedding model: {error}") from error
    return LocalEmbedder(network, name=f"local/{Path(model).name}", prefix=prefix)


class LocalEmbedder:
    """An `Embedder` over a model in this process."""

    def __init__(self, network: SentenceTransformer, *, name: str, prefix: str = "") -> None:
        self._network = network
        self._name = name
        self._prefix = prefix
        self._thread = ModelThread("embedder")

    @property
    def name(self) -> str:
        return self._name

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed`. A text longer than the model reads is cut at its end, as the model's makers do."""
        return await self._thread.run(lambda cancelled: self._embed(texts, cancelled))

    def _embed(self, texts: Sequence[str], cancelled: threading.Event) -> Embeddings:
        if cancelled.is_set() or not texts:
            return Embeddings(vectors=[])
        try:
            vectors = self._network.encode(
                [self._prefix + text for text in texts], show_progress_bar=False, convert_to_numpy=True
            )
        except RuntimeError as error:
            raise PermanentError(f"{self._name}: {error}") from error
        return Embeddings(vectors=vectors.tolist(), usage=Usage(cost_usd=0.0, calls=1))
