"""The queue of answers for people to label, as annotations in Phoenix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.ratings.words import share
from rag_otel.writers.annotations import IDENTIFIER, Annotation
from rag_otel_collectors.stored.annotated_spans import annotated_spans
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_collectors.stored.results import AnnotationRow, other_results

QUEUE: Final = "review"
"""Name of the annotation that puts an answer into the queue."""
PROBABILITY: Final = "probability"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAnswer:
    """One answer of a project with what judges and people have said of it."""

    span_id: str
    risks: tuple[float, ...]
    """Of rag-otel's judge first, then of other judges that annotated the span with the metric's name."""
    labelled: bool
    queued: bool


def scored_answers(project: StoredProject, *, metric: str, annotations: Sequence[str]) -> Iterator[ScoredAnswer]:
    """Every answer with a result of `metric`. `annotations` are the names of people's labels. Raises the errors of the
    client."""
    for found in annotated_spans(project, metric):
        own = found.result.judged_risk
        if own is not None:
            yield ScoredAnswer(
                span_id=found.span.span_id,
                risks=(own, *(each.risk for each in other_results(found.rows, metric) if each.risk is not None)),
                labelled=any(each.name in annotations for each in found.human),
                queued=picked_with(found.rows) is not None,
            )


def picked_with(rows: Sequence[AnnotationRow]) -> float | None:
    """The probability with which the queue picked an answer; None if it did not."""
    queued = (row for row in rows if row["name"] == QUEUE and row.get("identifier") == IDENTIFIER)
    return next((share((row.get("metadata") or {}).get(PROBABILITY)) for row in queued), None)


def put_into_queue(client: PhoenixClient, answers: Sequence[tuple[str, float, str]]) -> None:
    """Annotates spans, given as (span id, probability, reason). Writing an answer twice stores it once. Raises
    RetryableError or PermanentError."""
    rows = [
        Annotation(
            name=QUEUE,
            annotator_kind="CODE",
            label="queued",
            explanation=f"Please label this answer: {reason}.",
            metadata={PROBABILITY: probability, "reason": reason},
        ).row(span_id=span_id)
        for span_id, probability, reason in answers
    ]
    client.annotate("span", rows, wait=True)
