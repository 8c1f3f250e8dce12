"""Decides which spans of a trace belong to one question: splits sessions, and joins retrievals with their model call.

- Splitting: a root span without question and answer (a chat session, a batch) may contain several complete questions.
  Each becomes a separate RAG trace with its own target span. A root span with an answer (an agent, a query that was
  split into sub-queries) stays one RAG trace.
- Joining: a retrieval and a model call may be siblings, below a span of an unknown dialect or below a missing parent.
  They become one RAG trace if the call's prompt contains the query or a retrieved text. The model call is the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.reading.dialect import Dialect, Role
from rag_otel_collectors.conventions.reading.mixed_dialects import MixedDialects
from rag_otel_collectors.conventions.reading.retrieval import Retrieval
from rag_otel_collectors.conventions.reading.tree import SpanTree

_ENOUGH: Final = 200
"""Characters at the beginning of a document. A prompt that contains them contains the document."""
_LEAVES: Final = (Role.MODEL, Role.RETRIEVAL, Role.EMBEDDING, Role.DECISION, Role.TOOL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An entry with the spans below it: the candidate for one RAG trace."""

    entry: SpanRecord
    dialect: Dialect
    below: tuple[SpanRecord, ...]
    retrievals: tuple[Retrieval, ...]
    """The retrievals that count (see `find_retrievals`), in order of start."""
    calls: tuple[SpanRecord, ...]
    """The model calls that may have written the answer, in order of end."""
    answers: bool
    """True if the entry records the answer."""
    scattered: bool = False
    """True for a model call that was joined with sibling retrievals."""

    @property
    def is_prompt(self) -> bool:
        """True if the entry is the model call that received the passages. Its question may be a prompt that contains
        them."""
        if self.scattered:
            return self.entry in self.calls
        return any(retrieval.span is self.entry for retrieval in self.retrievals if self.calls)

    @property
    def complete(self) -> bool:
        """True for a question with its retrieval and its answer."""
        return bool(self.retrievals) and (self.answers or bool(self.calls))

    @property
    def only_retrieves(self) -> bool:
        return bool(self.retrievals) and not self.complete


def inner_parts(tree: SpanTree, mixture: MixedDialects, container: SpanRecord) -> list[SpanRecord]:
    """Returns the topmost spans below `container` that may each be a question: chains and agents with input and output
    text."""
    found: list[SpanRecord] = []

    def ends_here(span: SpanRecord) -> bool:
        if mixture.is_foreign(span):
            return True
        has_texts = mixture.question(span) is not None and mixture.answer(span).found is not None
        if has_texts and mixture.role(span) not in _LEAVES:
            found.append(span)
        return has_texts

    tree.descendants(container, prune=ends_here)
    return sorted(found, key=lambda each: each.start_ns)


def conversations(inner: Sequence[Part], whole: Part, mixture: MixedDialects) -> list[Part]:
    """Returns the complete parts inside `whole` if there are several, their questions differ, and no model call
    combines their answers. Otherwise returns `whole`."""
    complete = [part for part in inner if part.complete]
    asked = [found.text for part in complete if (found := mixture.question(part.entry)) is not None]
    last = max((part.entry.end_ns for part in complete), default=0)
    combined = any(call.start_ns >= last for call in whole.calls)
    return complete if len(complete) > 1 and len(set(asked)) == len(complete) and not combined else [whole]


def turns(tree: SpanTree, parts: Sequence[Part], mixture: MixedDialects) -> list[Part]:
    """Returns the parts, with retrievals joined to the sibling model call that used them."""
    groups: dict[str, list[Part]] = {}
    for part in parts:
        above = next((span.span_id for span in tree.ancestors(part.entry)), "")
        groups.setdefault(above, []).append(part)
    return [turn for group in groups.values() for turn in _join_siblings(group, mixture)]


def _join_siblings(group: Sequence[Part], mixture: MixedDialects) -> Iterator[Part]:
    """Joins siblings, in order of start: retrievals wait for the model call whose prompt contains their results."""
    waiting: list[Part] = []
    answer: Part | None = None
    for part in group:
        if part.only_retrieves:
            if answer is not None:
                yield _joined(waiting, answer)
                waiting, answer = [], None
            waiting.append(part)
        elif part.complete or not waiting or not part.calls:
            yield part
        elif _received(part, waiting, mixture, first=answer is None):
            answer = part
    if answer is not None:
        yield _joined(waiting, answer)
    else:
        yield from waiting


def _received(part: Part, retrievals: Sequence[Part], mixture: MixedDialects, *, first: bool) -> bool:
    """True if a prompt of `part` contains a document or a query of `retrievals`. If no prompt is recorded, the first
    call after the retrievals counts as the one that received them."""
    if any(part.entry.start_ns < each.entry.end_ns for each in retrievals):
        return False
    prompt = "\n".join(mixture.prompt(call) for call in part.calls)
    if not prompt.strip():
        return first
    found = [each for retrieval in retrievals for each in retrieval.retrievals]
    texts = [document.text[:_ENOUGH] for each in found for document in each.documents if document.text]
    return any(text in prompt for text in (*texts, *(each.query for each in found if each.query)))


def _joined(retrievals: Sequence[Part], answer: Part) -> Part:
    spans = [span for part in (*retrievals, answer) for span in (part.entry, *part.below)]
    below = tuple(sorted((s for s in spans if s is not answer.entry), key=lambda span: span.start_ns))
    return replace(
        answer, below=below, retrievals=tuple(r for part in retrievals for r in part.retrievals), scattered=True
    )
