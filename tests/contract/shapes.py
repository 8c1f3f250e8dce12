"""Runs the four deployment shapes with parts that a test chooses, so that their results can be compared.

The trace is an OpenInference chain over a retriever. Every shape is the product's own code from the spans to the
result; only the two ends (an SDK provider, a request, a store, a row) are the test's.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

from rag_otel import semconv
from rag_otel.budgets.run import RunBudget
from rag_otel.cli.inspect import print_traces
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.model import Chunk, EvaluatedTrace, Evaluation, RagTrace, SamplingDecision
from rag_otel.pipeline import Pipeline
from rag_otel.processing.processor import RagSpanProcessor
from rag_otel.protocols import Evaluator
from rag_otel.settings import Settings
from rag_otel.setup.runtime import Runtime
from rag_otel.telemetry.telemetry import Telemetry
from rag_otel_collectors.backfill.engine import Backfill, Spans, Tally
from rag_otel_collectors.otlp.evaluation.messages import Job, JobResults
from rag_otel_collectors.otlp.evaluation.trace_evaluator import HeldTrace, TraceEvaluator
from rag_otel_collectors.otlp.requests.span_records import attributes_from
from rag_otel_collectors.otlp.requests.wire import split
from rag_otel_collectors.stored.assembly import AssembledTrace
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.rows import evaluate_rows
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from tests.collectors.conventions.spans import ANSWER, OI_SCOPE, PARIS, QUESTION, a_chain, a_retriever
from tests.processing.kit import Direct, Exported, chain, retrieve


@dataclass(kw_only=True)
class Seen:
    """The results of a shape."""

    results: list[EvaluatedTrace] = field(default_factory=list)
    statuses: list[tuple[str, str | None]] = field(default_factory=list)
    """(`rag.evaluation.status`, its reason) of each target span that left, in order; empty for a backfill."""


# --- evaluation -------------------------------------------------------------------------------------------------


def processor(pipeline: Pipeline, traces: Sequence[bool] = (True,)) -> Seen:
    """In process, one trace after the other. False in `traces`: a trace without an answer, which is not evaluable."""
    seen, exported, provider = Seen(), Exported(), TracerProvider()

    class Keep:
        name = "keep"

        def write(self, batch: Sequence[EvaluatedTrace]) -> None:
            seen.results.extend(batch)

    runtime = Runtime(
        settings=Settings(),
        pipeline=pipeline,
        delivery=Dispatcher([Keep()]),
        worker=BackgroundWorker(),
        telemetry=Telemetry((), ()),
    )
    attached = RagSpanProcessor(Direct(exported), runtime=runtime)
    provider.add_span_processor(attached)
    for evaluable in traces:
        with chain(provider) if evaluable else _chain_without_answer(provider):
            retrieve(provider, PARIS)
        assert attached.wait_until_evaluated(30)
    assert runtime.delivery.flush(30)
    provider.shutdown()
    seen.statuses = [_status(span.attributes or {}) for span in exported.spans if span.name == "chain"]
    return seen


def collector(pipeline: Pipeline, traces: Sequence[bool] = (True,)) -> Seen:
    """An evaluation process of the collector, one assembled trace after the other."""
    seen = Seen()
    evaluator = TraceEvaluator(pipeline=pipeline, hold_s=30, capture_content=True)
    for number, evaluable in enumerate(traces):
        trace_id = bytes([number + 1]) * 16
        slices = split(a_request(*a_rag_trace(trace_id, answer="x" if evaluable else "")).SerializeToString())
        job = Job(number=number, work=HeldTrace(trace_id.hex(), tuple(slices)))
        replies: list[JobResults] = []
        asyncio.run(evaluator.evaluate(job, replies.append))
        (reply,) = replies
        seen.results += reply.results
        for added in reply.attributes.values():
            span = a_span(trace_id)
            span.MergeFromString(added)
            seen.statuses.append(_status(attributes_from(span.attributes)))
    return seen


def backfill(pipeline: Pipeline) -> Seen:
    """A stored trace, in a store that has no scores and keeps the results."""
    seen, tally = Seen(), Tally()

    class Store:
        def batches(self) -> Iterator[list[Spans]]:
            yield [_stored_trace()]

        def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
            return [tuple(each.name for each in pipeline.evaluators) for _ in traces]

        def write(self, results: Sequence[EvaluatedTrace]) -> None:
            pass  # failures are not written, so results are kept as they come

        def settle(self) -> None:
            pass

        def skip(self, traces: Sequence[RagTrace]) -> None:
            pass

    async def evaluate(trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        seen.results.append(await pipeline.evaluate(trace, decision))
        return seen.results[-1]

    asyncio.run(Backfill(store=Store(), pipeline=pipeline, budget=RunBudget(), evaluate=evaluate).run(tally))
    return seen


def files(evaluators: Sequence[Evaluator], *, timeout_s: float) -> list[Evaluation]:
    """A row of a file."""
    row = Row(number=1, values={}, question=QUESTION, chunks=(Chunk(id="0", text=PARIS, position=0),), response=ANSWER)
    (result,) = evaluate_rows([row], evaluators, timeout_s=timeout_s)
    return list(result.evaluations)


# --- reading ----------------------------------------------------------------------------------------------------


def inspected(pipeline: Pipeline) -> list[dict[str, object]]:
    """The lines that `rag-otel inspect` prints for a stored trace."""
    spans = _stored_trace()
    out = io.StringIO()
    with redirect_stdout(out):
        print_traces([AssembledTrace(trace_id=spans[0].trace_id, spans=tuple(spans))], pipeline, explain=False)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def _stored_trace() -> Spans:
    root = a_chain()
    return [root, a_retriever(PARIS, parent=root)]


@contextmanager
def _chain_without_answer(provider: TracerProvider) -> Iterator[None]:
    with provider.get_tracer(OI_SCOPE).start_as_current_span("chain") as span:
        span.set_attribute(semconv.SPAN_KIND, semconv.KIND_CHAIN)
        span.set_attribute(semconv.INPUT_VALUE, QUESTION)
        yield
        span.set_attribute(semconv.OUTPUT_VALUE, "")


def _status(attributes: Mapping[str, Any]) -> tuple[str, str | None]:
    return attributes[semconv.STATUS], attributes.get(semconv.STATUS_REASON)
