"""Reads the texts of documents from the prompt if the retrieval span lacks them.

The official GenAI conventions record ids and scores of retrieved documents, but no texts. The texts are in the prompt.
They are read from there only in two cases in which each text can be assigned to its document with certainty. Otherwise
the trace has the reason `no_chunk_text`.

- A prompt variable or a tool's result consists only of the joined documents, and a separator splits it into exactly as
  many pieces as there are documents, in their order.
- The prompt contains each document in a tag with its id: `<document id="d1"> ... </document>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rag_otel import semconv
from rag_otel.model import Chunk, Source, SpanRecord, UnevaluableReason
from rag_otel_collectors.conventions.reading.documents import documents_in
from rag_otel_collectors.conventions.reading.mixed_dialects import MixedDialects
from rag_otel_collectors.conventions.reading.retrieval import Passages, source
from rag_otel_collectors.conventions.reading.values import parse

_SEPARATORS: Final = (r"\n\s*-{3,}\s*\n", r"\n\s*\n", r"\n")
"""Separators between joined documents, the least ambiguous first."""


def recover(passages: Passages, spans: Sequence[SpanRecord], mixture: MixedDialects) -> Passages:
    """Returns `passages` with their texts if they can be recovered with certainty, else unchanged."""
    lost = [chunk for chunk in passages.chunks if not chunk.text]
    if passages.problem is not UnevaluableReason.NO_CHUNK_TEXT or len(lost) != len(passages.chunks) or not lost:
        return passages
    for span in spans:
        dialect = mixture.dialect_of(span)
        for context in () if dialect is None else dialect.contexts(span):
            texts = _split(context.text, lost)
            if texts is not None:
                return _with(passages, texts, source("chunks", span, context.attribute))
    for span in spans:
        if mixture.is_call(span):
            texts = _tagged(mixture.prompt(span), passages.chunks)
            if texts is not None:
                return _with(passages, texts, source("chunks", span, "prompt"))
    return passages


def _split(context: str, chunks: Sequence[Chunk]) -> list[str] | None:
    """Splits the joined text into the texts of these chunks. None if the number of pieces differs."""
    if context == semconv.REDACTED or not context.strip():
        return None
    count = len(chunks)
    listed = documents_in(parse(context))
    if listed is not None:
        named = {document.id: document.text for document in listed if document.id is not None}
        texts = [
            named.get(chunk.id) if named else document.text for chunk, document in zip(chunks, listed, strict=False)
        ]
        whole = [text for text in texts if text]
        return whole if len(whole) == len(listed) == count else None
    if count == 1:
        return [context]
    for separator in _SEPARATORS:
        pieces = [piece for piece in re.split(separator, context.strip()) if piece.strip()]
        if len(pieces) >= count:
            return pieces if len(pieces) == count else None
    return None


def _tagged(prompt: str, chunks: Iterable[Chunk]) -> list[str] | None:
    texts = []
    for chunk in chunks:
        tag = rf"<(\w+)\b[^<>]*\bid=(?P<q>[\"']?){re.escape(chunk.id)}(?P=q)(?=[\s>])[^<>]*>(.*?)</\1>"
        found = re.findall(tag, prompt, re.S) if chunk.has_id else []
        bodies = {body.strip() for _, _, body in found}
        if len(bodies) != 1:
            return None
        texts.append(bodies.pop())
    return texts if all(texts) else None


def _with(passages: Passages, texts: Sequence[str], where: Source) -> Passages:
    chunks = tuple(replace(chunk, text=text) for chunk, text in zip(passages.chunks, texts, strict=True))
    return replace(passages, chunks=chunks, problem=None, sources=(*passages.sources, where))
