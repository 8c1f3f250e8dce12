"""What a dialect says of single spans. How a trace is read out of many is the same for all of them (`reading.py`)."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_otel.model import SpanRecord, UnevaluableReason
from rag_otel_collectors.conventions.reading.retrieval import Passages, Retrieval
from rag_otel_collectors.conventions.reading.tree import SpanTree


class Role(enum.Enum):
    """What a span does in an application."""

    CHAIN = "chain"
    """Calls others: a pipeline, a query engine, a workflow, one step of them."""
    AGENT = "agent"
    TOOL = "tool"
    MODEL = "model"
    """Called a language model that writes text."""
    RETRIEVAL = "retrieval"
    """Retrieves documents, or chooses among them."""
    EMBEDDING = "embedding"
    EVALUATOR = "evaluator"
    """A judge's own span: what hangs below it is no application traffic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A text and the attribute that it was read from."""

    text: str
    attribute: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a span says that it returned."""

    found: Found | None = None
    abandoned: bool = False
    """True where the span tells that its stream was left before the end."""
    streaming: bool = False
    """True where the span holds the stream instead of the text, which others may have."""


class Dialect:
    """The part of a convention that knows the dialect. A new one overrides what its spans can tell.

    Never raises on odd attribute values: what cannot be read is None.
    """

    name: str = ""
    questions_are_exact: bool = False
    """True where `asked` is the question as it was put, never a prompt around it."""

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """See `rag_otel.protocols.Convention.owns`."""
        raise NotImplementedError

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """See `rag_otel.protocols.Convention.retrieves`: True for whatever `retrieval` or `passages_given` reads."""
        raise NotImplementedError

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """See `rag_otel.protocols.KnowsCalls`: True for a span whose role is `MODEL`, as far as a look can tell."""
        return False

    def role(self, span: SpanRecord) -> Role:
        raise NotImplementedError

    def question(self, span: SpanRecord) -> Found | None:
        """What `span` was asked, where it is an entry."""
        return None

    def answer(self, span: SpanRecord) -> Answer:
        """What `span` answered, where it is an entry."""
        return Answer()

    def asked(self, call: SpanRecord) -> Found | None:
        """The user's last message in a call of a model."""
        return None

    def wrote(self, call: SpanRecord) -> Found | None:
        """What the model wrote in this call."""
        return None

    def cut_short(self, call: SpanRecord) -> bool:
        """True where the model's stream was closed before its end."""
        return False

    def prompt(self, call: SpanRecord) -> str:
        """All text that the model was told in this call, in one piece; empty where it is not on the span."""
        return ""

    def model(self, call: SpanRecord) -> str | None:
        """The model's name."""
        return None

    def session_id(self, span: SpanRecord) -> str | None:
        """The session, where it stands under a name that no other dialect has."""
        return None

    def user_id(self, span: SpanRecord) -> str | None:
        """The user, likewise."""
        return None

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        """What `span` retrieved or chose; None for a span of another kind, and for a choice that failed."""
        return None

    def passages_given(self, tree: SpanTree, spans: Sequence[SpanRecord]) -> Passages:
        """Passages that a step was called with, asked where no retrieval was seen."""
        return Passages(seen=False)

    def contexts(self, span: SpanRecord) -> Iterator[Found]:
        """Texts that are the retrieved documents joined, and nothing else: a prompt's variable, a tool's result."""
        return iter(())

    def missing(self, span: SpanRecord) -> UnevaluableReason | None:
        """Why a text is not on `span`, where that can be told: limits dropped it or cut it through."""
        return UnevaluableReason.TRUNCATED if span.dropped_attributes > 0 else None
