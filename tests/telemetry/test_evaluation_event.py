"""The standard event, field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

from rag_otel.model import EvaluatedTrace
from rag_otel.telemetry.evaluation_event import EvaluationEventWriter
from tests.support.results import SECRET_TEXTS, a_result, an_evaluation


def _events(result: EvaluatedTrace, **options: Any) -> list[Any]:
    exporter, provider = InMemoryLogRecordExporter(), LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    EvaluationEventWriter(lambda: provider.get_logger("test"), **options).write([result])
    return [each.log_record for each in exporter.get_finished_logs()]


def test_a_score_is_an_event_of_its_span() -> None:
    """Name, score, label and explanation use the names of the GenAI conventions. The record has the ids of the span."""
    result = a_result(response_id="chatcmpl-7", session_id="chat-1")
    score, risk = _events(result)
    assert score.event_name == risk.event_name == "gen_ai.evaluation.result"
    assert f"{score.trace_id:032x}" == result.trace.target.trace_id
    assert f"{score.span_id:016x}" == result.trace.target.span_id
    assert score.trace_flags == 1
    assert dict(score.attributes) == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": pytest.approx(1 / 3),
        "gen_ai.evaluation.score.label": "unfaithful",
        "gen_ai.evaluation.explanation": "2 of 3 claims unsupported: made of cheese",
        "gen_ai.evaluation.target": "answer",
        "gen_ai.evaluation.evaluator.id": "Faithfulness/embedded",
        "gen_ai.evaluation.evaluator.version": "1",
        "gen_ai.evaluation.evaluator.type": "deterministic",
        "gen_ai.evaluation.evaluator.source": '{"name": "Faithfulness", "arguments": {"judge": "embedded"}}',
        "gen_ai.response.id": "chatcmpl-7",
        "gen_ai.conversation.id": "chat-1",
        "rag.sampling.reason": "ratio",
        "rag.sampling.probability": 0.25,
    }
    assert (score.body, score.severity_text) == ("evaluation: faithfulness=0.333", "INFO")
    assert risk.attributes["gen_ai.evaluation.name"] == "hallucination_risk"
    assert risk.attributes["gen_ai.evaluation.score.value"] == 0.93


def test_a_failure_says_what_failed_and_has_no_score() -> None:
    """The event has `error.type` and no score."""
    failed = an_evaluation(
        score=None, risk=None, label=None, claims=(), reason_code="timeout", error_type="builtins.TimeoutError"
    )
    (event,) = _events(a_result(failed))
    assert event.attributes["error.type"] == "builtins.TimeoutError"
    assert event.attributes["gen_ai.evaluation.score.label"] == "timeout"
    assert "gen_ai.evaluation.score.value" not in event.attributes
    assert (event.body, event.severity_number) == ("evaluation: faithfulness failed: timeout", SeverityNumber.WARN)


def test_a_judge_that_is_a_language_model() -> None:
    """The evaluator's type and its prompts tell how the score came about. An abstention is no failure."""
    abstained = an_evaluation(
        score=None,
        risk=None,
        label=None,
        claims=(),
        explanation=None,
        reason_code="abstained",
        judge="openai/gpt-4o-mini",
        prompts=("faithfulness/en@2:ab12",),
    )
    (event,) = _events(a_result(abstained))
    assert event.attributes["gen_ai.evaluation.evaluator.type"] == "llm_judge"
    assert json.loads(event.attributes["gen_ai.evaluation.evaluator.source"])["arguments"] == {
        "judge": "openai/gpt-4o-mini",
        "prompts": ["faithfulness/en@2:ab12"],
    }
    assert (event.body, event.severity_text) == ("evaluation: faithfulness=abstained", "INFO")


@pytest.mark.parametrize("trace_too", [True, False])
def test_hidden_content_stays_hidden(trace_too: bool) -> None:
    """If content is hidden by the settings or by the call, the explanation only counts claims."""
    result = a_result(capture_content=trace_too)
    events = _events(result, capture_content=not trace_too)
    told = json.dumps([dict(event.attributes) for event in events])
    assert "2 of 3 claims unsupported" in told
    assert [text for text in SECRET_TEXTS if text in told] == []
