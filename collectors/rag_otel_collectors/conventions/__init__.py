"""Dialects of spans, one adapter each. A new one is a module with a `Convention`, and a line in `default_conventions`.

What dialects share is beside them: the tree of spans, text out of JSON values, chat messages, documents, how several
retrievals become one list of chunks, and how a trace is composed with the reason why it cannot be evaluated.
"""

from __future__ import annotations

from rag_otel.protocols import Convention
from rag_otel_collectors.conventions.openinference import OpenInference
from rag_otel_collectors.conventions.rag_otel_spans import RagOtelSpans

__all__ = ["OpenInference", "RagOtelSpans", "default_conventions"]


def default_conventions() -> tuple[Convention, ...]:
    """Every dialect that can be read, in the order in which they are asked: our own spans first, since they tell
    the question and the answer exactly, whatever is nested under them."""
    openinference = OpenInference()
    return (RagOtelSpans(retrievals=(openinference,)), openinference)
