"""Traffic with something to see: the quickstart app, asked again and again, exporting plain OTLP.

    OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 python docker/example/traffic.py --per-second 2

It judges nothing itself: that is the collector's part. Which model answers stands in a file, read before each question;
write another name into it and you have swapped the model under traffic:

    echo llama-2-7b-chat > /tmp/model
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import rag_otel

EXAMPLES = Path(__file__).parents[2] / "examples"
FIRST_MODEL = "gpt-4-0613"


def quickstart() -> ModuleType:
    """The app of examples/quickstart, as if it were installed."""
    spec = importlib.util.spec_from_file_location("quickstart_app", EXAMPLES / "quickstart" / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TracedModels:
    """The app's models, each call a span with the model's name: what an instrumentation of their client would do."""

    def __init__(self, models: Any) -> None:
        self._models = models
        self._tracer = trace.get_tracer("openinference.instrumentation.quickstart")

    def complete(self, model: str, question: str, passages: Sequence[Mapping[str, Any]]) -> str:
        """The answer of `model`."""
        with self._tracer.start_as_current_span("complete") as span:
            answer: str = self._models.complete(model, question, passages)
            span.set_attributes(
                {
                    "openinference.span.kind": "LLM",
                    "llm.model_name": model,
                    "input.value": question,
                    "output.value": answer,
                }
            )
        return answer


def answered() -> dict[str, list[str]]:
    """Model -> the questions that it answered."""
    found: dict[str, list[str]] = {}
    for line in (EXAMPLES / "data" / "ragtruth_qa_dev.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        found.setdefault(record["model"], []).append(record["question"])
    return found


def chosen_model(file: Path) -> str:
    """The name in `file`; the first model where there is no file."""
    return (file.read_text("utf-8").strip() if file.exists() else "") or FIRST_MODEL


def main() -> None:
    """Ask until SIGTERM, then export what is left."""
    parser = argparse.ArgumentParser(description="Asks the quickstart app again and again, and exports OTLP.")
    parser.add_argument("--per-second", type=float, default=2.0, help="questions a second (default: 2)")
    parser.add_argument("--model-file", type=Path, default=Path("/tmp/model"), help="which model answers")
    arguments = parser.parse_args()
    stop = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    provider = TracerProvider(resource=Resource.create({"service.name": "quickstart"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=500))
    trace.set_tracer_provider(provider)
    rag_otel.instrument(enabled=False)  # spans are made, nothing is judged here
    app, questions = quickstart(), answered()
    app.models = TracedModels(app.models)  # type: ignore[attr-defined]
    for number in itertools.count():
        model = chosen_model(arguments.model_file)
        asked = questions[model]
        app.answer(asked[number % len(asked)], model=model)
        if stop.wait(1 / arguments.per_second):
            break
    provider.shutdown()


if __name__ == "__main__":
    main()
