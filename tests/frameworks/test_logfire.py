"""Logfire's SDK as the application's OpenTelemetry: spans leave scored, events and metrics arrive, nothing configured.

Logfire sets proxies as global providers, exchanges what is behind them, and drops what arrives in a suppressed context.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.server

APP = """
import json, sys

import logfire
import rag_otel
from logfire import AdvancedOptions, MetricsOptions
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

STATUS = "rag.evaluation.status"
exporters, readers = [], []  # of each configuration: Logfire shuts the earlier ones down


def configure():
    logs, spans, metrics = InMemoryLogRecordExporter(), InMemorySpanExporter(), InMemoryMetricReader()
    exporters.append((spans, logs))
    readers.append(metrics)
    logfire.configure(
        send_to_logfire=False,
        console=False,
        inspect_arguments=False,
        metrics=MetricsOptions(additional_readers=[metrics]),
        additional_span_processors=[SimpleSpanProcessor(spans)],
        advanced=AdvancedOptions(log_record_processors=[SimpleLogRecordProcessor(logs)]),
    )


@rag_otel.observe
def answer(question):
    return {"answer": "It is 300 metres high.", "documents": ["The tower is 330 metres high."]}


for step in sys.argv[1:]:
    {"configure": configure, "instrument": rag_otel.instrument, "ask": lambda: answer("How high is it?")}[step]()
with logfire.span("after"):
    assert rag_otel.flush(timeout=60)
found = readers[-1].get_metrics_data()
scopes = [scope for resource in (found.resource_metrics if found else ()) for scope in resource.scope_metrics]
print(json.dumps({
    "spans": [[s.name, s.attributes.get(STATUS)] for e, _ in exporters for s in e.get_finished_spans()],
    "events": [[l.log_record.event_name, l.log_record.attributes] for _, e in exporters for l in e.get_finished_logs()],
    "metrics": [metric.name for scope in scopes for metric in scope.metrics],
}, default=dict))
"""


@pytest.mark.parametrize(
    ("steps", "answers"),
    [
        ("configure instrument ask", 1),
        ("instrument configure ask", 1),
        ("instrument ask configure ask", 1),
        ("configure instrument ask configure ask", 2),
    ],
)
def test_an_application_with_logfire(tmp_path: Path, steps: str, answers: int) -> None:
    """In every order of set-up, also where Logfire is configured again; what came before Logfire had nowhere to go."""
    (tmp_path / "app.py").write_text(APP)
    done = subprocess.run(
        [sys.executable, "app.py", *steps.split()], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["spans"] == [*[["answer", "evaluated"]] * answers, ["after", None]], done.stderr
    names = [event[0] for event in seen["events"]]
    assert names.count("gen_ai.evaluation.result") >= 2 * answers
    attributes = seen["events"][-1][1]
    assert attributes["gen_ai.evaluation.target"] == "answer"
    assert attributes["gen_ai.evaluation.name"] in ("faithfulness", "hallucination_risk")
    # Logfire does not move the instruments of others to the meter provider of a second configuration.
    assert ("rag_otel.evaluation.score" in seen["metrics"]) == (answers == 1)
