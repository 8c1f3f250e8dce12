"""DSPy with OpenInference: its retrievers are often plain functions without a span.

The retrieved passages are then found in the input of a module: `{"context": [...], "question": ...}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.reading.documents import Document, documents_in
from rag_otel_collectors.conventions.reading.retrieval import Passages, source, text_problem, to_chunks
from rag_otel_collectors.conventions.reading.tree import SpanTree
from rag_otel_collectors.conventions.reading.values import parse_object

_SCOPE: Final = "openinference.instrumentation.dspy"
_INPUTS: Final = ("context", "contexts", "passages", "documents")


def has_context(scope: str, attributes: Mapping[str, Any]) -> bool:
    """True for a DSPy module that was called with passages. Searches the text of its input, without parsing."""
    if not scope.startswith(_SCOPE):
        return False
    inputs = attributes.get(semconv.INPUT_VALUE)
    return isinstance(inputs, str) and any(f'"{name}":' in inputs for name in _INPUTS)


def context_inputs(tree: SpanTree, spans: Sequence[SpanRecord]) -> Passages:
    """Returns the passages in the input of the last module that has a context. Modules nested in it are ignored,
    because they repeat its input."""
    contexts = {span.span_id: found for span in spans if (found := _context(span)) is not None}
    outermost = [
        (span, found)
        for span in spans
        if (found := contexts.get(span.span_id)) is not None
        and not any(above.span_id in contexts for above in tree.ancestors(span))
    ]
    if not outermost:
        return Passages(seen=False)
    span, documents = outermost[-1]
    return Passages(
        chunks=to_chunks(documents),
        problem=text_problem(documents, truncated=False),
        sources=(source("chunks", span, semconv.INPUT_VALUE),),
    )


def _context(span: SpanRecord) -> tuple[Document, ...] | None:
    if not span.scope.startswith(_SCOPE):
        return None
    inputs = parse_object(span.attributes.get(semconv.INPUT_VALUE))
    value: Any = next((inputs[name] for name in _INPUTS if name in inputs), None)
    if isinstance(value, str):
        return (Document(text=value),) if value.strip() else ()
    return documents_in(value)
