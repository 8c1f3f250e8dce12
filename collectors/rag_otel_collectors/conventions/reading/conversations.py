"""Which spans of a trace are one question: several under one session, or one that is scattered over several spans.

Two things are mended here, and only where it is safe:
- A root that neither asks nor answers (a chat session, a batch) holds several complete questions: each is a trace of
  its own, and its scores go to its own span. A root that answers (an agent, a query that was split into others) is one.
- A retrieval and a model call that stand side by side, under a span of nobody's dialect or under a parent that is
  missing, are one question when the call's prompt has what was searched for or found. The call's span is the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.reading.dialect import Dialect, Role
from rag_otel_collectors.conventions.reading.mixed_dialects import MixedDialects
from rag_otel_collectors.conventions.reading.retrieval import Retrieval
from rag_otel_collectors.conventions.reading.tree import SpanTree

_ENOUGH: Final = 200
"""Characters of a document that prove it is in a prompt."""
_LEAVES: Final = (Role.MODEL, Role.RETRIEVAL, Role.EMBEDDING, Role.TOOL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """An entry with what is below it."""

    entry: SpanRecord
    dialect: Dialect
    below: tuple[SpanRecord, ...]
    retrievals: tuple[Retrieval, ...]
    """Those that decide, by start."""
    calls: tuple[SpanRecord, ...]
    """The model calls that may have written the answer, by end."""
    answers: bool
    """True where the entry itself says what was answered."""
    scattered: bool = False
    """True for a model call with the retrievals beside it."""

    @property
    def is_prompt(self) -> bool:
        """True where the entry is the call that was told the passages: its question may be a prompt around them."""
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
    """The topmost spans below `container` that may hold a question each: chains and agents with text of their own."""
    found: list[SpanRecord] = []

    def ends_here(span: SpanRecord) -> bool:
        if mixture.is_foreign(span):
            return True
        speaks = mixture.question(span) is not None and mixture.answer(span).found is not None
        if speaks and mixture.role(span) not in _LEAVES:
            found.append(span)
        return speaks

    tree.descendants(container, prune=ends_here)
    return sorted(found, key=lambda each: each.start_ns)


def conversations(inner: Sequence[Part], whole: Part, mixture: MixedDialects) -> list[Part]:
    """The complete questions inside of `whole`, where there are several and nobody sums them up; else `whole`."""
    complete = [part for part in inner if part.complete]
    asked = [found.text for part in complete if (found := mixture.question(part.entry)) is not None]
    last = max((part.entry.end_ns for part in complete), default=0)
    summed_up = any(call.start_ns >= last for call in whole.calls)
    return complete if len(complete) > 1 and len(set(asked)) == len(complete) and not summed_up else [whole]


def turns(tree: SpanTree, parts: Sequence[Part], mixture: MixedDialects) -> list[Part]:
    """The parts, with each scattered question put together."""
    groups: dict[str, list[Part]] = {}
    for part in parts:
        above = next((span.span_id for span in tree.ancestors(part.entry)), "")
        groups.setdefault(above, []).append(part)
    return [turn for group in groups.values() for turn in _turns(group, mixture)]


def _turns(group: Sequence[Part], mixture: MixedDialects) -> Iterator[Part]:
    """What stands side by side, by start: retrievals wait for the call that was told of them."""
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
        elif _was_told(part, waiting, mixture, first=answer is None):
            answer = part
    if answer is not None:
        yield _joined(waiting, answer)
    else:
        yield from waiting


def _was_told(part: Part, retrievals: Sequence[Part], mixture: MixedDialects, *, first: bool) -> bool:
    """True when a prompt of `part` quotes a document or a query of `retrievals`. Where no prompt can be read, the first
    call after them is taken for theirs."""
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
