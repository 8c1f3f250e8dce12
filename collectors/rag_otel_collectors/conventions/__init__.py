"""Dialects of spans, one adapter each. A new one is a module with a `Dialect`, and a line in `dialects`.

What dialects share is beside them: the tree of spans, text out of JSON values, chat messages, documents, how several
retrievals become one list of chunks, and how a trace is composed with the reason why it cannot be evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rag_otel.protocols import Convention
from rag_otel_collectors.conventions.genai import GenAi
from rag_otel_collectors.conventions.litellm import LiteLlm
from rag_otel_collectors.conventions.openinference import OpenInference
from rag_otel_collectors.conventions.openlit import OpenLit
from rag_otel_collectors.conventions.pydantic_ai import PydanticAi
from rag_otel_collectors.conventions.rag_otel_spans import RagOtelSpans
from rag_otel_collectors.conventions.reading.dialect import Dialect
from rag_otel_collectors.conventions.reading.trace_reader import DialectConvention
from rag_otel_collectors.conventions.traceloop import Traceloop

__all__ = ["Dialect", "default_conventions", "dialects"]


def dialects(mapping: str | Mapping[str, Any] | None = None) -> tuple[Dialect, ...]:
    """Every dialect, in the order in which they are asked for a span: the most particular first.

    `mapping` adds one for attribute names of your own (`mapping.py`). Raises ConfigurationError where it is wrong.
    """
    own: tuple[Dialect, ...] = ()
    if mapping is not None:
        # Most applications have none, and need not load what reads it.
        from rag_otel_collectors.conventions.mapped import Mapped
        from rag_otel_collectors.conventions.mapping import AttributeMapping

        own = (Mapped(AttributeMapping.load(mapping)),)
    return (*own, OpenInference(), Traceloop(), PydanticAi(), LiteLlm(), OpenLit(), GenAi())


def default_conventions(
    *, mapping: str | Mapping[str, Any] | None = None, recover_chunks: bool = True
) -> tuple[Convention, ...]:
    """Every dialect that can be read, our own spans first: they tell the question and the answer exactly, whatever is
    nested under them.

    `mapping` as in `dialects`. `recover_chunks=False`: texts that are on no retrieval span are not taken from the
    prompt, for those who can fetch them.
    """
    known = dialects(mapping)
    return (
        RagOtelSpans(known, recover_chunks=recover_chunks),
        *(DialectConvention(each, known, recover_chunks=recover_chunks) for each in known),
    )
