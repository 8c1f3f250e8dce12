"""The output of `rag-otel inspect --explain`: adapter, spans and attributes, and why a trace is not evaluable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel.model import RagTrace, SpanRecord, UnevaluableReason
from rag_otel.protocols import Convention
from rag_otel.rendering.text_cutting import one_line
from rag_otel_collectors.stored.assembly import AssembledTrace

WHY: Final[Mapping[UnevaluableReason, str]] = {
    UnevaluableReason.NO_QUESTION: "no span has the question; check that the instrumentation captures message content",
    UnevaluableReason.NO_CHUNKS: "no retrieval found: instrument the retriever, use @observe, or map its attributes",
    UnevaluableReason.NO_CHUNK_TEXT: (
        "the retrieval has no texts: let the instrumentation capture content, or, if documents have only ids, set "
        "chunk_resolver"
    ),
    UnevaluableReason.NO_RESPONSE: (
        "no span holds the answer; a streamed answer is on the model's span: instrument the model too, and give a "
        "LlamaIndex model of your own its callbacks (@llm_completion_callback)"
    ),
    UnevaluableReason.INCOMPLETE: "the stream was closed before its end",
    UnevaluableReason.ERROR: "the application failed",
    UnevaluableReason.REDACTED: "a privacy setting hid the text; no other field is used instead",
    UnevaluableReason.TRUNCATED: (
        "attribute limits dropped or cut text: raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT or "
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"
    ),
}
_PARTS: Final = ("question", "chunks", "response")
_SHOWN: Final = 100


def explanation(trace: RagTrace) -> dict[str, Any]:
    """Returns the adapter, the target, the source of each part, and whether the trace is evaluable."""
    places: dict[str, list[str]] = {part: [] for part in _PARTS}
    for source in trace.sources:
        places[source.part].append(f"{source.attribute} of {source.span_name!r} ({source.span.span_id})")
    reason = trace.unevaluable_reason
    return {
        "adapter": trace.convention,
        "target": trace.route,
        **places,
        "evaluable": reason is None,
        "why_not": None if reason is None else f"{reason}: {WHY[reason]}",
    }


def no_rag_trace(trace: AssembledTrace, conventions: Sequence[Convention]) -> dict[str, Any]:
    """Returns the row of a trace without a RAG trace. It counts the spans of each adapter and lists unknown scopes."""
    owned = Counter(_ownership(span, conventions) for span in trace.spans)
    unknown = sorted({span.scope for span in trace.spans if _owner(span, conventions) is None and span.scope})
    spans = ", ".join(f"{count} {ownership}" for ownership, count in owned.most_common())
    scopes = f"; not read: {', '.join(unknown)}" if unknown else ""
    return {
        "trace_id": trace.trace_id,
        "span_id": None,
        "convention": None,
        "question": None,
        "chunks": [],
        "response": None,
        "model": None,
        "session_id": None,
        "unevaluable_reason": UnevaluableReason.NO_CHUNKS,
        "explain": {
            "adapter": None,
            "target": None,
            **{part: [] for part in _PARTS},
            "evaluable": False,
            "why_not": f"{UnevaluableReason.NO_CHUNKS}: {WHY[UnevaluableReason.NO_CHUNKS]} (spans: {spans}{scopes})",
        },
    }


def as_text(row: Mapping[str, Any]) -> str:
    """Returns a row with its explanation as lines of text."""
    explain = row["explain"]
    verdict = "evaluable" if explain["evaluable"] else f"not evaluable, {explain['why_not']}"
    adapter = explain["adapter"] or "no adapter"
    lines = [
        f"trace {row['trace_id']}  {explain['target'] or '-'} ({row['span_id'] or '-'})",
        f"  {adapter}: {verdict}",
    ]
    for part in _PARTS:
        value = str(len(row["chunks"])) if part == "chunks" else row[part]
        lines.append(f"  {part:<9} {'-' if value is None else one_line(value, _SHOWN)}")
        lines += [f"            from {place}" for place in explain[part]]
    return "\n".join(lines) + "\n"


def _owner(span: SpanRecord, conventions: Sequence[Convention]) -> str | None:
    return next((each.name for each in conventions if each.owns(span.scope, span.attributes)), None)


def _ownership(span: SpanRecord, conventions: Sequence[Convention]) -> str:
    owner = _owner(span, conventions)
    return "not recognised" if owner is None else f"of {owner}"
