"""`rag_otel.feedback()` in the application's process: what it forces, what it records, and that it stays out of the
way."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel import semconv, user_feedback
from rag_otel.alert import Alert
from rag_otel.safety.guard import counters
from rag_otel.sampling.policy import Coin, ForceRule, SamplingPolicy
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.processing.kit import Judge

pytestmark = pytest.mark.usefixtures("uninstrumented")
CHUNK = {"id": "w-1", "text": "The tower is 330 metres high and was finished in 1889."}
POLICY = SamplingPolicy(coin=Coin(rate=0.0), force=(ForceRule(name="slow", latency_above=3600),))


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(SimpleSpanProcessor(exporter))
    return made


def _ask(retrieve: Callable[[], object] | None = None) -> str:
    """The id of the trace, as the observed function hands it to the frontend."""

    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        chunks: dict[str, object] = {"chunks": [CHUNK]} if retrieve is None else {}
        if retrieve is not None:
            retrieve()
        return {"answer": "The tower was sold to a circus.", "id": rag_otel.current_trace_id(), **chunks}

    return str(answer("How high is the tower?")["id"])


def _retrieve_ids(provider: TracerProvider) -> None:
    found = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "q",
        "gen_ai.retrieval.documents": f'[{{"id": "{CHUNK["id"]}"}}]',
    }
    with provider.get_tracer("retriever").start_as_current_span("retrieval", attributes=found):
        pass


def _spans(exporter: InMemorySpanExporter, trace_id: str) -> dict[str, dict[str, Any]]:
    return {
        span.name: dict(span.attributes or {})
        for span in exporter.get_finished_spans()
        if f"{span.context.trace_id:032x}" == trace_id
    }


def _answer_of(exporter: InMemorySpanExporter, trace_id: str) -> dict[str, Any]:
    (found,) = (
        span for name, span in _spans(exporter, trace_id).items() if not name.startswith(("feed", "eval", "retr"))
    )
    return found


def test_a_complaint_forces_a_trace_that_waits(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """The coin would leave every trace out. The one that is rated while it waits is judged; the alert says why."""
    go_on, alerts = threading.Event(), list[Alert]()

    def slow_store(ids: Sequence[str]) -> dict[str, str]:
        go_on.wait(60)
        return {CHUNK["id"]: CHUNK["text"]}

    rag_otel.instrument(
        provider,
        sampling_policy=POLICY,
        spans=rag_otel.SpanSettings(chunk_resolver=slow_store, hold=60),
        alerts=rag_otel.AlertSettings(on_alert=alerts.append),
    )
    quiet, rated = (_ask(lambda: _retrieve_ids(provider)) for _ in range(2))
    assert rag_otel.feedback(rated, score=0, comment="nonsense") == rag_otel.FeedbackStatus.AT_HAND
    go_on.set()
    assert rag_otel.flush(timeout=60)
    assert _answer_of(exporter, quiet)[semconv.STATUS_REASON] == "not_sampled"
    scored = _answer_of(exporter, rated)
    assert scored["rag.evaluation.faithfulness.label"] == "unfaithful"
    assert (scored[semconv.SAMPLING_REASON], scored[semconv.SAMPLING_RULE]) == ("forced", "user_feedback")
    (alert,) = alerts
    assert alert.rating == 0.0


def test_a_rating_while_the_judge_is_at_work_is_in_the_result(provider: TracerProvider) -> None:
    """It is too late to force anything, and in time for the alert."""
    judge, seen = Judge(), list[Any]()
    judge.gate.clear()

    class Results:
        name = "results"

        def write(self, batch: Any) -> None:
            seen.extend(batch)

    rag_otel.instrument(provider, metrics=[], evaluators=[judge], evaluations_per_minute=1000, writers=[Results()])
    trace_id = _ask()
    eventually(lambda: judge.seen, within_s=120)
    assert rag_otel.feedback(trace_id, label="thumbs_down") == rag_otel.FeedbackStatus.AT_HAND
    judge.gate.set()
    assert rag_otel.flush(timeout=60)
    assert [result.trace.rating for result in seen] == [0.0]


def test_a_trace_that_was_let_go_is_said_to_be(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """Without Phoenix the rating is a span of the trace, which says what had become of it; the same twice is one."""
    rag_otel.instrument(provider, sample_ratio=0.0)
    trace_id = _ask()
    for _ in range(2):
        said_now = rag_otel.feedback(trace_id, score=0, label="0 for ann@example.org", comment="Call ann@example.org")
        assert said_now == "not_sampled"
    assert rag_otel.flush(timeout=60)
    said = _spans(exporter, trace_id)["feedback user_feedback"]
    assert said[semconv.FEEDBACK_RATING] == 0.0
    assert said[semconv.FEEDBACK_TRACE] == "not_sampled"
    assert said["evaluations.0.evaluation.explanation"] == "Call <EMAIL_1>"
    assert said["evaluations.0.evaluation.label"] == "0 for <EMAIL_1>"
    found = [span for span in exporter.get_finished_spans() if span.name.startswith("feedback")]
    assert len({span.context.span_id for span in found}) == 1


def test_a_trace_that_has_its_scores_is_gone(provider: TracerProvider, exporter: InMemorySpanExporter) -> None:
    """Its rating below the span that the application names is a child of it, with one link."""
    rag_otel.instrument(provider)
    trace_id = _ask()
    assert rag_otel.flush(timeout=60)
    (span,) = (each for each in exporter.get_finished_spans() if each.parent is None)
    assert rag_otel.feedback(trace_id, score=1, span_id=span.context.span_id) == rag_otel.FeedbackStatus.NOT_HERE
    assert rag_otel.flush(timeout=60)
    (said,) = (each for each in exporter.get_finished_spans() if each.name.startswith("feedback"))
    assert said.parent is not None
    assert said.parent.span_id == span.context.span_id
    assert [link.context.span_id for link in said.links] == [span.context.span_id]


@pytest.mark.parametrize("wrong", [{"trace_id": "nonsense"}, {"trace_id": None}, {"score": "bad"}, {"score": 7}])
def test_wrong_arguments_are_refused_and_raise_nothing(provider: TracerProvider, wrong: dict[str, Any]) -> None:
    """Counted, and one warning."""
    rag_otel.instrument(provider)
    before = counters.get("feedback.refused.invalid")
    assert rag_otel.feedback(**{"trace_id": "1" * 32, "score": 0, **wrong}) == rag_otel.FeedbackStatus.REFUSED
    assert counters.get("feedback.refused.invalid") == before + 1


def test_a_process_that_is_not_instrumented(monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs Phoenix's address and nothing else; without, there is nowhere to record a rating."""
    user_feedback._queue_apart.cache_clear()
    assert rag_otel.feedback("1" * 32, score=0) == rag_otel.FeedbackStatus.REFUSED
    user_feedback._queue_apart.cache_clear()
    with http_receiver() as receiver:
        monkeypatch.setenv("RAG_OTEL_PHOENIX_ENDPOINT", receiver.url)
        assert rag_otel.feedback("1" * 32, score=0) == rag_otel.FeedbackStatus.NOT_HERE
        assert rag_otel.flush(timeout=60)
        (request,) = receiver.requests
    user_feedback._queue_apart.cache_clear()
    assert request.path == "/v1/trace_annotations?sync=false"
    assert json.loads(request.body)["data"][0]["annotator_kind"] == "HUMAN"


def test_a_phoenix_that_does_not_answer_holds_up_nobody(provider: TracerProvider) -> None:
    """Ratings wait in a bounded queue; what does not fit is refused, and counted."""
    with http_receiver() as receiver:
        receiver.release.clear()
        rag_otel.instrument(provider, phoenix_endpoint=receiver.url, sample_ratio=0.0)
        before = counters.get("delivery.feedback.refused")
        answers = [rag_otel.feedback(number, score=0) for number in range(1, 1_501)]
        assert answers[0] == "not_sampled"
        assert answers[-1] == rag_otel.FeedbackStatus.REFUSED
        assert counters.get("delivery.feedback.refused") == before + answers.count(rag_otel.FeedbackStatus.REFUSED)
        rag_otel.uninstrument(timeout=0.1)
        receiver.release.set()


def test_outside_of_every_span_there_is_no_trace_id() -> None:
    """None, not zeros."""
    assert rag_otel.current_trace_id() is None
