"""Several dialects as one: each span is asked of the first dialect that owns it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.dialect import Dialect, Found, Role
from rag_otel_collectors.conventions.observed import is_answered_call, is_returned_documents, own_documents
from rag_otel_collectors.conventions.retrieval import Retrieval
from rag_otel_collectors.conventions.tree import SpanTree


class Mixture:
    """The dialects that can be read, in the order in which they are asked."""

    def __init__(self, dialects: Sequence[Dialect]) -> None:
        self.dialects = tuple(dialects)

    def dialect_of(self, span: SpanRecord) -> Dialect | None:
        """The dialect of a span; None for a foreign one, and for our own."""
        if span.scope == semconv.SCOPE:
            return None
        return next((each for each in self.dialects if each.owns(span.scope, span.attributes)), None)

    def role(self, span: SpanRecord) -> Role | None:
        dialect = self.dialect_of(span)
        return None if dialect is None else dialect.role(span)

    def is_call(self, span: SpanRecord) -> bool:
        return self.role(span) is Role.MODEL

    def is_evaluator(self, span: SpanRecord) -> bool:
        """True for a judge's own span, whoever made it."""
        return bool(span.attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR)

    def is_foreign(self, span: SpanRecord) -> bool:
        """True for what belongs to no answer around it: a judge's work, an observed call with an answer of its own."""
        return self.is_evaluator(span) or is_answered_call(span)

    def is_entry(self, tree: SpanTree, span: SpanRecord) -> bool:
        """True for the topmost span that a dialect owns, unless an observed call is above it."""
        if self.dialect_of(span) is None or self.is_evaluator(span):
            return False
        return not any(
            above.scope == semconv.SCOPE or self.dialect_of(above) is not None for above in tree.ancestors(span)
        )

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        """What `span` retrieved or chose, an observed search function too."""
        if span.scope == semconv.SCOPE:
            return own_documents(span) if is_returned_documents(span.scope, span.attributes) else None
        dialect = self.dialect_of(span)
        return None if dialect is None else dialect.retrieval(span)

    def asked(self, call: SpanRecord) -> Found | None:
        dialect = self.dialect_of(call)
        return None if dialect is None else dialect.asked(call)

    def wrote(self, call: SpanRecord) -> Found | None:
        dialect = self.dialect_of(call)
        return None if dialect is None else dialect.wrote(call)

    def cut_short(self, call: SpanRecord) -> bool:
        dialect = self.dialect_of(call)
        return dialect is not None and dialect.cut_short(call)

    def prompt(self, call: SpanRecord) -> str:
        dialect = self.dialect_of(call)
        return "" if dialect is None else dialect.prompt(call)

    def is_exact(self, call: SpanRecord) -> bool:
        dialect = self.dialect_of(call)
        return dialect is not None and dialect.questions_are_exact

    def told(self, name: Literal["session_id", "user_id"], spans: Sequence[SpanRecord]) -> str | None:
        """The first session or user that a dialect knows by a name of its own."""
        for span in spans:
            dialect = self.dialect_of(span)
            if dialect is not None and (found := getattr(dialect, name)(span)) is not None:
                return str(found)
        return None

    def model_name(self, calls: Sequence[SpanRecord]) -> str | None:
        """The model of the last of these calls that names one."""
        for call in reversed(calls):
            dialect = self.dialect_of(call)
            name = None if dialect is None else dialect.model(call)
            if name not in (None, "", "unknown"):
                return name
        return None

    def answering_calls(
        self, tree: SpanTree, spans: Sequence[SpanRecord], retrievals: Sequence[Retrieval]
    ) -> list[SpanRecord]:
        """The calls that may have written the answer, failed ones too, by end: not in a retrieval, not over before
        it."""
        retrieving = {each.span.span_id for each in retrievals}
        retrieved = max((each.span.end_ns for each in retrievals), default=0)
        calls = [
            span
            for span in spans
            if self.is_call(span)
            and span.end_ns >= retrieved
            and not any(above.span_id in retrieving for above in tree.ancestors(span))
        ]
        return sorted(calls, key=lambda span: span.end_ns)
