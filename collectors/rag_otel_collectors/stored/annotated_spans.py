"""What judges and people said of stored spans: rag-otel's results, and annotations of the kind HUMAN.

Results are those of rag-otel's annotations, else of the span's attributes: late and backfilled results are annotations
alone. People annotate the span of the answer, or the root span of its trace, where Phoenix's lists show the scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel.writers.feedback import IDENTIFIER, risk_name
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.phoenix_spans import stored_traces

_HUMAN: Final = "HUMAN"

Row: TypeAlias = Mapping[str, Any]
"""An annotation as Phoenix returns it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """One metric's result on a span. None and empty: not known."""

    score: float | None = None
    risk: float | None = None
    label: str | None = None
    explanation: str | None = None
    judge: str = ""
    version: str = ""
    probability: float | None = None
    """With which the trace was sampled."""

    @property
    def judged_risk(self) -> float | None:
        """The risk, or for a judge without risks 1 - score; None where there is neither."""
        if self.risk is not None:
            return self.risk
        return None if self.score is None else 1.0 - self.score


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
    rows: tuple[Row, ...]
    """All annotations of the span, also those of other judges."""
    human: tuple[HumanAnnotation, ...]
    """Of the span, and of the root of its trace if this is the trace's only answer."""


def annotations_by_span(client: PhoenixClient, project: str, span_ids: Sequence[str]) -> dict[str, list[Row]]:
    """All annotations of these spans. Raises the errors of the client."""
    found: dict[str, list[Row]] = {span_id: [] for span_id in span_ids}
    for row in client.annotations(project, span_ids) if span_ids else ():
        found.setdefault(row["span_id"], []).append(row)
    return found


def annotated_spans(
    client: PhoenixClient, project: str, metric: str, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[AnnotatedSpan]:
    """Yields the spans of a project that have a result of `metric`, oldest trace first. Raises the client's errors."""
    for batch in stored_traces(client, project, since=since, until=until):
        notes = annotations_by_span(client, project, [span.span_id for trace in batch for span in trace.spans])
        for trace in batch:
            scored = [
                (span, result)
                for span in trace.spans
                if span.attributes.get(semconv.SPAN_KIND) != semconv.KIND_EVALUATOR
                and (result := stored_result(span.attributes, notes[span.span_id], metric)).judged_risk is not None
            ]
            roots = [span.span_id for span in trace.spans if span.parent_id is None]
            at_root = notes[roots[0]] if len(roots) == len(scored) == 1 else []
            for span, result in scored:
                rows = tuple(notes[span.span_id])
                further = at_root if roots and span.span_id != roots[0] else []
                yield AnnotatedSpan(span=span, result=result, rows=rows, human=human_annotations([*rows, *further]))


def stored_result(attributes: Mapping[str, Any], rows: Sequence[Row], metric: str) -> StoredResult:
    """The result of a metric on a span."""
    ours = {row["name"]: row for row in rows if row.get("identifier") == IDENTIFIER}
    if metric not in ours and risk_name(metric) not in ours:
        fields = {
            name: attributes.get(semconv.metric_key(metric, name))
            for name in ("score", "risk", "label", "explanation", "judge", "version")
        }
        return _result(fields, attributes.get(semconv.SAMPLING_PROBABILITY))
    noted = ours.get(metric, {})
    risk = (ours.get(risk_name(metric), {}).get("result") or {}).get("score")
    metadata = {**(noted.get("metadata") or {}), **(ours.get(risk_name(metric), {}).get("metadata") or {})}
    fields = {**(noted.get("result") or {}), "risk": risk}
    fields |= {name: metadata.get(name) for name in ("judge", "version")}
    return _result(fields, metadata.get("sampling_probability"))


def human_annotations(rows: Sequence[Row]) -> tuple[HumanAnnotation, ...]:
    """What people said, in Phoenix's order."""
    return tuple(
        HumanAnnotation(
            name=str(row["name"]),
            label=(result := row.get("result") or {}).get("label"),
            score=result.get("score"),
            explanation=result.get("explanation"),
        )
        for row in rows
        if row.get("annotator_kind") == _HUMAN
    )


def other_judges(rows: Sequence[Row], metric: str) -> Iterator[float]:
    """The risks (1 - score) that other judges annotated under the metric's name."""
    for row in rows:
        score = share((row.get("result") or {}).get("score"))
        other = row.get("identifier") != IDENTIFIER and row.get("annotator_kind") != _HUMAN
        if other and row["name"] == metric and score is not None:
            yield 1.0 - score


def share(value: Any) -> float | None:
    """A number in 0..1 as float; None for anything else."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0
    return float(value) if known else None


def _result(fields: Mapping[str, Any], probability: Any) -> StoredResult:
    return StoredResult(
        score=share(fields.get("score")),
        risk=share(fields.get("risk")),
        label=fields.get("label"),
        explanation=fields.get("explanation"),
        judge=str(fields.get("judge") or ""),
        version=str(fields.get("version") or ""),
        probability=share(probability) or None,
    )
