"""A RagTrace out of what a convention found, with the one reason why it cannot be evaluated, if there is any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import RagTrace, SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.retrieval import Passages, reference
from rag_otel_collectors.conventions.values import parse_object

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
"""Of several reasons the one that explains the others: what failed or was hidden before what is missing."""

_SESSION_KEYS: Final = ("session_id", "thread_id", "conversation_id")
_USER_KEYS: Final = ("user_id",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text, or the reason why there is none."""

    text: str | None = None
    problem: UnevaluableReason | None = None

    @classmethod
    def of(cls, text: str | None, missing: UnevaluableReason) -> Reading:
        """The text unless it is missing, or stands for one that a privacy switch took out."""
        if text == semconv.REDACTED:
            return cls(problem=UnevaluableReason.REDACTED)
        return cls(text=text) if text else cls(problem=missing)


def compose(
    *,
    convention: str,
    entry: SpanRecord,
    below: Sequence[SpanRecord],
    question: Reading,
    passages: Passages,
    response: Reading,
    model: str | None,
    tags: Mapping[str, str] | None = None,
) -> RagTrace:
    """The RAG trace whose scores belong to `entry`; `below` are the spans under it, by start."""
    spans = [entry, *below]
    problems = {question.problem, passages.problem, response.problem}
    if entry.status is StatusCode.ERROR:
        problems.add(UnevaluableReason.ERROR)
    if not passages.seen:
        problems.add(UnevaluableReason.NO_CHUNKS)
    return RagTrace(
        target=reference(entry),
        chunk_span=passages.span,
        question=question.text,
        chunks=passages.chunks,
        response=response.text,
        model=model,
        session_id=_identity(spans, semconv.SESSION_ID, _SESSION_KEYS),
        user_id=_identity(spans, semconv.USER_ID, _USER_KEYS),
        service=_string(entry.resource.get(semconv.SERVICE_NAME)),
        route=entry.name or None,
        tags=tags or {},
        start_ns=entry.start_ns,
        duration_ns=max(0, entry.end_ns - entry.start_ns),
        convention=convention,
        unevaluable_reason=next((reason for reason in _ORDER if reason in problems), None),
    )


def missing_text(span: SpanRecord, otherwise: UnevaluableReason) -> UnevaluableReason:
    """Why a text is not on `span`: the attribute limits may have dropped it."""
    return UnevaluableReason.TRUNCATED if span.dropped_attributes > 0 else otherwise


def _identity(spans: Iterable[SpanRecord], key: str, names: Sequence[str]) -> str | None:
    """An id from the attribute, else from the `metadata` JSON, of the first span that has one."""
    for span in spans:
        direct = _string(span.attributes.get(key))
        if direct is not None:
            return direct
    for span in spans:
        if semconv.METADATA in span.attributes:
            metadata = parse_object(span.attributes[semconv.METADATA])
            found = next((text for name in names if (text := _string(metadata.get(name))) is not None), None)
            if found is not None:
                return found
    return None


def _string(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None
