"""A real provider, pipeline and delivery around a judge that does as it is told, and application spans to feed them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Tracer

from rag_otel import semconv
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.model import Chunk, EvaluatedTrace, Evaluation
from rag_otel.observing.call_snapshot import Snapshot, hand_over
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Writer
from rag_otel.sampling.amount import EvaluationCap, RatioSampler
from rag_otel.settings import Settings
from rag_otel.setup.runtime import Runtime
from rag_otel.telemetry.telemetry import Telemetry
from rag_otel_collectors.conventions import default_conventions
from testkit.settings import grouped

SCORE = "rag.evaluation.faithfulness.score"
STATUS = semconv.STATUS
REASON = semconv.STATUS_REASON


class Judge:
    """Scores every answer 1, once its gate is open; raises or blocks its thread where it is told to."""

    name = "faithfulness"
    version = "1"
    judge_name = "scripted"

    def __init__(self) -> None:
        self.gate = threading.Event()
        """Closed: evaluations wait, as they would for a model's answer."""
        self.gate.set()
        self.block = threading.Event()
        """Cleared: evaluations hold up the worker's thread itself, as no evaluator should."""
        self.block.set()
        self.error: BaseException | None = None
        self.seen: list[dict[str, Any]] = []

    async def evaluate(self, **given: Any) -> Evaluation:
        self.seen.append(given)
        self.block.wait(60)
        while not self.gate.is_set():
            await asyncio.sleep(0.002)
        if self.error is not None:
            raise self.error
        return Evaluation(name=self.name, score=1.0, risk=0.1, label="faithful", judge=self.judge_name)


class Results:
    """A writer that keeps what it is given."""

    name = "results"

    def __init__(self) -> None:
        self.all: list[EvaluatedTrace] = []

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        self.all.extend(batch)


class Exported(SpanExporter):
    """The exporter: what has left the process. `answers` may hold it up."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []
        self.closed = 0
        self.open = threading.Event()
        self.open.set()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.open.wait(60)
        self.spans.extend(spans)
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self.closed += 1

    def names(self) -> list[str]:
        """Names of the spans in the order in which they left."""
        return [span.name for span in self.spans]

    def one(self, name: str) -> ReadableSpan:
        """The only span of this name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span


class Direct(SpanProcessor):
    """A processor that passes ended spans to its exporter at once, whatever their flags, and counts its calls."""

    def __init__(self, exporter: Exported) -> None:
        self.exporter = exporter
        self.started: list[str] = []
        self.flushed: list[int] = []
        self.closed = 0

    def on_start(self, span: Span, parent_context: Any = None) -> None:
        self.started.append(span.name)

    def on_end(self, span: ReadableSpan) -> None:
        if not self.closed:
            self.exporter.export((span,))

    def shutdown(self) -> None:
        self.closed += 1

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        self.flushed.append(timeout_millis)
        return True


@dataclass(kw_only=True)
class Bench:
    """A runtime and what it is made of."""

    judge: Judge = field(default_factory=Judge)
    results: Results = field(default_factory=Results)
    cap: EvaluationCap | None = None
    ratio: float = 1.0
    writers: Sequence[Writer] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    runtime: Runtime = field(init=False)

    def __post_init__(self) -> None:
        self.runtime = Runtime(
            settings=Settings(**grouped(**self.settings)),
            pipeline=Pipeline(
                conventions=default_conventions(),
                sampler=RatioSampler(self.ratio),
                evaluators=(self.judge,),
                cap=self.cap,
            ),
            delivery=Dispatcher([self.results, *self.writers]),
            worker=BackgroundWorker(),
            telemetry=Telemetry((), ()),
        )


def batching(exporter: SpanExporter, **sizes: Any) -> BatchSpanProcessor:
    """A batch processor that exports only when flushed, so that tests see what a flush does."""
    return BatchSpanProcessor(exporter, schedule_delay_millis=600_000, **sizes)


def tracer(provider: TracerProvider) -> Tracer:
    """The tracer of observed calls."""
    return provider.get_tracer(semconv.SCOPE)


@contextmanager
def observed(
    provider: TracerProvider,
    name: str = "answer",
    *,
    question: str = "What does the moon orbit?",
    response: str | None = "The moon orbits the earth.",
    chunks: Sequence[str] | None = ("The moon orbits the earth once a month.",),
    **more: Any,
) -> Iterator[Span]:
    """An observed call, as the decorator makes it: span, attributes, snapshot handed over as it ends."""
    attributes = {semconv.SPAN_KIND: semconv.KIND_CHAIN, semconv.INPUT_VALUE: question}
    with tracer(provider).start_as_current_span(name, attributes=attributes, end_on_exit=False) as span:
        yield span  # type: ignore[misc]
    if response is not None:
        span.set_attribute(semconv.OUTPUT_VALUE, response)
    taken = None if chunks is None else tuple(Chunk(id=str(n), text=c, position=n) for n, c in enumerate(chunks))
    hand_over(span, Snapshot(question=question, response=response, chunks=taken, **more), 0)
    span.end()


def retrieve(provider: TracerProvider, *texts: str, name: str = "retrieve") -> None:
    """A retriever's span, as OpenInference instrumentations make it."""
    with provider.get_tracer("openinference.instrumentation.langchain").start_as_current_span(name) as span:
        span.set_attribute(semconv.SPAN_KIND, semconv.KIND_RETRIEVER)
        span.set_attribute(semconv.INPUT_VALUE, "What does the moon orbit?")
        for n, text in enumerate(texts):
            span.set_attribute(f"{semconv.DOCUMENTS}.{n}.{semconv.DOCUMENT_CONTENT}", text)


@contextmanager
def chain(provider: TracerProvider, name: str = "chain") -> Iterator[Span]:
    """An instrumented framework's outermost span."""
    with provider.get_tracer("openinference.instrumentation.langchain").start_as_current_span(name) as span:
        span.set_attribute(semconv.SPAN_KIND, semconv.KIND_CHAIN)
        span.set_attribute(semconv.INPUT_VALUE, "What does the moon orbit?")
        yield span  # type: ignore[misc]
        span.set_attribute(semconv.OUTPUT_VALUE, "The moon orbits the earth.")


def attribute(span: ReadableSpan, name: str) -> Any:
    """An attribute of a span, None where it has none of that name."""
    return (span.attributes or {}).get(name)
