"""The delivery that is made with the first result: nothing is lost on the way, and nothing is made in vain."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel import AlertSettings, DriftSettings
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.delivery.late import LateDelivery
from rag_otel.errors import ConfigurationError
from rag_otel.processing.processor import RagSpanProcessor
from tests.delivery.test_dispatcher import QUICK, RecordingWriter
from tests.processing.kit import Bench, Direct, Exported, observed
from tests.support.results import a_result

WATCHING = (
    "import json, sys\n"
    "print(json.dumps(sorted(n for n in sys.modules if n.startswith(('rag_otel.drift', 'rag_otel.alerts')))))\n"
)


class Made:
    """Makes a dispatcher once `may` is set."""

    def __init__(self) -> None:
        self.may = threading.Event()
        self.writer = RecordingWriter()
        self.count = 0

    def __call__(self) -> Dispatcher:
        self.may.wait(60)
        self.count += 1
        return Dispatcher([self.writer], policy=QUICK)


def test_results_that_come_while_it_is_made_arrive_in_order() -> None:
    made = Made()
    delivery = LateDelivery(made)
    results = [a_result() for _ in range(3)]
    delivery.submit(results[0])
    delivery.submit(results[1])
    assert not delivery.flush(0.0)
    made.may.set()
    assert delivery.flush(60)
    delivery.submit(results[2])
    assert delivery.flush(60)
    assert made.writer.results == results
    assert made.count == 1
    delivery.shutdown(60)


def test_nothing_is_made_without_a_result() -> None:
    made = Made()
    delivery = LateDelivery(made)
    delivery.start()
    assert delivery.flush(0.0)
    delivery.shutdown(0.0)
    delivery.submit(a_result())
    assert made.count == 0


def test_traces_without_any_result_are_watched_too() -> None:
    made = Made()
    made.may.set()
    delivery = LateDelivery(made)
    for _ in range(20):
        delivery.start()
    assert delivery.flush(60)
    assert made.count == 1
    delivery.shutdown(60)


def test_the_processor_tells_of_every_trace_until_the_delivery_runs() -> None:
    """None of them can be evaluated, so no result ever comes."""
    made = Made()
    made.may.set()
    bench, provider = Bench(), TracerProvider()
    runtime = dataclasses.replace(bench.runtime, delivery=LateDelivery(made))
    provider.add_span_processor(RagSpanProcessor(Direct(Exported()), runtime=runtime))
    for _ in range(20):
        with observed(provider, chunks=None):
            pass
    assert runtime.delivery.flush(60)
    assert made.count == 1
    runtime.close(60)


def test_a_forked_child_starts_empty() -> None:
    made = Made()
    delivery = LateDelivery(made)
    delivery.submit(a_result())
    delivery.after_fork()
    assert delivery.flush(0.0)
    made.may.set()


def test_instrumenting_loads_nothing_that_watches_results() -> None:
    code = "import rag_otel\nrag_otel.instrument()\n" + WATCHING
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"alerts": AlertSettings(rules=["faithfulness <"])}, "faithfulness <"),
        ({"alerts": AlertSettings(quiet_hours=["25:00-26:00"])}, "25:00"),
        ({"drift": DriftSettings(baseline="no_such_file.json")}, "baseline"),
        ({"drift": DriftSettings(judge_anchors="no_such_file.json")}, "anchors"),
    ],
)
def test_what_is_wrong_with_what_watches_is_said_at_once(given: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        rag_otel.instrument(**given)  # type: ignore[arg-type]
