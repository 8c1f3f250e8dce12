"""`rag-otel demo`: a small RAG application over real data, and Phoenix opened on its scores."""

from rag_otel.cli.demo.command import configure, run

__all__ = ["configure", "run"]
