"""Reads the earlier turns of a conversation: from the model call that wrote the answer, or from an observed call.

Only what the model was given counts. So the messages of the call are read, not other traces of the session.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rag_otel import semconv
from rag_otel.evaluation.conversation import (
    ConversationContext,
    Turn,
    earlier_turns,
    named_conversation,
    turns_before,
    turns_of,
)
from rag_otel.model import RagTrace, SpanRecord, StatusCode
from rag_otel_collectors.conventions.reading.mixed_dialects import MixedDialects
from rag_otel_collectors.conventions.reading.values import parse


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
