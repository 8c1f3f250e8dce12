"""Stored answers with their scores and with what people said about them, for `rag-otel traces export`."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final, Literal, TypeVar

from rag_otel.evaluation.directions import goodness
from rag_otel.model import RagTrace, SpanRecord
from rag_otel_collectors.stored.annotated_spans import HumanAnnotation, annotated_traces, human_annotations
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_collectors.stored.results import StoredResult, stored_result

Selection = Literal["worst", "uncertain", "corrected"]
CORRECTION: Final = "correction"
"""Name of a human annotation whose explanation is the answer that would have been right."""
_MOST_UNCERTAIN: Final = 0.5
_NS: Final = 1_000_000_000

A = TypeVar("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """An answer with its result by one metric."""

    trace: RagTrace
    result: StoredResult
    human: tuple[HumanAnnotation, ...]

    @property
    def reference(self) -> str | None:
        """The right answer: of a human correction, else of the trace."""
        corrections = (each.explanation for each in self.human if each.name == CORRECTION and each.explanation)
        return next(corrections, self.trace.reference)

    def row(self) -> dict[str, Any]:
        """The answer as a row that `rag-otel evaluate` reads."""
        started = datetime.fromtimestamp(self.trace.start_ns / _NS, UTC).isoformat()
        return {
            "id": self.trace.target.span_id,
            "trace_id": self.trace.target.trace_id,
            "time": started,
            "question": self.trace.question,
            "contexts": [{"id": chunk.id, "text": chunk.text} for chunk in self.trace.chunks],
            "response": self.trace.response,
            "reference": self.reference,
            "score": self.result.score,
            "risk": self.result.risk,
            "label": self.result.label,
            "explanation": self.result.explanation,
            "human": [
                {"name": each.name, "label": each.label, "score": each.score, "explanation": each.explanation}
                for each in self.human
            ],
        }


def stored_answers(
    project: StoredProject, metric: str, rag_traces: Callable[[Sequence[SpanRecord]], Iterable[RagTrace]]
) -> Iterator[StoredAnswer]:
    """Yields the answers of a project, oldest first. `rag_traces` reads the spans of one trace (`Pipeline.rag_traces`).

    Only answers with question, chunks and response are read. Raises the errors of the client.
    """
    for trace, said in chain.from_iterable(annotated_traces(project)):
        spans = {span.span_id: span for span in trace.spans}
        answers = [found for found in rag_traces(trace.spans) if found.evaluable]
        for found in answers:
            span_id = found.target.span_id
            yield StoredAnswer(
                trace=found,
                result=stored_result(spans[span_id].attributes, said.of(span_id), metric),
                human=human_annotations(said.about(span_id, only_answer=len(answers) == 1)),
            )


def choose(answers: Iterable[StoredAnswer], selection: Selection, count: int, metric: str) -> list[StoredAnswer]:
    """Returns at most `count` answers. Holds only these in memory.

    `worst`: the worst scores of `metric`, of equal ones the highest risks. `uncertain`: the risks nearest to 0.5, of
    which the judge knows least (uncertainty sampling: Lewis and Gale, "A Sequential Algorithm for Training Text
    Classifiers", 1994); an answer without a risk is taken by its score. `corrected`: those that people annotated, the
    newest first.
    """
    if selection == "worst":
        scored = ((each.result.score, each) for each in answers)
        known = (
            (goodness(metric, score), each.result.risk or 0.0, each) for score, each in scored if score is not None
        )
        return worst_of(known, count)
    if selection == "uncertain":
        risks = ((each.result.judged_risk, each) for each in answers)
        distances = ((abs(risk - _MOST_UNCERTAIN), each) for risk, each in risks if risk is not None)
        return [each for _, each in heapq.nsmallest(count, distances, key=lambda pair: pair[0])]
    annotated = (each for each in answers if each.human)
    return heapq.nlargest(count, annotated, key=lambda each: each.trace.start_ns)


def worst_of(candidates: Iterable[tuple[float, float, A]], count: int) -> list[A]:
    """The worst `count` of (goodness, risk, answer), each 0..1: the least good, of equal ones the riskiest."""
    return [answer for *_, answer in heapq.nsmallest(count, candidates, key=lambda each: (each[0], -each[1]))]
