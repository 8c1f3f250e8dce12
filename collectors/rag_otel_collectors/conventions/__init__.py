"""The supported dialects (span conventions of instrumentations), one module each.

To add a dialect, write a module with a `Dialect` and add it to `dialects`. The package `reading` holds the code that
all dialects share: the tree of spans, texts in JSON values, chat messages, documents, joining several retrievals into
one list of chunks, and building a RAG trace with the reason why it cannot be evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rag_otel.evaluation.conversation import ConversationContext
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
    """Returns all dialects, the most specific first. A span belongs to the first dialect that owns it.

    `mapping` adds a dialect for custom attribute names (`mapping.py`). Raises ConfigurationError if it is wrong.
    """
    own: tuple[Dialect, ...] = ()
    if mapping is not None:
        # Imported here, because most applications have no mapping.
        from rag_otel_collectors.conventions.mapped import Mapped
        from rag_otel_collectors.conventions.mapping import AttributeMapping

        own = (Mapped(AttributeMapping.load(mapping)),)
    return (*own, OpenInference(), Traceloop(), PydanticAi(), LiteLlm(), OpenLit(), GenAi())


def default_conventions(
    *,
    mapping: str | Mapping[str, Any] | None = None,
    recover_chunks: bool = True,
    conversation: ConversationContext = "none",
) -> tuple[Convention, ...]:
    """Returns a convention for each dialect. The spans of `@observe` come first, because they hold the exact question
    and answer.

    `mapping` as in `dialects`. With `recover_chunks=False`, texts of chunks are not read from the prompt if the
    retrieval span lacks them. Use it if a chunk resolver fetches the texts. `conversation`: which earlier messages
    count as context (`rag_otel.evaluation.conversation`).
    """
    known = dialects(mapping)
    return (
        RagOtelSpans(known, recover_chunks=recover_chunks, conversation=conversation),
        *(DialectConvention(each, known, recover_chunks=recover_chunks, conversation=conversation) for each in known),
    )
