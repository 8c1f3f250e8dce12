"""The rated answers of a Phoenix project: those that people annotated and that have no result yet."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import EvaluatedTrace, RagTrace, SamplingDecision, SamplingReason, SpanRecord, SpanRef
from rag_otel.ratings.words import rating_of
from rag_otel.writers.annotations import IDENTIFIER
from rag_otel_collectors.backfill.engine import Spans
from rag_otel_collectors.backfill.phoenix_source import PhoenixStore
from rag_otel_collectors.conventions.reading.mixed_dialects import is_evaluator
from rag_otel_collectors.stored.annotated_spans import (
    HumanAnnotation,
    TraceAnnotations,
    annotated_traces,
    human_annotations,
)
from rag_otel_collectors.stored.assembly import AssembledTrace

_RATED: Final = SamplingDecision(sampled=True, reason=SamplingReason.RATED, probability=1.0)


class RatedSampler:
    """Selects every answer: people have selected it. It stands for no other answer."""

    def decide(self, target: SpanRef) -> SamplingDecision:
        return _RATED


class RatedStore(PhoenixStore):
    """The answers of one project that people annotated. Those with a result, by whatever judge, are left alone."""

    def __init__(
        self,
        *given: Any,
        names: Collection[str] = (),
        below: float | None = None,
        tell: Callable[[EvaluatedTrace], object] = lambda result: None,
        **named: Any,
    ) -> None:
        """`names` are the annotations that count; empty: all. With `below` only ratings below it count. `tell` gets
        every result that was written: alerts and drift."""
        super().__init__(*given, **named)
        self._names = names
        self._below = below
        self._tell = tell
        self._said: dict[str, TraceAnnotations] = {}
        """Of the rated traces read so far."""
        self._attributes: dict[str, Mapping[str, Any]] = {}
        """Of their spans."""

    def batches(self) -> Iterator[list[Spans]]:
        for traces in annotated_traces(self._project):
            rated = [(trace, said) for trace, said in traces if self._people_in(trace, said)]
            self._said.update((trace.trace_id, said) for trace, said in rated)
            self._attributes.update((span.span_id, span.attributes) for trace, _ in rated for span in trace.spans)
            yield [self._with_rating(trace, said) for trace, said in rated]

    def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
        answers = Counter(trace.target.trace_id for trace in traces)
        return [self._missing(trace, only_answer=answers[trace.target.trace_id] == 1) for trace in traces]

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        super().write(results)
        for result in results:
            self._tell(result)

    def _missing(self, trace: RagTrace, *, only_answer: bool) -> tuple[str, ...]:
        said = self._said[trace.target.trace_id]
        if not self._counting(said.about(trace.target.span_id, only_answer=only_answer)):
            return ()
        has = {
            row["name"]
            for row in said.of(trace.target.span_id)
            if row.get("identifier") == IDENTIFIER and "error_type" not in (row.get("metadata") or {})
        }
        attributes = self._attributes[trace.target.span_id]
        has |= {each.name for each in self._evaluators if semconv.metric_key(each.name, "score") in attributes}
        return tuple(each.name for each in self._evaluators if each.name not in has)

    def _people_in(self, trace: AssembledTrace, said: TraceAnnotations) -> bool:
        ids = [span.span_id for span in trace.spans if not is_evaluator(span)]
        return any(self._counting(said.about(span_id, only_answer=True)) for span_id in ids)

    def _counting(self, rows: Sequence[Any]) -> list[HumanAnnotation]:
        found = [each for each in human_annotations(rows) if not self._names or each.name in self._names]
        if self._below is None:
            return found
        return [each for each in found if (rating := _rating(each)) is not None and rating < self._below]

    def _with_rating(self, trace: AssembledTrace, said: TraceAnnotations) -> Spans:
        """The trace with its worst ratings as feedback spans, which every shape reads."""
        places: list[tuple[str | None, Sequence[Any]]] = [(None, said.whole)]
        places += [(span.span_id, said.of(span.span_id)) for span in trace.spans if not is_evaluator(span)]
        made = []
        for place, rows in places:
            ratings = [rating for each in self._counting(rows) if (rating := _rating(each)) is not None]
            if ratings:
                made.append(_feedback_span(trace.trace_id, place, min(ratings)))
        return (*trace.spans, *made)


def _rating(said: HumanAnnotation) -> float | None:
    for value in (said.label, said.score):
        rating = rating_of(value)
        if rating is not None and 0.0 <= rating <= 1.0:
            return rating
    return None


def _feedback_span(trace_id: str, parent_id: str | None, rating: float) -> SpanRecord:
    return SpanRecord(
        trace_id=trace_id,
        span_id=secrets.token_hex(8),
        parent_id=parent_id,
        attributes={semconv.SPAN_KIND: semconv.KIND_EVALUATOR, semconv.FEEDBACK_RATING: rating},
    )
