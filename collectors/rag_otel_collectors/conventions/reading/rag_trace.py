"""Builds a RagTrace from the parts that a convention found, with the main reason why it cannot be evaluated."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from rag_otel import semconv
from rag_otel.evaluation.conversation import (
    ConversationContext,
    Turn,
    earlier_turns,
    named_conversation,
    turns_before,
    turns_of,
)
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import RagTrace, Source, SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.mixed_dialects import MixedDialects
from rag_otel_collectors.conventions.reading.retrieval import Passages, reference
from rag_otel_collectors.conventions.reading.values import as_id, parse, parse_object

_ORDER: Final = (
    UnevaluableReason.ERROR,
    UnevaluableReason.INCOMPLETE,
    UnevaluableReason.REDACTED,
    UnevaluableReason.TRUNCATED,
    UnevaluableReason.NO_CHUNKS,
    UnevaluableReason.NO_CHUNK_TEXT,
    UnevaluableReason.NO_QUESTION,
    UnevaluableReason.NO_RESPONSE,
)
"""Order of precedence: a failure or hidden content explains missing parts, so it comes first."""

_TRACELOOP: Final = "traceloop.association.properties."
_SESSION: Final = (
    semconv.SESSION_ID,
    semconv.GEN_AI_CONVERSATION_ID,
    *(_TRACELOOP + name for name in ("session_id", "thread_id", "conversation_id")),
)
_USER: Final = (semconv.USER_ID, _TRACELOOP + "user_id", "enduser.id", "gen_ai.request.user", "llm.user")
"""Attribute names, the most specific first."""
_SESSION_KEYS: Final = ("session_id", "thread_id", "conversation_id")
_USER_KEYS: Final = ("user_id",)
"""Names in the JSON of the `metadata` attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrReason:
    """A text that was read, or the reason why it is missing."""

    text: str | None = None
    problem: UnevaluableReason | None = None
    source: Source | None = None

    @classmethod
    def of(cls, text: str | None, missing: UnevaluableReason, source: Source | None = None) -> TextOrReason:
        """The problem is `missing` if there is no text, and REDACTED if a privacy setting replaced it."""
        if text == semconv.REDACTED:
            return cls(problem=UnevaluableReason.REDACTED, source=source)
        return cls(text=text, source=source) if text else cls(problem=missing)


def compose(
    *,
    convention: str,
    entry: SpanRecord,
    below: Sequence[SpanRecord],
    question: TextOrReason,
    passages: Passages,
    response: TextOrReason,
    model: str | None,
    tags: Mapping[str, str] | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
) -> RagTrace:
    """Builds the RAG trace whose scores belong to `entry`. `below` are the spans below it, in order of start."""
    spans = [entry, *below]
    problems = {question.problem, passages.problem, response.problem}
    if entry.status is StatusCode.ERROR:
        problems.add(UnevaluableReason.ERROR)
    if not passages.seen:
        problems.add(UnevaluableReason.NO_CHUNKS)
    sources = (question.source, *passages.sources, response.source)
    return RagTrace(
        target=reference(entry),
        chunk_span=passages.span,
        question=question.text,
        chunks=passages.chunks,
        response=response.text,
        model=model,
        response_id=_response_id(spans, response.source),
        session_id=session_id or _identity(spans, _SESSION, _SESSION_KEYS),
        user_id=user_id or _identity(spans, _USER, _USER_KEYS),
        service=as_id(entry.resource.get(semconv.SERVICE_NAME)),
        route=entry.name or None,
        tags=tags or {},
        start_ns=entry.start_ns,
        duration_ns=max(0, entry.end_ns - entry.start_ns),
        convention=convention,
        sources=tuple(each for each in sources if each is not None),
        unevaluable_reason=next((reason for reason in _ORDER if reason in problems), None),
    )


def _response_id(spans: Sequence[SpanRecord], source: Source | None) -> str | None:
    """The provider's response id on the span of the response, else on the last span that has one."""
    ids = {span.span_id: text for span in spans if (text := as_id(span.attributes.get(semconv.GEN_AI_RESPONSE_ID)))}
    if source is not None and source.span.span_id in ids:
        return ids[source.span.span_id]
    return list(ids.values())[-1] if ids else None


def _identity(spans: Sequence[SpanRecord], keys: Sequence[str], names: Sequence[str]) -> str | None:
    """The id in the first of these attributes that any span has, else in the `metadata` JSON of the first span that has
    it there."""
    for key in keys:
        for span in spans:
            direct = as_id(span.attributes.get(key))
            if direct is not None:
                return direct
    for span in spans:
        if semconv.METADATA in span.attributes:
            metadata = parse_object(span.attributes[semconv.METADATA])
            found = next((text for name in names if (text := as_id(metadata.get(name))) is not None), None)
            if found is not None:
                return found
    return None


def with_earlier_turns(
    trace: RagTrace, calls: Sequence[SpanRecord], mixture: MixedDialects, counts: ConversationContext
) -> RagTrace:
    """The trace with the earlier messages of the last of these model calls that records its messages."""
    if counts == "none":
        return trace
    in_order = sorted(calls, key=lambda call: call.end_ns)
    recorded = (mixture.messages(call) for call in reversed(in_order) if call.status is not StatusCode.ERROR)
    messages = next((each for each in recorded if each), [])
    given = [Turn(each.role, each.text) for each in messages if each.text and _is_shown(each.text)]
    conversation = earlier_turns(turns_before(given, trace.question), counts=counts, chunks=trace.chunks)
    return dataclasses.replace(trace, conversation=conversation)


def with_conversation_of(entry: SpanRecord, trace: RagTrace, counts: ConversationContext) -> RagTrace:
    """The trace with the memory and the history that an observed call recorded on its span."""
    conversation = named_conversation(
        trace.conversation,
        memory=[text for text in _texts(entry, semconv.MEMORY) if _is_shown(text)],
        history=[turn for turn in turns_of(_texts(entry, semconv.HISTORY)) if _is_shown(turn.text)],
        question=trace.question,
        chunks=trace.chunks,
        counts=counts,
    )
    return dataclasses.replace(trace, conversation=conversation)


def _texts(span: SpanRecord, key: str) -> list[str]:
    value = parse(span.attributes.get(key))
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _is_shown(text: str) -> bool:
    return text != semconv.REDACTED
