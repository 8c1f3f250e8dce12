"""Several dialects as one, for the spans of one trace: each span is asked of the first dialect that owns it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeVar

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.reading.dialect import Answer, Dialect, Found, Role
from rag_otel_collectors.conventions.reading.observed_spans import (
    is_answered_call,
    is_returned_documents,
    own_documents,
)
from rag_otel_collectors.conventions.reading.retrieval import Retrieval
from rag_otel_collectors.conventions.reading.tree import SpanTree

T = TypeVar("T")
_UNKNOWN: Final = object()


class MixedDialects:
    """What the spans of one trace say, in whatever dialect: each is read once, however often it is asked."""

    def __init__(self, dialects: Sequence[Dialect]) -> None:
        """`dialects` in the order in which they are asked."""
        self.dialects = tuple(dialects)
        self._known: dict[tuple[str, str], Any] = {}

    def dialect_of(self, span: SpanRecord) -> Dialect | None:
        """The dialect of a span; None for a foreign one, and for our own."""
        return self._once("dialect", span, self._find_dialect)

    def retrieves(self, spans: Sequence[SpanRecord]) -> bool:
        """False where nothing was retrieved at all: there is no need to read on."""
        for span in spans:
            dialect = self.dialect_of(span)
            if dialect is not None and dialect.retrieves(span.scope, span.attributes):
                return True
            if is_returned_documents(span.scope, span.attributes):
                return True
        return False

    def role(self, span: SpanRecord) -> Role | None:
        return self._told("role", span, lambda dialect: dialect.role(span), None)

    def is_call(self, span: SpanRecord) -> bool:
        return self.role(span) is Role.MODEL

    def is_foreign(self, span: SpanRecord) -> bool:
        """True for what belongs to no answer around it: a judge's work, an observed call with an answer of its own."""
        return is_evaluator(span) or is_answered_call(span)

    def entries(self, tree: SpanTree) -> list[SpanRecord]:
        """The topmost spans that a dialect owns, by start; none under an observed call, and no judge's."""
        covered: dict[str, bool] = {}
        return [
            span
            for span in tree.spans
            if self.dialect_of(span) is not None and not self._covered(tree, span, covered) and not is_evaluator(span)
        ]

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        """What `span` retrieved or chose, an observed search function too."""
        if span.scope == semconv.SCOPE:
            return own_documents(span) if is_returned_documents(span.scope, span.attributes) else None
        return self._told("retrieval", span, lambda dialect: dialect.retrieval(span), None)

    def question(self, span: SpanRecord) -> Found | None:
        return self._told("question", span, lambda dialect: dialect.question(span), None)

    def answer(self, span: SpanRecord) -> Answer:
        return self._told("answer", span, lambda dialect: dialect.answer(span), Answer())

    def asked(self, call: SpanRecord) -> Found | None:
        return self._told("asked", call, lambda dialect: dialect.asked(call), None)

    def wrote(self, call: SpanRecord) -> Found | None:
        return self._told("wrote", call, lambda dialect: dialect.wrote(call), None)

    def prompt(self, call: SpanRecord) -> str:
        return self._told("prompt", call, lambda dialect: dialect.prompt(call), "")

    def cut_short(self, call: SpanRecord) -> bool:
        dialect = self.dialect_of(call)
        return dialect is not None and dialect.cut_short(call)

    def is_exact(self, call: SpanRecord) -> bool:
        dialect = self.dialect_of(call)
        return dialect is not None and dialect.questions_are_exact

    def identity(self, name: Literal["session_id", "user_id"], spans: Sequence[SpanRecord]) -> str | None:
        """The first session or user that a dialect knows by a name of its own."""
        for span in spans:
            dialect = self.dialect_of(span)
            found = (
                None if dialect is None else dialect.session_id(span) if name == "session_id" else dialect.user_id(span)
            )
            if found is not None:
                return found
        return None

    def model_name(self, calls: Sequence[SpanRecord]) -> str | None:
        """The model of the last of these calls that names one."""
        for call in reversed(calls):
            dialect = self.dialect_of(call)
            name = None if dialect is None else dialect.model(call)
            if name is not None:
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
            if span.end_ns >= retrieved
            and self.is_call(span)
            and not any(above.span_id in retrieving for above in tree.ancestors(span))
        ]
        return sorted(calls, key=lambda span: span.end_ns)

    def _find_dialect(self, span: SpanRecord) -> Dialect | None:
        if span.scope == semconv.SCOPE:
            return None
        for dialect in self.dialects:
            if dialect.owns(span.scope, span.attributes):
                return dialect
        return None

    def _covered(self, tree: SpanTree, span: SpanRecord, covered: dict[str, bool]) -> bool:
        """True where a span above is owned or observed; `covered` has what is known of spans with those above them."""
        unknown: list[SpanRecord] = []
        below_it = False
        for above in tree.ancestors(span):
            if above.span_id in covered:
                below_it = covered[above.span_id]
                break
            unknown.append(above)
        for above in reversed(unknown):
            below_it = below_it or above.scope == semconv.SCOPE or self.dialect_of(above) is not None
            covered[above.span_id] = below_it
        return below_it

    def _told(self, name: str, span: SpanRecord, ask: Callable[[Dialect], T], otherwise: T) -> T:
        """What the span's dialect says, asked once; `otherwise` where it is nobody's."""
        dialect = self.dialect_of(span)
        return otherwise if dialect is None else self._once(name, span, lambda _: ask(dialect))

    def _once(self, name: str, span: SpanRecord, ask: Callable[[SpanRecord], T]) -> T:
        key = (name, span.span_id)
        value = self._known.get(key, _UNKNOWN)
        if value is _UNKNOWN:
            value = self._known[key] = ask(span)
        return value  # type: ignore[no-any-return]


def is_evaluator(span: SpanRecord) -> bool:
    """True for a judge's own span, whoever made it: what hangs below it is no application traffic."""
    return bool(span.attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR)
