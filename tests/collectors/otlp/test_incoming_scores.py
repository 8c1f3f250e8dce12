"""Scores that spans bring along: believed only where no stranger can send."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_otel_collectors.otlp.requests.wire import attribute_bytes
from rag_otel_collectors.otlp.settings import configure
from testkit.collector import a_backend, a_collector
from testkit.otlp_requests import a_rag_trace, a_request

FORGED = {
    "rag.evaluation.status": "evaluated",
    "rag.evaluation.faithfulness.score": 1.0,
    "rag.evaluation.faithfulness.label": "forged",
    "rag.sampling.probability": 1e-7,
    "rag.guard.outcome": "passed",
}


@pytest.mark.parametrize(
    ("arguments", "trusted"),
    [
        ({}, True),
        ({"grpc": "", "http": "localhost:0"}, True),
        ({"http": "0.0.0.0:4318"}, False),
        ({"grpc": "[::]:4317"}, False),
        ({"http": "0.0.0.0:4318", "api_keys": "made-up"}, True),
        ({"http": "0.0.0.0:4318", "trust_incoming_scores": "true"}, True),
        ({"trust_incoming_scores": "false"}, False),
    ],
)
def test_the_default_is_who_can_send(arguments: dict[str, str], trusted: bool) -> None:
    made = configure({"backend": "http://127.0.0.1:9", **arguments}, environ={})
    assert made.collector.trusts_incoming_scores is trusted


@pytest.mark.parametrize("trusted", [True, False])
def test_a_forged_score_neither_prevents_an_evaluation_nor_is_stored(tmp_path: Path, trusted: bool) -> None:
    """With trust the trace is left alone, as one that its application evaluated."""
    trace = a_rag_trace()
    trace[-1].MergeFromString(attribute_bytes(FORGED))
    with (
        a_backend() as backend,
        a_collector(tmp_path, "--backend", backend.address, "--set", f"trust_incoming_scores={trusted}") as collector,
    ):
        collector.export(a_request(*trace))
        collector.stop()
    (found,) = backend.attributes(trace[-1].name)
    assert (found["rag.evaluation.faithfulness.label"] == "forged") is trusted
    assert ("rag.guard.outcome" in found) is trusted
    assert found["rag.evaluation.status"] == "evaluated"
