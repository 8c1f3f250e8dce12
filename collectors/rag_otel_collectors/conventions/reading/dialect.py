"""The interface of a dialect: what it reads from single spans. `trace_reader.py` combines the spans of a trace."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import SpanRecord, UnevaluableReason
from rag_otel_collectors.conventions.reading.messages import ChatMessage
from rag_otel_collectors.conventions.reading.retrieval import Passages, Retrieval
from rag_otel_collectors.conventions.reading.tree import SpanTree


class Role(enum.Enum):
    """What a span does in an application."""

    CHAIN = "chain"
    """Calls other steps: a pipeline, a query engine, a workflow, or a step of one."""
    AGENT = "agent"
    TOOL = "tool"
    MODEL = "model"
    """Calls a language model that generates text."""
    RETRIEVAL = "retrieval"
    """Retrieves documents, or selects among them."""
    EMBEDDING = "embedding"
    DECISION = "decision"
    """Asks a decision model: typed questions, answered with probabilities. Its output is no text for a user."""
    EVALUATOR = "evaluator"
    """A span of a judge. The spans below it are not application traffic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A text and the attribute from which it was read."""

    text: str
    attribute: str

    @classmethod
    def of(cls, text: str | None, attribute: str) -> Found | None:
        """None if there is no text."""
        return cls(text=text, attribute=attribute) if text else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """The output that a span records."""

    found: Found | None = None
    abandoned: bool = False
    """True if the span records that its stream was closed before its end."""
    streaming: bool = False
    """True if the span holds a stream object instead of the text. Another span may have the text."""


class Dialect:
    """The base class of dialects. A dialect overrides the methods for which its spans have data.

    The methods never raise because of unexpected attribute values. They return None if a value cannot be read.
    """

    name: str = ""
    questions_are_exact: bool = False
    """True if `asked` always returns the question itself, never a prompt that contains it."""

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """See `rag_otel.protocols.Convention.owns`."""
        raise NotImplementedError

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """See `rag_otel.protocols.Convention.retrieves`. True for every span that `retrieval` or `passages_given`
        reads."""
        raise NotImplementedError

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """See `rag_otel.protocols.KnowsCalls`. True for a span with the role `MODEL`, as far as key look-ups can
        tell."""
        return False

    def role(self, span: SpanRecord) -> Role:
        raise NotImplementedError

    def question(self, span: SpanRecord) -> Found | None:
        """The question that `span` received, if it is an entry."""
        return None

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        """The answer that `span` returned, if it is an entry."""
        return RecordedAnswer()

    def asked(self, call: SpanRecord) -> Found | None:
        """The last user message in a model call."""
        return None

    def wrote(self, call: SpanRecord) -> Found | None:
        """The text that the model generated in this call."""
        return None

    def cut_short(self, call: SpanRecord) -> bool:
        """True if the model's stream was closed before its end."""
        return False

    def messages(self, call: SpanRecord) -> list[ChatMessage]:
        """All messages that a model call was given, in order. Empty if the span does not record them one by one."""
        return []

    def prompt(self, call: SpanRecord) -> str:
        """All input text of this model call, joined. Empty if the span does not record it."""
        return ""

    def model(self, call: SpanRecord) -> str | None:
        """The model's name."""
        return None

    def session_id(self, span: SpanRecord) -> str | None:
        """The session id, if the dialect records it under an attribute name that is not common to all dialects."""
        return None

    def user_id(self, span: SpanRecord) -> str | None:
        """The user id, under the same condition."""
        return None

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        """The documents that `span` retrieved or selected. None for other spans, and for a selection that failed."""
        return None

    def passages_given(self, tree: SpanTree, spans: Sequence[SpanRecord]) -> Passages:
        """The passages in the input of a step. Called if the trace has no retrieval span."""
        return Passages(seen=False)

    def contexts(self, span: SpanRecord) -> Iterator[Found]:
        """Texts that consist only of the joined documents: a prompt variable, or a tool's result."""
        return iter(())

    def missing(self, span: SpanRecord) -> UnevaluableReason | None:
        """Why a text is missing on `span`, if that is known: attribute limits dropped it or cut it."""
        return UnevaluableReason.TRUNCATED if span.dropped_attributes > 0 else None
