"""`rag-otel demo --model NAME`: the same app with a language model of your own that answers and judges, live."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic import BaseModel, Field

import rag_otel
from rag_otel import semconv
from rag_otel.cli.demo.story import load_app
from rag_otel.cli.terminal import progress, table
from rag_otel.errors import InputError
from rag_otel.model import EvaluatedTrace
from rag_otel.writers.attributes import unsupported
from rag_otel.writers.memory import MemoryWriter
from rag_otel.writers.phoenix_links import trace_link
from rag_otel_evaluators.judges.language_model import language_model
from rag_otel_evaluators.llm.structured import Message
from rag_otel_evaluators.sync import run_sync

PROJECT: Final = "rag-otel-demo-live"
API_BASE_ENV: Final = "RAG_OTEL_JUDGE_API_BASE"
_WAIT_S: Final = 600.0
_PER_MINUTE: Final = 120.0
_INSTRUCTION: Final = (
    "Answer the question in a few sentences from the passages alone. Where they do not hold the answer, say so."
)


class _Answer(BaseModel):
    answer: str = Field(description="The answer to the question, in plain text.")


class LiveModel:
    """What the quickstart app calls a model: answers from passages, by a real one."""

    def __init__(self, name: str) -> None:
        self._model = language_model(name, api_base=os.environ.get(API_BASE_ENV))

    def complete(self, model: str, question: str, passages: Sequence[Mapping[str, Any]]) -> str:
        """One answer. Raises RetryableError or PermanentError as the model's client does, InputError for none."""
        listed = "\n\n".join(f"[{passage['id']}] {passage['text']}" for passage in passages)
        messages = [
            Message(role="system", content=_INSTRUCTION),
            Message(role="user", content=f"<passages>\n{listed}\n</passages>\n<question>\n{question}\n</question>"),
        ]
        completion = run_sync(self._model.complete(messages, _Answer))
        if completion.value is None:
            raise InputError(f"{model} gave no readable answer: {'; '.join(completion.problems)}")
        return completion.value.answer


def tell_live(examples: Path, base_url: str, *, model: str, questions: int) -> list[EvaluatedTrace]:
    """Ask the first `questions` questions; `model` answers each and judges its own answer. Costs real money where the
    model does. Raises ConfigurationError for a model that cannot be set up."""
    provider = TracerProvider(
        resource=Resource.create({semconv.PROJECT_NAME: PROJECT, semconv.SERVICE_NAME: "quickstart"})
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{base_url}/v1/traces")))
    memory = MemoryWriter()
    rag_otel.instrument(
        provider,
        judge=model,
        writers=[memory],
        phoenix_endpoint=base_url,
        project_name=PROJECT,
        evaluations_per_minute=_PER_MINUTE,
        spans=rag_otel.SpanSettings(hold=_WAIT_S),
    )
    try:
        app = load_app(examples)
        app.models = LiveModel(model)  # type: ignore[attr-defined]
        asked = list(itertools.islice(_questions(examples), questions))
        for question in progress(asked, total=len(asked), description="answering and judging"):
            app.answer(question, model)
        rag_otel.flush(timeout=_WAIT_S)
    finally:
        rag_otel.uninstrument()
        provider.shutdown()
    return memory.results


def live_report(results: Sequence[EvaluatedTrace], *, base_url: str) -> str:
    """A row an answer: score, risk, calls and tokens of the judge, the first unsupported claim, the link."""
    rows = []
    for result in results:
        evaluation = result.evaluations[0]
        tokens = 0 if evaluation.usage is None else evaluation.usage.input_tokens + evaluation.usage.output_tokens
        wrong = unsupported(evaluation)
        said = wrong[0].claim.text if wrong else (evaluation.reason_code or "")
        rows.append(
            (
                "-" if evaluation.score is None else f"{evaluation.score:.2f}",
                "-" if evaluation.risk is None else f"{evaluation.risk:.2f}",
                str(tokens),
                " ".join(said.split())[:60],
                trace_link(base_url, result.trace.target.trace_id),
            )
        )
    return table(rows, header=("score", "risk", "tokens", "first unsupported claim", "trace"))


def _questions(examples: Path) -> list[str]:
    rows = [json.loads(line) for line in (examples / "data" / "ragtruth_qa_dev.jsonl").read_text("utf-8").splitlines()]
    return list(dict.fromkeys(row["question"] for row in rows))
