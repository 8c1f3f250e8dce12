"""What `rag-otel inspect --explain` says: which adapter read what from where, and why it cannot be evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel.model import RagTrace, SpanRecord, UnevaluableReason
from rag_otel.protocols import Convention
from rag_otel_collectors.stored.assembly import AssembledTrace

WHY: Final[Mapping[UnevaluableReason, str]] = {
    UnevaluableReason.NO_QUESTION: "no span says what was asked; is the content of messages captured?",
    UnevaluableReason.NO_CHUNKS: "no retrieval was seen: instrument the retriever, use @observe, or map its attributes",
    UnevaluableReason.NO_CHUNK_TEXT: (
        "the retrieval is there without its texts: let the instrumentation capture content, or, where documents have "
        "ids alone, give a chunk_resolver"
    ),
    UnevaluableReason.NO_RESPONSE: "no span has the answer's text",
    UnevaluableReason.INCOMPLETE: "the stream was left before its end",
    UnevaluableReason.ERROR: "the application failed",
    UnevaluableReason.REDACTED: "a privacy switch hid the text, and no other field is read in its place",
    UnevaluableReason.TRUNCATED: (
        "limits dropped or cut text: raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT or OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"
    ),
}
_PARTS: Final = ("question", "chunks", "response")
_SHOWN: Final = 100


def explanation(trace: RagTrace) -> dict[str, Any]:
    """Adapter, target, where each part was read, and the verdict, as texts."""
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
    """The row of a trace in which nothing was retrieved: whose spans it has, so that one can tell what was missed."""
    owned = Counter(_owner(span, conventions) or "nobody" for span in trace.spans)
    unknown = sorted({span.scope for span in trace.spans if _owner(span, conventions) is None and span.scope})
    spans = ", ".join(f"{count} of {name}" for name, count in owned.most_common())
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
    """A row with its explanation, for people."""
    explain = row["explain"]
    verdict = "evaluable" if explain["evaluable"] else f"not evaluable, {explain['why_not']}"
    adapter = explain["adapter"] or "no adapter"
    lines = [
        f"trace {row['trace_id']}  {explain['target'] or '-'} ({row['span_id'] or '-'})",
        f"  {adapter}: {verdict}",
    ]
    for part in _PARTS:
        value = str(len(row["chunks"])) if part == "chunks" else row[part]
        lines.append(f"  {part:<9} {_short(value)}")
        lines += [f"            from {place}" for place in explain[part]]
    return "\n".join(lines) + "\n"


def _owner(span: SpanRecord, conventions: Sequence[Convention]) -> str | None:
    return next((each.name for each in conventions if each.owns(span.scope, span.attributes)), None)


def _short(text: str | None) -> str:
    if text is None:
        return "-"
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
