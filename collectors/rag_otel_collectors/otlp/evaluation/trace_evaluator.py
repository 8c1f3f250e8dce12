"""Evaluates an assembled trace in an evaluation process, and returns the attributes for its spans.

The pipeline is the same as in process. A trace waits at most `hold_s` for its scores. Then it is forwarded with the
status `late`, and its result is delivered later as an annotation and an evaluation span.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from rag_otel import semconv
from rag_otel.model import (
    QUEUED,
    AttributeValue,
    Chunk,
    Conversation,
    EvaluatedTrace,
    EvaluationStatus,
    RagTrace,
    SamplingDecision,
    SpanRecord,
    SpanRef,
    UnevaluableReason,
)
from rag_otel.pipeline import Pipeline
from rag_otel.safety.guard import logger
from rag_otel.writers.attributes import evaluation_attributes, status_attributes
from rag_otel_collectors.jobs.job import EvaluationJob, may_leave_the_process, queued
from rag_otel_collectors.jobs.queue import QueuedJob
from rag_otel_collectors.otlp.evaluation.messages import Job, JobResults
from rag_otel_collectors.otlp.requests.span_records import Outline, span_records
from rag_otel_collectors.otlp.requests.wire import SpanSlice, attribute_bytes

Attributes: TypeAlias = Mapping[str, AttributeValue]
DEADLINE: Final = "deadline"
ALREADY: Final = "already_evaluated"
"""The application evaluated the trace in process. Its spans have a status."""


class HeldTrace(NamedTuple):
    """An assembled trace that is to be evaluated."""

    trace_id: str
    slices: tuple[SpanSlice, ...]
    outlines: tuple[Outline, ...] = ()
    """Spans that were already forwarded."""


class _Outcome:
    """The results of a job so far."""

    def __init__(self, *, capture_content: bool) -> None:
        self._capture_content = capture_content
        self.outcomes: list[tuple[str, str]] = []
        self._written: dict[str, Attributes] = {}
        """By span id."""
        self._results: list[EvaluatedTrace] = []
        self._jobs: list[QueuedJob] = []

    def unscored(self, trace: RagTrace, status: EvaluationStatus, reason: str, decision: SamplingDecision) -> None:
        """Records that the trace is forwarded with a status and without scores."""
        self._written[trace.target.span_id] = status_attributes(status, reason, decision)
        self.outcomes.append((str(status), reason))

    def scored(self, result: EvaluatedTrace) -> None:
        """Records that the trace is forwarded with its scores."""
        written = evaluation_attributes(result, capture_content=self._capture_content)
        self._written[result.trace.target.span_id] = written
        self.outcomes.append((str(result.status), ""))
        self._results.append(result)

    def queued(self, job: EvaluationJob) -> None:
        """Records that the trace is forwarded without scores, and that a worker evaluates it."""
        self.unscored(job.trace, EvaluationStatus.LATE, QUEUED, job.decision)
        self._jobs.append(queued(job))

    def reply(self, number: int, spans: Sequence[SpanRecord], *, last: bool) -> JobResults:
        """The first reply of a job of these spans."""
        places = {span.span_id: place for place, span in enumerate(spans)}
        records = {span.span_id: span for span in spans}
        return JobResults(
            number=number,
            attributes={places[span_id]: attribute_bytes(added) for span_id, added in self._written.items()},
            results=tuple(map(without_chunk_texts, self._results)),
            resources=_resources(self._results, records),
            outcomes=tuple(self.outcomes),
            jobs=tuple(self._jobs),
            last=last,
        )


class TraceEvaluator:
    """Evaluates assembled traces, several at a time."""

    def __init__(
        self,
        *,
        pipeline: Pipeline,
        hold_s: float,
        capture_content: bool,
        publishes: bool = False,
    ) -> None:
        """Without `capture_content` no text is written on spans.

        With `publishes` nothing is evaluated: the traces become jobs for workers.
        """
        self._publishes = publishes
        self._pipeline = pipeline
        self._capture_content = capture_content
        self._hold_s = hold_s

    async def evaluate(self, job: Job, reply: Callable[[JobResults], None]) -> None:
        """Evaluates a `HeldTrace`. Calls `reply` once, or twice if results are late. Never raises."""
        held: HeldTrace = job.work
        outcomes: tuple[tuple[str, str], ...] = ((str(EvaluationStatus.FAILED), "internal_error"),)
        try:
            spans = span_records(*held)
            records = {span.span_id: span for span in spans}
            read = [await self._pipeline.with_texts(each) for each in self._pipeline.rag_traces(list(records.values()))]
            found, chosen = await self._sort(records, read)
            if self._publishes:
                self._queue(found, chosen, records)
                chosen = []
            tasks = {asyncio.ensure_future(self._pipeline.evaluate(*each)): each for each in chosen}
            late = (await asyncio.wait(tasks, timeout=self._hold_s))[1] if tasks else set()
            for task, (trace, decision) in tasks.items():
                if task in late:
                    found.unscored(trace, EvaluationStatus.LATE, DEADLINE, decision)
                else:
                    found.scored(task.result())
            reply(found.reply(job.number, spans, last=not late))
            outcomes = ()
            if late:
                reply(await self._late(job.number, late, records))
        except Exception as error:  # noqa: BLE001 - the trace must be forwarded whatever fails
            logger.error("rag-otel: internal error while evaluating a trace", exc_info=error)
            reply(JobResults(number=job.number, outcomes=outcomes))

    def _queue(
        self,
        found: _Outcome,
        chosen: Iterable[tuple[RagTrace, SamplingDecision]],
        records: Mapping[str, SpanRecord],
    ) -> None:
        for trace, decision in chosen:
            if may_leave_the_process(trace):
                resource = dict(records[trace.target.span_id].resource)
                job = EvaluationJob(trace=trace, decision=decision, resource=resource, project=self._pipeline.project)
                found.queued(job)
            else:
                reason = str(UnevaluableReason.REDACTED)
                found.unscored(trace, EvaluationStatus.SKIPPED, reason, decision)

    async def _late(
        self, number: int, tasks: Iterable[asyncio.Future[EvaluatedTrace]], records: Mapping[str, SpanRecord]
    ) -> JobResults:
        results = [dataclasses.replace(each, status=EvaluationStatus.LATE) for each in await asyncio.gather(*tasks)]
        light = tuple(map(without_chunk_texts, results))
        return JobResults(number=number, results=light, resources=_resources(results, records))

    async def _sort(
        self, records: Mapping[str, SpanRecord], traces: Iterable[RagTrace]
    ) -> tuple[_Outcome, list[tuple[RagTrace, SamplingDecision]]]:
        """Returns the outcome of the traces that are not evaluated, and the list of those that are."""
        found = _Outcome(capture_content=self._capture_content)
        chosen: list[tuple[RagTrace, SamplingDecision]] = []
        for trace in traces:
            if semconv.STATUS in records[trace.target.span_id].attributes:
                found.outcomes.append((str(EvaluationStatus.SKIPPED), ALREADY))
                continue
            decision, reason = await self._pipeline.admit(trace, self._pipeline.decide(trace.target))
            if reason is None:
                chosen.append((trace, decision))
            else:
                found.unscored(trace, EvaluationStatus.SKIPPED, str(reason), decision)
        return found, chosen


def without_chunk_texts(result: EvaluatedTrace) -> EvaluatedTrace:
    """The result without what nobody needs who gets it: the texts and metadata of chunks that have ids. Quotes stand in
    the claims. They are most of what would travel between the processes, and be kept on disk."""
    said = result.trace.conversation
    conversation = Conversation(memory=_without_texts(said.memory), turns=_without_texts(said.turns))
    light = dataclasses.replace(result.trace, chunks=_without_texts(result.trace.chunks), conversation=conversation)
    return dataclasses.replace(result, trace=light)


def _without_texts(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(id=chunk.id, text="", position=chunk.position, score=chunk.score) if chunk.has_id else chunk
        for chunk in chunks
    )


def _resources(
    results: Iterable[EvaluatedTrace], records: Mapping[str, SpanRecord]
) -> dict[SpanRef, Mapping[str, Any]]:
    targets = [result.trace.target for result in results]
    return {target: dict(records[target.span_id].resource) for target in targets}
