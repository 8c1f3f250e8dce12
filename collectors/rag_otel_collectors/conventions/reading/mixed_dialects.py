"""Reads the spans of a trace that mixes several dialects. The first dialect that owns a span reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeVar

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.reading.dialect import Dialect, Found, RecordedAnswer, Role
from rag_otel_collectors.conventions.reading.documents import flattened_documents
from rag_otel_collectors.conventions.reading.messages import ChatMessage
from rag_otel_collectors.conventions.reading.retrieval import Retrieval, text_problem
from rag_otel_collectors.conventions.reading.tree import SpanTree

T = TypeVar("T")
_UNKNOWN: Final = object()


class MixedDialects:
    """Reads the spans of one trace, each with its dialect. Every value is read once and then kept."""

    def __init__(self, dialects: Sequence[Dialect]) -> None:
        """`dialects` in order of precedence."""
        self.dialects = tuple(dialects)
        self._known: dict[tuple[str, str], Any] = {}

    def dialect_of(self, span: SpanRecord) -> Dialect | None:
        """The dialect of a span. None for an unknown span and for a span of `@observe`."""
        return self._once("dialect", span, self._find_dialect)

    def retrieves(self, spans: Sequence[SpanRecord]) -> bool:
        """True if any span is a retrieval. If not, the trace contains no RAG trace."""
        for span in spans:
            dialect = self.dialect_of(span)
            if dialect is not None and dialect.retrieves(span.scope, span.attributes):
                return True
            if is_returned_documents(span.scope, span.attributes):
                return True
        return False

    def role(self, span: SpanRecord) -> Role | None:
        return self._read("role", span, lambda dialect: dialect.role(span), None)

    def is_call(self, span: SpanRecord) -> bool:
        return self.role(span) is Role.MODEL

    def is_foreign(self, span: SpanRecord) -> bool:
        """True for a span that does not belong to the question around it: a judge's span, or an observed call that has
        its own answer."""
        return is_evaluator(span) or is_answered_call(span)

    def entries(self, tree: SpanTree) -> list[SpanRecord]:
        """Returns the topmost spans that a dialect owns, in order of start. Without spans below an observed call and
        without spans of judges."""
        covered: dict[str, bool] = {}
        return [
            span
            for span in tree.spans
            if self.dialect_of(span) is not None and not self._covered(tree, span, covered) and not is_evaluator(span)
        ]

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        """The documents that `span` retrieved or selected. Also for an observed function that returned documents."""
        if span.scope == semconv.SCOPE:
            return own_documents(span) if is_returned_documents(span.scope, span.attributes) else None
        return self._read("retrieval", span, lambda dialect: dialect.retrieval(span), None)

    def question(self, span: SpanRecord) -> Found | None:
        return self._read("question", span, lambda dialect: dialect.question(span), None)

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        return self._read("answer", span, lambda dialect: dialect.answer(span), RecordedAnswer())

    def asked(self, call: SpanRecord) -> Found | None:
        return self._read("asked", call, lambda dialect: dialect.asked(call), None)

    def wrote(self, call: SpanRecord) -> Found | None:
        return self._read("wrote", call, lambda dialect: dialect.wrote(call), None)

    def prompt(self, call: SpanRecord) -> str:
        return self._read("prompt", call, lambda dialect: dialect.prompt(call), "")

    def messages(self, call: SpanRecord) -> list[ChatMessage]:
        return self._read("messages", call, lambda dialect: dialect.messages(call), [])

    def cut_short(self, call: SpanRecord) -> bool:
        dialect = self.dialect_of(call)
        return dialect is not None and dialect.cut_short(call)

    def is_exact(self, call: SpanRecord) -> bool:
        dialect = self.dialect_of(call)
        return dialect is not None and dialect.questions_are_exact

    def identity(self, name: Literal["session_id", "user_id"], spans: Sequence[SpanRecord]) -> str | None:
        """The first session id or user id that a dialect reads from its specific attributes."""
        for span in spans:
            dialect = self.dialect_of(span)
            found = (
                None if dialect is None else dialect.session_id(span) if name == "session_id" else dialect.user_id(span)
            )
            if found is not None:
                return found
        return None

    def model_name(self, calls: Sequence[SpanRecord]) -> str | None:
        """The model name of the last of these calls that has one."""
        for call in reversed(calls):
            dialect = self.dialect_of(call)
            name = None if dialect is None else dialect.model(call)
            if name is not None:
                return name
        return None

    def answering_calls(
        self, tree: SpanTree, spans: Sequence[SpanRecord], retrievals: Sequence[Retrieval]
    ) -> list[SpanRecord]:
        """Returns the model calls that may have written the answer, in order of end, including failed calls. Without
        calls inside a retrieval and calls that ended before the last retrieval."""
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
        """True if an ancestor of `span` is owned by a dialect or observed. `covered` caches, by span id, whether a span
        or an ancestor of it is."""
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

    def _read(self, name: str, span: SpanRecord, ask: Callable[[Dialect], T], otherwise: T) -> T:
        """The value that the span's dialect reads, cached. `otherwise` if no dialect owns the span."""
        dialect = self.dialect_of(span)
        return otherwise if dialect is None else self._once(name, span, lambda _: ask(dialect))

    def _once(self, name: str, span: SpanRecord, ask: Callable[[SpanRecord], T]) -> T:
        key = (name, span.span_id)
        value = self._known.get(key, _UNKNOWN)
        if value is _UNKNOWN:
            value = self._known[key] = ask(span)
        return value  # type: ignore[no-any-return]


def is_evaluator(span: SpanRecord) -> bool:
    """True for a span of a judge (kind EVALUATOR). The spans below it are not application traffic."""
    return bool(span.attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR)


_FIRST_DOCUMENT: Final = f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"


def is_answered_call(span: SpanRecord) -> bool:
    """True for an observed call with an answer. Retrievals below it belong to this call, not to a call around it."""
    return span.scope == semconv.SCOPE and semconv.OUTPUT_VALUE in span.attributes


def is_returned_documents(scope: str, attributes: Mapping[str, Any]) -> bool:
    """True for an observed call that returned documents and no answer. It is a retrieval of the call around it."""
    return scope == semconv.SCOPE and _FIRST_DOCUMENT in attributes and semconv.OUTPUT_VALUE not in attributes


def own_documents(span: SpanRecord) -> Retrieval:
    """The documents on the span of an observed call."""
    flat = flattened_documents(span.attributes, semconv.DOCUMENTS)
    truncated = flat.gap or span.dropped_attributes > 0 or semconv.OMITTED_DOCUMENTS in span.attributes
    return Retrieval(
        span=span,
        documents=flat.documents,
        problem=text_problem(flat.documents, truncated=truncated),
        query=plain_text(span, semconv.INPUT_VALUE),
        query_attribute=semconv.INPUT_VALUE,
        attribute=f"{semconv.DOCUMENTS}.*",
    )


def plain_text(span: SpanRecord, key: str) -> str | None:
    """The text of an attribute of an observed span. It is never parsed as JSON."""
    value = span.attributes.get(key)
    return value if isinstance(value, str) and value.strip() else None
