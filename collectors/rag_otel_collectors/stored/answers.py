"""Stored answers with their scores and with what people said about them, for `rag-otel traces export`."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from rag_otel.evaluation.directions import goodness
from rag_otel.model import RagTrace, SpanRecord
from rag_otel_collectors.stored.annotated_spans import (
    HumanAnnotation,
    TraceAnnotations,
    human_annotations,
    stored_result,
    trace_annotations,
)
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.phoenix_spans import stored_traces

Selection = Literal["worst", "uncertain", "corrected"]
CORRECTION: Final = "correction"
"""Name of a human annotation whose explanation is the answer that would have been right."""
_MOST_UNCERTAIN: Final = 0.5
_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """An answer with its scores by one metric. Score and risk are in 0..1, None if there are none."""

    trace: RagTrace
    score: float | None
    risk: float | None
    label: str | None
    explanation: str | None
    human: tuple[HumanAnnotation, ...]
    judge: str = ""
    probability: float | None = None
    """With which the trace was sampled. None: not known."""

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
            "score": self.score,
            "risk": self.risk,
            "label": self.label,
            "explanation": self.explanation,
            "human": [
                {"name": each.name, "label": each.label, "score": each.score, "explanation": each.explanation}
                for each in self.human
            ],
        }


def stored_answers(
    client: PhoenixClient,
    project: str,
    metric: str,
    rag_traces: Callable[[Sequence[SpanRecord]], Iterable[RagTrace]],
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[StoredAnswer]:
    """Yields the answers of a project, oldest first. `rag_traces` reads the spans of one trace (`Pipeline.rag_traces`).

    Only answers with question, chunks and response are read. Raises the errors of the client.
    """
    for batch in stored_traces(client, project, since=since, until=until):
        notes = trace_annotations(client, project, batch)
        for trace in batch:
            spans = {span.span_id: span for span in trace.spans}
            answers = [found for found in rag_traces(trace.spans) if found.evaluable]
            for found in answers:
                said = notes[trace.trace_id]
                yield _answer(found, metric, spans[found.target.span_id], said, only_answer=len(answers) == 1)


def choose(answers: Iterable[StoredAnswer], selection: Selection, count: int, metric: str) -> list[StoredAnswer]:
    """Returns at most `count` answers. Holds only these in memory.

    `worst`: the worst scores of `metric`, of equal ones the highest risks. `uncertain`: the risks nearest to 0.5, of
    which the judge knows least (uncertainty sampling: Lewis and Gale, "A Sequential Algorithm for Training Text
    Classifiers", 1994); an answer without a risk is taken by its score. `corrected`: those that people annotated, the
    newest first.
    """
    if selection == "worst":
        scored = (each for each in answers if each.score is not None)
        return heapq.nsmallest(
            count, scored, key=lambda each: (goodness(metric, each.score or 0.0), -(each.risk or 0.0))
        )
    if selection == "uncertain":
        known = (each for each in answers if each.risk is not None or each.score is not None)
        return heapq.nsmallest(count, known, key=_distance_from_uncertain)
    annotated = (each for each in answers if each.human)
    return heapq.nlargest(count, annotated, key=lambda each: each.trace.start_ns)


def _distance_from_uncertain(answer: StoredAnswer) -> float:
    known = answer.risk if answer.risk is not None else answer.score
    return abs((known if known is not None else 1.0) - _MOST_UNCERTAIN)


def _answer(
    trace: RagTrace, metric: str, span: SpanRecord, notes: TraceAnnotations, *, only_answer: bool
) -> StoredAnswer:
    result = stored_result(span.attributes, notes.of(trace.target.span_id), metric)
    return StoredAnswer(
        trace=trace,
        score=result.score,
        risk=result.risk,
        label=result.label,
        explanation=result.explanation,
        human=human_annotations(notes.about(trace.target.span_id, only_answer=only_answer)),
        judge=result.judge,
        probability=result.probability,
    )
