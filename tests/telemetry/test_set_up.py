"""The default destinations of metrics and events, and the modules that `instrument()` imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import rag_otel
from rag_otel.settings import resolve
from testkit.http_receiver import Receiver
from tests.telemetry.kit import a_provider, answer, evaluate_answers, exported_events, exported_metrics, points

GLOBAL = """
import rag_otel
from opentelemetry import _logs, metrics
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from tests.telemetry.kit import evaluate_answers, points

evaluate_answers()
reader, exporter, logs = InMemoryMetricReader(), InMemoryLogRecordExporter(), LoggerProvider()
logs.add_log_record_processor(SimpleLogRecordProcessor(exporter))
metrics.set_meter_provider(MeterProvider([reader]))
_logs.set_logger_provider(logs)
evaluate_answers(2, sample_ratio=1.0, hold=9)
data = reader.get_metrics_data()
print([point.value for point in points(data, "rag_otel.evaluations")], len(exporter.get_finished_logs()))
print([point.value for point in points(data, "rag_otel.traces")])
"""

LOADED = """
import json, sys
import rag_otel
from opentelemetry.sdk.trace import TracerProvider
rag_otel.instrument(TracerProvider())
heavy = ("opentelemetry.sdk.metrics", "opentelemetry.sdk._logs", "prometheus_client",
         "opentelemetry.exporter.otlp.proto.http.metric_exporter", "rag_otel.telemetry.otlp",
         "rag_otel.telemetry.prometheus_families")
print(json.dumps([name for name in heavy if name in sys.modules]))
"""


def _run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=_path())
    assert done.returncode == 0, done.stderr
    return done.stdout


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def test_the_applications_own_providers_get_everything_by_default() -> None:
    """Also if they are set after `instrument()`. Evaluations before that are only in the counters."""
    evaluations, traces = _run(GLOBAL).splitlines()
    assert evaluations == "[2] 4"
    assert traces == "[3]"


def test_a_provider_of_the_argument_stands_in_for_the_global_one() -> None:
    """A provider passed to `instrument()` is used instead of the global provider."""
    reader, exporter, logs = InMemoryMetricReader(), InMemoryLogRecordExporter(), LoggerProvider()
    logs.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    evaluate_answers(meter_provider=MeterProvider([reader]), logger_provider=logs)
    assert [point.value for point in points(reader.get_metrics_data(), "rag_otel.evaluations")] == [1]
    assert [each.log_record.event_name for each in exporter.get_finished_logs()] == ["gen_ai.evaluation.result"] * 2


def test_what_is_not_asked_for_is_not_loaded() -> None:
    """The SDK's metrics and logs, exporters and prometheus-client are imported only if a setting needs them."""
    assert json.loads(_run(LOADED)) == []


def test_metrics_and_events_can_be_turned_off(receiver: Receiver) -> None:
    """With `none` nothing is recorded."""
    reader = InMemoryMetricReader()
    evaluate_answers(
        telemetry_exporter="none",
        meter_provider=MeterProvider([reader]),
    )
    assert reader.get_metrics_data() is None
    assert receiver.requests == []


def test_a_receiver_that_does_not_answer_is_not_waited_for(receiver: Receiver) -> None:
    """`flush` returns False because something was not exported, and calls continue normally."""
    provider, _ = a_provider()
    rag_otel.instrument(provider, telemetry=rag_otel.TelemetrySettings(exporter="otlp"))
    answer()
    assert rag_otel.flush(timeout=60)
    receiver.release.clear()
    assert answer()
    assert not rag_otel.flush(timeout=3)
    receiver.release.set()


def test_a_process_that_just_ends_has_told_of_its_last_answer(receiver: Receiver) -> None:
    """Without a call of `flush`, results are delivered and exported at exit."""
    _run(
        "import rag_otel\nfrom tests.telemetry.kit import a_provider, answer\n"
        "rag_otel.instrument(a_provider()[0], telemetry=rag_otel.TelemetrySettings(exporter='otlp'))\nanswer()\n"
    )
    (point,) = exported_metrics(receiver)["rag_otel.evaluation.score"].histogram.data_points
    assert point.count == 1
    assert len(exported_events(receiver)) == 2


def test_the_environment_names_the_settings() -> None:
    """The settings can be given as environment variables."""
    settings = resolve(
        {},
        {"RAG_OTEL_TELEMETRY_EXPORTER": "otlp", "RAG_OTEL_TELEMETRY_ADDRESS": "0.0.0.0:1"},
    ).settings
    assert (settings.telemetry.exporter, settings.telemetry.address) == ("otlp", "0.0.0.0:1")
