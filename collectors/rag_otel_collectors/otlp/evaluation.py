"""What an evaluation process does with an assembled trace: reads, decides, judges, says what is written on which span.

The pipeline is the same as in process. A trace waits `hold_s` for its scores; then it leaves with the status `late`,
and what is found afterwards follows as an annotation and an evaluation span.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rag_otel import semconv
from rag_otel.guard import guarded, logger
from rag_otel.model import (
    AttributeValue,
    EvaluatedTrace,
    EvaluationStatus,
    RagTrace,
    SamplingDecision,
    SpanRecord,
    SpanRef,
)
from rag_otel.pipeline import Pipeline
from rag_otel_collectors.otlp.reading import Outline, span_records
from rag_otel_collectors.otlp.wire import SpanSlice, attribute_bytes

Attributes = Mapping[str, AttributeValue]
DEADLINE: Final = "deadline"
ALREADY: Final = "already_evaluated"
"""The application evaluates in process: its spans say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An assembled trace."""

    number: int
    trace_id: str
    slices: tuple[SpanSlice, ...]
    outlines: tuple[Outline, ...] = ()
    """Spans that have been forwarded already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is known of a job now. The first one lets the trace go, later ones bring late results."""

    number: int
    attributes: Mapping[str, bytes] = field(default_factory=dict)
    """Span id -> what is appended to the serialised span."""
    results: tuple[EvaluatedTrace, ...] = ()
    resources: Mapping[SpanRef, Mapping[str, Any]] = field(default_factory=dict)
    """Of late results: the resource of the span that they belong to."""
    outcomes: tuple[tuple[str, str], ...] = ()
    """(status, reason) of every RAG trace in the trace, for counting."""
    last: bool = True
    """False: results are still to come."""


class TraceEvaluator:
    """Evaluates assembled traces, several at a time."""

    def __init__(
        self,
        *,
        pipeline: Pipeline,
        attributes: Callable[[EvaluatedTrace], Attributes],
        status_attributes: Callable[[EvaluationStatus, str | None, SamplingDecision | None], Attributes],
        hold_s: float,
    ) -> None:
        self._pipeline = pipeline
        self._attributes = attributes
        self._status_attributes = status_attributes
        self._hold_s = hold_s

    async def evaluate(self, job: Job, reply: Callable[[Reply], None]) -> None:
        """Answer with one reply or, where results are late, with two. Never raises."""
        sent = False
        try:
            records = {record.span_id: record for record in span_records(job.trace_id, job.slices, job.outlines)}
            read = [await self._pipeline.with_texts(each) for each in self._rag_traces(list(records.values()))]
            written, outcomes, chosen = self._sort(records, read)
            tasks = {asyncio.ensure_future(self._pipeline.evaluate(*each)): each for each in chosen}
            late = set(tasks)
            if tasks:
                done, late = await asyncio.wait(tasks, timeout=self._hold_s)
                results = [task.result() for task in tasks if task in done]
                for result in results:
                    written[result.trace.target.span_id] = self._attributes(result)
                    outcomes.append((str(result.status), ""))
            else:
                results = []
            for task in late:
                trace, decision = tasks[task]
                written[trace.target.span_id] = self._status_attributes(EvaluationStatus.LATE, DEADLINE, decision)
                outcomes.append((str(EvaluationStatus.LATE), DEADLINE))
            sent = True
            reply(
                Reply(
                    number=job.number,
                    attributes={span_id: attribute_bytes(added) for span_id, added in written.items()},
                    results=tuple(results),
                    outcomes=tuple(outcomes),
                    last=not late,
                )
            )
            if late:
                reply(await self._late(job.number, late, records))
        except Exception as error:  # noqa: BLE001 - the trace must leave, whatever goes wrong with it
            logger.error("rag-otel: internal error while evaluating a trace", exc_info=error)
            outcome = (str(EvaluationStatus.FAILED), "internal_error")
            reply(Reply(number=job.number, outcomes=() if sent else (outcome,)))

    async def _late(
        self, number: int, tasks: Iterable[asyncio.Future[EvaluatedTrace]], records: Mapping[str, SpanRecord]
    ) -> Reply:
        results = [dataclasses.replace(each, status=EvaluationStatus.LATE) for each in await asyncio.gather(*tasks)]
        targets = [result.trace.target for result in results]
        return Reply(
            number=number,
            results=tuple(results),
            resources={target: dict(records[target.span_id].resource) for target in targets},
        )

    def _sort(
        self, records: Mapping[str, SpanRecord], traces: Iterable[RagTrace]
    ) -> tuple[dict[str, Attributes], list[tuple[str, str]], list[tuple[RagTrace, SamplingDecision]]]:
        """(what is written on spans that are not evaluated, their outcomes, what is to be evaluated)."""
        written: dict[str, Attributes] = {}
        outcomes: list[tuple[str, str]] = []
        chosen: list[tuple[RagTrace, SamplingDecision]] = []
        for trace in traces:
            if semconv.STATUS in records[trace.target.span_id].attributes:
                outcomes.append((str(EvaluationStatus.SKIPPED), ALREADY))
                continue
            decision = self._pipeline.sampler.decide(trace.target)
            reason: str | None = trace.unevaluable_reason
            if reason is None:
                decision = self._pipeline.decide(trace.target)
                reason = None if decision.sampled else decision.reason
            if reason is None:
                chosen.append((trace, decision))
                continue
            written[trace.target.span_id] = self._status_attributes(EvaluationStatus.SKIPPED, reason, decision)
            outcomes.append((str(EvaluationStatus.SKIPPED), str(reason)))
        return written, outcomes, chosen

    def _rag_traces(self, records: Sequence[SpanRecord]) -> list[RagTrace]:
        """What every convention reads, one trace a target: the convention that is asked first decides."""
        found: dict[SpanRef, RagTrace] = {}
        for convention in self._pipeline.conventions:
            with guarded("collector.read"):
                for trace in convention.read(records):
                    found.setdefault(trace.target, trace)
        return list(found.values())
