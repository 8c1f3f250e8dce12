"""Reads RAG traces from the spans of one trace id, which may mix dialects.

An entry is the topmost span that a dialect owns. Its input is the question and its output is the answer. If the output
is a stream, or an object without text, the answer is the text of the last model call that ended after the retrieval.
`conversations.py` joins a retrieval with a model call if no entry contains both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.evaluation.conversation import ConversationContext
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import RagTrace, SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.chunk_recovery import recover
from rag_otel_collectors.conventions.reading.conversations import Part, conversations, inner_parts, turns
from rag_otel_collectors.conventions.reading.dialect import Dialect, Role
from rag_otel_collectors.conventions.reading.mixed_dialects import MixedDialects
from rag_otel_collectors.conventions.reading.rag_trace import TextOrReason, compose, with_earlier_turns
from rag_otel_collectors.conventions.reading.retrieval import Passages, Retrieval, find_retrievals, source, unite
from rag_otel_collectors.conventions.reading.tree import SpanTree

_NEVER_ANSWERS: Final = (Role.RETRIEVAL, Role.EMBEDDING, Role.DECISION)
_AGENTS: Final = (Role.AGENT, Role.TOOL)
_LETTERS: Final = re.compile(r"\w")


class DialectConvention:
    """A `Convention` that reads the entries of one dialect. The spans below an entry may be of any dialect."""

    def __init__(
        self,
        dialect: Dialect,
        dialects: Sequence[Dialect],
        *,
        recover_chunks: bool = True,
        conversation: ConversationContext = "none",
    ) -> None:
        """`dialects` are all dialects, including `dialect`, in order of precedence. With `recover_chunks`, texts that
        the retrieval span lacks are read from the prompt (see `chunk_recovery`). `conversation`: which earlier messages
        of the answering model call count as context."""
        self._dialect = dialect
        self._dialects = dialects
        self._recover = recover_chunks
        self._conversation = conversation

    @property
    def name(self) -> str:
        return self._dialect.name

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope != semconv.SCOPE and self._dialect.owns(scope, attributes)

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope != semconv.SCOPE and self._dialect.retrieves(scope, attributes)

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """See `rag_otel.protocols.KnowsCalls`."""
        return scope != semconv.SCOPE and self._dialect.calls(scope, attributes)

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        if not any(self.owns(span.scope, span.attributes) for span in spans):
            return []
        mixture = MixedDialects(self._dialects)
        if not mixture.retrieves(spans):
            return []
        tree = SpanTree(spans)
        reader = _Reader(tree, mixture, self._recover, self._conversation)
        parts = [part for entry in mixture.entries(tree) for part in reader.parts(entry)]
        traces = (reader.read(part) for part in turns(tree, parts, mixture) if part.dialect is self._dialect)
        return [trace for trace in traces if trace is not None]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the parts of one trace."""

    tree: SpanTree
    mixture: MixedDialects
    recover: bool
    conversation: ConversationContext

    def parts(self, entry: SpanRecord) -> list[Part]:
        """Returns the entry with the spans below it, or several parts if the entry only groups several questions."""
        whole = self._part(entry)
        if whole is None:
            return []
        mixture = self.mixture
        if mixture.role(entry) in _NEVER_ANSWERS or mixture.question(entry) or mixture.answer(entry).found:
            return [whole]
        inner = (self._part(span) for span in inner_parts(self.tree, mixture, entry))
        return conversations([part for part in inner if part is not None], whole, mixture)

    def _part(self, entry: SpanRecord) -> Part | None:
        dialect = self.mixture.dialect_of(entry)
        if dialect is None:
            return None
        below = self.tree.descendants(entry, prune=self.mixture.is_foreign)
        spans = (entry, *below)
        retrievals = tuple(find_retrievals(self.tree, spans, self.mixture.retrieval))
        calls = tuple(self.mixture.answering_calls(self.tree, spans, retrievals))
        return Part(
            entry=entry,
            dialect=dialect,
            below=tuple(below),
            retrievals=retrievals,
            calls=calls,
            answers=_may_answer(dialect.role(entry), calls) and self.mixture.answer(entry).found is not None,
        )

    def read(self, part: Part) -> RagTrace | None:
        """The RAG trace of a part. None if it has no retrieval."""
        spans = (part.entry, *part.below)
        passages = self._passages(part, spans)
        if not passages.seen:
            return None
        if self.recover:
            passages = recover(passages, spans, self.mixture)
        trace = compose(
            convention=part.dialect.name,
            entry=part.entry,
            below=part.below,
            question=self._question(part, spans, passages),
            passages=passages,
            response=self._response(part, passages),
            model=self.mixture.model_name((part.entry, *part.calls)),
            session_id=self.mixture.identity("session_id", spans),
            user_id=self.mixture.identity("user_id", spans),
        )
        return with_earlier_turns(trace, part.calls, self.mixture, self.conversation)

    def _passages(self, part: Part, spans: Sequence[SpanRecord]) -> Passages:
        passages = unite(part.retrievals)
        for dialect in () if passages.seen else self.mixture.dialects:
            passages = dialect.passages_given(self.tree, spans)
            if passages.seen:
                break
        return passages

    def _question(self, part: Part, spans: Sequence[SpanRecord], passages: Passages) -> TextOrReason:
        """The question: the entry's input, else the input of an agent's model call before the first retrieval, else the
        last user message of the answering model call, else the search query. Never a prompt that contains the
        passages."""
        entry, mixture = part.entry, self.mixture
        searched = next((each for each in part.retrievals if each.query), None)
        found = None if part.is_prompt else mixture.question(entry)
        asked_by = entry
        if found is None and any(mixture.role(span) in _AGENTS for span in spans):
            start = min((each.span.start_ns for each in part.retrievals), default=0)
            asked = ((mixture.asked(span), span) for span in spans if mixture.is_call(span) and span.start_ns < start)
            found, asked_by = next(((text, span) for text, span in asked if text is not None), (None, entry))
        if found is None and part.calls:
            asked_by = part.calls[-1]
            found = mixture.asked(asked_by)
            if (
                found is not None
                and not mixture.is_exact(asked_by)
                and not _is_question(found.text, searched, passages)
            ):
                found = None
        if found is not None:
            where = source("question", asked_by, found.attribute)
            return TextOrReason.of(found.text, UnevaluableReason.NO_QUESTION, where)
        if searched is not None:
            where = source("question", searched.span, searched.query_attribute)
            return TextOrReason.of(searched.query, UnevaluableReason.NO_QUESTION, where)
        return TextOrReason(problem=part.dialect.missing(entry) or UnevaluableReason.NO_QUESTION)

    def _response(self, part: Part, passages: Passages) -> TextOrReason:
        """The answer: the entry's output, else the text of the last model call that may have written the answer."""
        entry, calls, dialect = part.entry, part.calls, part.dialect
        answer = self.mixture.answer(entry)
        if answer.abandoned:
            return TextOrReason(problem=UnevaluableReason.INCOMPLETE)
        found = answer.found if _may_answer(dialect.role(entry), calls) else None
        if found is not None and (calls or not _only_documents(found.text, passages)):
            where = source("response", entry, found.attribute)
            if self._closed_early(entry, calls, found.text):
                return TextOrReason(text=found.text, problem=UnevaluableReason.INCOMPLETE, source=where)
            return TextOrReason.of(found.text, UnevaluableReason.NO_RESPONSE, where)
        failed = entry.status is StatusCode.ERROR
        for call in () if failed else reversed(calls):
            written = self.mixture.wrote(call) if call.status is not StatusCode.ERROR else None
            if written is not None:
                where = source("response", call, written.attribute)
                if self.mixture.cut_short(call):
                    return TextOrReason(text=written.text, problem=UnevaluableReason.INCOMPLETE, source=where)
                return TextOrReason.of(written.text, UnevaluableReason.NO_RESPONSE, where)
        if answer.streaming and calls:
            return TextOrReason(problem=UnevaluableReason.INCOMPLETE)
        return TextOrReason(problem=dialect.missing(entry) or UnevaluableReason.NO_RESPONSE)

    def _closed_early(self, entry: SpanRecord, calls: Sequence[SpanRecord], text: str) -> bool:
        """True for a stream that was closed before its end: the model call records that, or it ended after the entry
        and its text is longer than the entry's."""
        if calls and self.mixture.cut_short(calls[-1]):
            return True
        later = (self.mixture.wrote(call) for call in calls if call.end_ns > entry.end_ns)
        return any(whole and len(whole.text) > len(text) and whole.text.startswith(text) for whole in later)


def _is_question(asked: str, searched: Retrieval | None, passages: Passages) -> bool:
    """False for a prompt that contains the passages, or that contains the search query among other text."""
    if any(chunk.text and chunk.text in asked for chunk in passages.chunks):
        return False
    if searched is not None and searched.query and searched.query in asked:
        return searched.query == asked
    return any(chunk.text for chunk in passages.chunks)


def _may_answer(role: Role, calls: Sequence[SpanRecord]) -> bool:
    """False for a span whose output is no answer: a retrieval, an embedding, a decision, a tool without a call."""
    return role not in _NEVER_ANSWERS and (role is not Role.TOOL or bool(calls))


def _only_documents(text: str, passages: Passages) -> bool:
    """True if `text` consists only of the retrieved texts."""
    for chunk in sorted(passages.chunks, key=lambda each: -len(each.text)):
        text = text.replace(chunk.text, "") if chunk.text else text
    return bool(passages.chunks) and _LETTERS.search(text) is None
