"""Dialects of spans, one adapter each. A new one is a module with a `Dialect`, and a line in `dialects`.

What dialects share is beside them: the tree of spans, text out of JSON values, chat messages, documents, how several
retrievals become one list of chunks, and how a trace is composed with the reason why it cannot be evaluated.
"""

from __future__ import annotations

from rag_otel.protocols import Convention
from rag_otel_collectors.conventions.dialect import Dialect
from rag_otel_collectors.conventions.genai import GenAi
from rag_otel_collectors.conventions.litellm import LiteLlm
from rag_otel_collectors.conventions.mixture import Mixture
from rag_otel_collectors.conventions.openinference import OpenInference
from rag_otel_collectors.conventions.openlit import OpenLit
from rag_otel_collectors.conventions.pydantic_ai import PydanticAi
from rag_otel_collectors.conventions.rag_otel_spans import RagOtelSpans
from rag_otel_collectors.conventions.reading import DialectConvention
from rag_otel_collectors.conventions.traceloop import Traceloop

__all__ = ["Dialect", "default_conventions", "dialects"]


def dialects() -> tuple[Dialect, ...]:
    """Every dialect, in the order in which they are asked for a span: the most particular first."""
    return (OpenInference(), Traceloop(), PydanticAi(), LiteLlm(), OpenLit(), GenAi())


def default_conventions(*, recover_chunks: bool = True) -> tuple[Convention, ...]:
    """Every dialect that can be read, our own spans first: they tell the question and the answer exactly, whatever is
    nested under them.

    `recover_chunks=False`: texts that are on no retrieval span are not taken from the prompt, for those who can fetch
    them.
    """
    mixture = Mixture(dialects())
    return (
        RagOtelSpans(mixture, recover_chunks=recover_chunks),
        *(DialectConvention(each, mixture, recover_chunks=recover_chunks) for each in mixture.dialects),
    )
