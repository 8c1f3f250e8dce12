"""The writers in examples/backends send what the products document, over HTTP to a real server."""

from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rag_otel.errors import RetryableError
from testkit.http_receiver import http_receiver
from tests.support.results import SECRET_TEXTS, a_result

FOLDER = Path(__file__).parents[2] / "examples" / "backends"
TEXT = {"type": "string", "minLength": 1}
NUMBER = {"type": "number"}


def schema_of(**properties: Any) -> dict[str, Any]:
    """An object with exactly these properties, where all but `comment` and `reasoning` are required."""
    required = [name for name in properties if name not in ("comment", "reasoning")]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


LANGFUSE_SCORE = schema_of(
    id=TEXT,
    traceId={"type": "string", "pattern": "^[0-9a-f]{32}$"},
    observationId={"type": "string", "pattern": "^[0-9a-f]{16}$"},
    name=TEXT,
    value=NUMBER,
    dataType={"enum": ["NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT"]},
    comment={"type": ["string", "null"]},
    metadata={"type": "object"},
)
DECIMAL = {"type": "string", "pattern": "^[0-9]+$"}
DATADOG_METRIC = schema_of(
    join_on=schema_of(span=schema_of(trace_id=DECIMAL, span_id=DECIMAL)),
    ml_app=TEXT,
    timestamp_ms={"type": "integer", "minimum": 1_600_000_000_000},
    metric_type={"enum": ["score", "categorical", "boolean", "json"]},
    label={"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]{0,199}$"},
    score_value=NUMBER,
    tags={"type": "array", "contains": {"const": "source:otel"}},
    reasoning=TEXT,
)
DATADOG_REQUEST = schema_of(
    data=schema_of(
        type={"const": "evaluation_metric"},
        attributes=schema_of(metrics={"type": "array", "minItems": 1, "items": DATADOG_METRIC}),
    )
)


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_scores_for_langfuse() -> None:
    """Score and risk, with ids that stay the same when the batch is sent again."""
    result = a_result()
    with http_receiver() as receiver:
        writer = example("langfuse_scores").LangfuseScores(receiver.url, public_key="pk", secret_key="sk")
        writer.write([result])
        writer.write([result])
    bodies = [json.loads(request.body) for request in receiver.requests]
    for request, body in zip(receiver.requests, bodies, strict=True):
        Draft202012Validator(LANGFUSE_SCORE).validate(body)
        assert request.path == "/api/public/scores"
        assert request.headers["authorization"] == "Basic " + base64.b64encode(b"pk:sk").decode()
    assert [body["name"] for body in bodies] == ["faithfulness", "hallucination_risk"] * 2
    assert {body["traceId"] for body in bodies} == {result.trace.target.trace_id}
    assert len({body["id"] for body in bodies}) == 2


def test_evaluations_for_datadog() -> None:
    """One request for the batch, ids as decimal numbers."""
    result = a_result()
    with http_receiver() as receiver:
        example("datadog_evaluations").DatadogEvaluations(api_key="k", ml_app="docs", site=receiver.url).write([result])
    (request,) = receiver.requests
    body = json.loads(request.body)
    Draft202012Validator(DATADOG_REQUEST).validate(body)
    assert (request.path, request.headers["dd-api-key"]) == ("/api/intake/llm-obs/v2/eval-metric", "k")
    score, risk = body["data"]["attributes"]["metrics"]
    assert (score["label"], risk["label"], risk["score_value"]) == ("faithfulness", "hallucination_risk", 0.93)
    assert int(score["join_on"]["span"]["span_id"]) == int(result.trace.target.span_id, 16)


@pytest.mark.parametrize("hidden_by_call", [True, False])
def test_hidden_content_is_not_sent(hidden_by_call: bool) -> None:
    """Neither where the call hides its content nor where the writer is told to."""
    result = a_result(capture_content=not hidden_by_call)
    with http_receiver() as receiver:
        for name, made in (
            ("langfuse_scores", {"address": receiver.url, "public_key": "pk", "secret_key": "sk"}),
            ("datadog_evaluations", {"site": receiver.url, "api_key": "k", "ml_app": "docs"}),
        ):
            module = example(name)
            kind = getattr(module, {"langfuse_scores": "LangfuseScores"}.get(name, "DatadogEvaluations"))
            kind(**made, capture_content=hidden_by_call).write([result])
    told = b"".join(request.body for request in receiver.requests).decode()
    assert "2 of 3 claims unsupported" in told
    assert [text for text in SECRET_TEXTS if text in told] == []


def test_a_server_in_trouble_is_tried_again_later() -> None:
    """The writer's error is retryable, so rag-otel keeps the batch."""
    with http_receiver() as receiver:
        receiver.answers = [(503, {"Retry-After": "7"})]
        writer = example("langfuse_scores").LangfuseScores(receiver.url, public_key="pk", secret_key="sk")
        with pytest.raises(RetryableError) as raised:
            writer.write([a_result()])
    assert raised.value.retry_after_s == 7
