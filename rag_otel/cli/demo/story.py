"""The story that the demo tells: a week of questions, a cheaper model for the last three days of it.

The questions, passages and answers are real (examples/data). Only *when* they were asked and how long an answer took is
made up, by a span processor of the demo's own that moves spans into the past week. Every answer is judged with
coefficients that never saw its question.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import Event, ReadableSpan, Span, SpanProcessor

from rag_otel import semconv
from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, Evaluation
from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

BEFORE: Final = ("gpt-3.5-turbo-0613", "gpt-4-0613")
"""The good models, one after the other."""
AFTER: Final = "llama-2-7b-chat"
DAYS_AFTER: Final = 3
"""Whole days, in UTC as Phoenix's charts, that the second model answers; yesterday is the last."""
_HOUR_NS: Final = 3_600 * 10**9
_DAY_NS: Final = 24 * _HOUR_NS
_WORD_NS: Final = 20 * 10**6
"""What a word of an answer is said to have taken: a recorded answer takes no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryQuestion:
    """One question of the story."""

    question: str
    model: str
    at_ns: int
    """When it was asked, nanoseconds since the epoch."""
    hallucinated: bool
    """What people said of the recorded answer; the judge is not told."""


def examples_folder() -> Path:
    """`examples/` of the source checkout, or what the wheel holds of it. Raises ConfigurationError without either."""
    checkout, packaged = Path(__file__).parents[3] / "examples", Path(__file__).with_name("data")
    for folder in (checkout, packaged):
        if (folder / "data" / "ragtruth_qa_dev.jsonl").is_file():
            return folder
    raise ConfigurationError(f"the demo's data is neither in {checkout} nor in {packaged}: install rag-otel again")


def load_app(examples: Path) -> ModuleType:
    """The quickstart app, as a user's program would be imported."""
    spec = importlib.util.spec_from_file_location("quickstart_app", examples / "quickstart" / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def week(examples: Path, *, now_ns: int) -> list[StoryQuestion]:
    """The story's questions in the order of their times: the good models', then, from a midnight on, the cheap one's.

    They lie within the seven days that Phoenix shows at first, and end with yesterday: a chart's last point would else
    be the mean of the few answers since midnight.
    """
    rows = [json.loads(line) for line in (examples / "data" / "ragtruth_qa_dev.jsonl").read_text("utf-8").splitlines()]
    midnight_ns = now_ns - now_ns % _DAY_NS
    swap_ns = midnight_ns - DAYS_AFTER * _DAY_NS
    begin_ns = now_ns - 7 * _DAY_NS + _HOUR_NS
    middle_ns = (begin_ns + swap_ns) // 2
    return [
        *_spread(rows, BEFORE[0], begin_ns, middle_ns),
        *_spread(rows, BEFORE[1], middle_ns, swap_ns),
        *_spread(rows, AFTER, swap_ns, midnight_ns),
    ]


def _spread(rows: Sequence[dict[str, Any]], model: str, start_ns: int, end_ns: int) -> list[StoryQuestion]:
    """The recorded answers of one model, evenly over a stretch of time."""
    answered = [row for row in rows if row["model"] == model]
    step = (end_ns - start_ns) // len(answered)
    return [
        StoryQuestion(
            question=row["question"],
            model=model,
            at_ns=start_ns + number * step + step // 2,
            hallucinated=bool(row["label"]),
        )
        for number, row in enumerate(answered)
    ]


class OutOfFoldFaithfulness:
    """Faithfulness whose coefficients never saw the question that they judge (`OutOfFold`)."""

    def __init__(self, examples: Path) -> None:
        folds = OutOfFold.load(examples / "data" / "out_of_fold.json")
        rows = [json.loads(line) for line in (examples / "data" / "ragtruth_qa_dev.jsonl").open(encoding="utf-8")]
        self._by_question = {row["question"]: Faithfulness(judge=folds.judge_for(row["source_id"])) for row in rows}
        self._any = next(iter(self._by_question.values()))

    @property
    def name(self) -> str:
        return self._any.name

    @property
    def version(self) -> str:
        return self._any.version

    @property
    def judge_name(self) -> str:
        return self._any.judge_name

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        judge = self._by_question[question or ""]
        return await judge.evaluate(question=question, chunks=chunks, response=response, reference=reference)


class TimeShift(SpanProcessor):
    """Moves every trace that starts to `now_ns` before it goes on to `inner`."""

    def __init__(self, inner: SpanProcessor) -> None:
        self._inner = inner
        self.now_ns = 0
        """The demo's clock: when the next trace is said to start, nanoseconds since the epoch."""
        self._shift_ns: dict[int, int] = {}
        """By trace id."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        started = span.start_time or self.now_ns
        self._shift_ns.setdefault(span.context.trace_id, self.now_ns - started)
        self._inner.on_start(span, parent_context)

    def on_end(self, span: ReadableSpan) -> None:
        self._inner.on_end(_shifted(span, self._shift_ns.get(span.context.trace_id, 0)))

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)


def _shifted(span: ReadableSpan, by_ns: int) -> ReadableSpan:
    duration_ns = (span.end_time or 0) - (span.start_time or 0)
    attributes = span.attributes or {}
    judged = attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR
    words = 0 if judged else len(str(attributes.get(semconv.OUTPUT_VALUE, "")).split())
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=span.attributes,
        events=[Event(event.name, event.attributes, event.timestamp + by_ns) for event in span.events],
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=(span.start_time or 0) + by_ns,
        end_time=(span.start_time or 0) + by_ns + max(duration_ns, words * _WORD_NS),
        instrumentation_scope=span.instrumentation_scope,
    )
