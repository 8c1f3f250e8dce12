"""Stored spans of answers with everything that judges and people said of them.

People annotate the span of the answer, or the root span of its trace, where Phoenix's lists show the scores; users'
ratings (`rag_otel.feedback`) are annotations of the trace, or feedback spans in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel.ratings.rating import USER_FEEDBACK
from rag_otel.ratings.words import share
from rag_otel_collectors.conventions.reading.mixed_dialects import is_evaluator
from rag_otel_collectors.stored.assembly import AssembledTrace
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_collectors.stored.results import HUMAN, AnnotationRow, StoredResult, other_results, stored_result

_SAID: Final = f"{semconv.OI_EVALUATIONS}.0.evaluation."
"""Prefix of what a feedback span says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAnnotation:
    """What a person said about an answer."""

    name: str
    label: str | None
    score: float | None
    explanation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatedSpan:
    """A span of an answer with everything that was said of it."""

    span: SpanRecord
    result: StoredResult
    rows: tuple[AnnotationRow, ...]
    """All annotations of the span, also those of other judges."""
    about: tuple[AnnotationRow, ...]
    """The same, and those of the root and of the whole trace if this is the trace's only answer."""
    human: tuple[HumanAnnotation, ...]
    """Of the span, and of the root and the whole of its trace if this is the trace's only answer."""


def annotations_by_span(project: StoredProject, traces: Sequence[AssembledTrace]) -> dict[str, list[AnnotationRow]]:
    """All annotations of the spans of these traces, by span id. Raises the errors of the client."""
    found: dict[str, list[AnnotationRow]] = {span.span_id: [] for trace in traces for span in trace.spans}
    for row in project.client.annotations(project.name, list(found)) if found else ():
        found.setdefault(row["span_id"], []).append(row)
    return found


class TraceAnnotations:
    """Everything that was said of one trace: of its spans, of the whole, and in feedback spans."""

    def __init__(
        self,
        spans: Sequence[SpanRecord],
        by_span: Mapping[str, Sequence[AnnotationRow]],
        whole: Sequence[AnnotationRow],
    ) -> None:
        self._by_place: dict[str | None, list[AnnotationRow]] = {None: list(whole)}
        for span in spans:
            self._by_place.setdefault(span.span_id, []).extend(by_span.get(span.span_id, ()))
            if semconv.FEEDBACK_RATING in span.attributes or f"{_SAID}name" in span.attributes:
                place, row = _said_in(span)
                if row is not None:
                    self._by_place.setdefault(place, []).append(row)
        roots = [span.span_id for span in spans if span.parent_id is None and not is_evaluator(span)]
        self._root = roots[0] if len(roots) == 1 else None

    def of(self, span_id: str) -> list[AnnotationRow]:
        """Of this span."""
        return self._by_place.get(span_id, [])

    @property
    def whole(self) -> list[AnnotationRow]:
        """Of the root and of the whole trace."""
        return [*self._by_place.get(self._root or "", []), *self._by_place[None]]

    def about(self, span_id: str, *, only_answer: bool) -> list[AnnotationRow]:
        """Of this span, and if it is the trace's only answer also of the root and of the whole trace."""
        if not only_answer:
            return self.of(span_id)
        return [*self.of(span_id), *(self._by_place[None] if self._root == span_id else self.whole)]


def annotated_traces(project: StoredProject) -> Iterator[list[tuple[AssembledTrace, TraceAnnotations]]]:
    """Yields the traces of a project with what was said of each, oldest first, in batches. Raises the errors of the
    client."""
    for traces in project.traces():
        by_span = annotations_by_span(project, traces)
        whole: dict[str, list[AnnotationRow]] = {trace.trace_id: [] for trace in traces}
        for row in project.client.trace_annotations(project.name, list(whole)):
            whole.setdefault(row["trace_id"], []).append(row)
        yield [(each, TraceAnnotations(each.spans, by_span, whole[each.trace_id])) for each in traces]


def _said_in(span: SpanRecord) -> tuple[str | None, AnnotationRow | None]:
    """Where a user's rating belongs that was written on a span, and the rating as an annotation."""
    attributes = span.attributes
    rating = share(attributes.get(semconv.FEEDBACK_RATING))
    if not is_evaluator(span):
        row = {"name": USER_FEEDBACK, "annotator_kind": HUMAN, "result": {"score": rating}}
        return span.span_id, None if rating is None else row
    if attributes.get(f"{_SAID}annotator_kind") != HUMAN:
        return None, None
    result = {name: attributes.get(_SAID + name) for name in ("score", "label", "explanation")}
    result["score"] = rating if result["score"] is None else result["score"]
    name = str(attributes.get(f"{_SAID}name") or USER_FEEDBACK)
    return span.parent_id, {"name": name, "annotator_kind": HUMAN, "result": result}


def annotated_spans(project: StoredProject, metric: str, *, other: str | None = None) -> Iterator[AnnotatedSpan]:
    """Yields the spans of a project that have a result of `metric`, oldest trace first; with `other` those that have a
    result of another judge under this name, in place of rag-otel's. Raises the client's errors."""
    for trace, notes in chain.from_iterable(annotated_traces(project)):
        answers = [span for span in trace.spans if not is_evaluator(span)]
        scored = _scored(answers, notes, metric) if other is None else judged_by_other(answers, notes, other)
        only_answer = len({span.span_id for span, _ in scored}) == 1
        for span, result in scored:
            about = tuple(notes.about(span.span_id, only_answer=only_answer))
            rows, human = tuple(notes.of(span.span_id)), human_annotations(about)
            yield AnnotatedSpan(span=span, result=result, rows=rows, about=about, human=human)


def _scored(
    answers: Sequence[SpanRecord], notes: TraceAnnotations, metric: str
) -> list[tuple[SpanRecord, StoredResult]]:
    found = ((span, stored_result(span.attributes, notes.of(span.span_id), metric)) for span in answers)
    return [(span, result) for span, result in found if result.judged_risk is not None]


def judged_by_other(
    answers: Sequence[SpanRecord], notes: TraceAnnotations, name: str
) -> list[tuple[SpanRecord, StoredResult]]:
    """Another judge's results of these spans; where it annotated the whole trace alone, they are those of the root."""
    found = [(span, each) for span in answers for each in other_results(notes.of(span.span_id), name)]
    if not found:
        roots = [span for span in answers if span.parent_id is None][:1]
        found = [(span, each) for span in roots for each in other_results(notes.whole, name)]
    return found


def human_annotations(rows: Sequence[AnnotationRow]) -> tuple[HumanAnnotation, ...]:
    """What people said, in Phoenix's order."""
    return tuple(
        HumanAnnotation(
            name=str(row["name"]),
            label=(result := row.get("result") or {}).get("label"),
            score=result.get("score"),
            explanation=result.get("explanation"),
        )
        for row in rows
        if row.get("annotator_kind") == HUMAN
    )
