"""Writes to a real Phoenix and checks the result with its API."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.trace import SpanContext, TraceFlags

from rag_otel.cli.demo.phoenix_server import free_port
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.model import EvaluatedTrace, EvaluationStatus, SpanRef
from rag_otel.safety.guard import counters
from rag_otel.writers.attributes import evaluation_attributes
from rag_otel.writers.evaluation_span import EvaluationSpanWriter
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel.writers.phoenix_links import trace_link
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.browser import chromium_page
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import SECRET_TEXTS, a_result, an_evaluation, with_status

pytestmark = pytest.mark.phoenix
QUICK = ExportPolicy(linger_s=0.01, backoff_s=0.05, max_backoff_s=0.2)


class Project:
    """A separate project on the shared server: exports spans and reads them back."""

    def __init__(self, server: SharedPhoenix) -> None:
        self.name = f"writers-{secrets.token_hex(4)}"
        self.api = PhoenixApi(server.base_url)
        self.resource = Resource({"openinference.project.name": self.name})
        self.exporter = OTLPSpanExporter(endpoint=server.traces_endpoint)
        self._provider = TracerProvider(resource=self.resource)
        self._provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def span(self, **attributes: Any) -> SpanRef:
        """Export one span with these attributes."""
        span = self._provider.get_tracer("app").start_span("answer", attributes=attributes)
        span.end()
        assert isinstance(span, ReadableSpan)
        self.exported = span
        context = span.get_span_context()
        return SpanRef(trace_id=f"{context.trace_id:032x}", span_id=f"{context.span_id:016x}")

    def export(self, span: ReadableSpan) -> None:
        """Send one finished span."""
        assert self.exporter.export([span]) is SpanExportResult.SUCCESS

    def annotations(self, target: SpanRef, **wanted: float | str | None) -> dict[str, dict[str, Any]]:
        """The span's annotations by name, once each of `wanted` is there with its score or label."""

        def found() -> dict[str, dict[str, Any]]:
            rows = {row["name"]: row for row in self.api.annotations(self.name, target.span_id)}
            fits = all(
                name in rows and rows[name]["result"].get("label" if isinstance(value, str) else "score") == value
                for name, value in wanted.items()
            )
            return rows if fits else {}

        return eventually(found)


@pytest.fixture
def project(phoenix_server: SharedPhoenix) -> Project:
    return Project(phoenix_server)


def write(project: Project, *results: EvaluatedTrace, **options: Any) -> None:
    """Writes with the writer alone, without the delivery queue."""
    PhoenixAnnotationWriter(project.api.base_url, **options).write(results)


def test_the_label_becomes_the_annotation_with_its_origin(project: Project) -> None:
    """One annotation that cannot contradict itself: label, its number, explanation; score, risk, judge, version, counts
    and sampling in the metadata."""
    target = project.span()
    write(project, a_result(an_evaluation(score=0.25), target=target))
    rows = project.annotations(target, faithfulness="unfaithful")
    assert set(rows) == {"faithfulness"}
    assert rows["faithfulness"]["result"]["score"] == 0.0
    assert "made of cheese" in rows["faithfulness"]["result"]["explanation"]
    assert rows["faithfulness"]["annotator_kind"] == "CODE"
    assert rows["faithfulness"]["metadata"] == {
        "evaluator": "Faithfulness",
        "version": "1",
        "judge": "embedded",
        "claim_count": 3,
        "supported_count": 1,
        "score": 0.25,
        "risk": 0.93,
        "sampling_reason": "ratio",
        "sampling_probability": 0.25,
    }


def test_writing_again_updates_in_place(project: Project) -> None:
    """A repeated or corrected result leaves one annotation per name, also with another version or judge."""
    target = project.span()
    result = a_result(an_evaluation(score=0.25), target=target)
    write(project, result, result)
    project.annotations(target, faithfulness=0.0)
    corrected = an_evaluation(score=0.75, risk=0.11, label="faithful", version="2", judge="openai/gpt-4o-mini")
    write(project, a_result(corrected, target=target))
    rows = project.annotations(target, faithfulness=1.0)
    assert len(project.api.annotations(project.name, target.span_id)) == 1
    assert {row["identifier"] for row in rows.values()} == {"rag-otel"}
    assert rows["faithfulness"]["annotator_kind"] == "LLM"
    assert rows["faithfulness"]["metadata"]["version"] == "2"


def test_an_annotation_may_come_before_its_span(project: Project) -> None:
    """An annotation whose span has not arrived yet is attached when the span arrives."""
    result = a_result(an_evaluation(score=0.5))
    write(project, result)
    unrelated = project.span()
    write(project, a_result(an_evaluation(score=0.125), target=unrelated))
    project.annotations(unrelated, faithfulness=0.0)  # the queue has been worked through once
    context = SpanContext(
        trace_id=int(result.trace.target.trace_id, 16),
        span_id=int(result.trace.target.span_id, 16),
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
    start = result.trace.start_ns
    project.export(
        ReadableSpan(name="answer", context=context, resource=project.resource, start_time=start, end_time=start)
    )
    project.annotations(result.trace.target, faithfulness=0.0)


def test_a_null_score_keeps_its_place_with_the_reason_as_label(project: Project) -> None:
    """The label is the reason, means ignore the annotation, and it differs from an answer that was never evaluated."""
    scored, abstained = project.span(), project.span()
    nothing = an_evaluation(
        score=None, risk=None, label=None, claims=(), reason_code="abstained", explanation="the answer declines"
    )
    write(project, a_result(an_evaluation(score=0.25), target=scored), a_result(nothing, target=abstained))
    rows = project.annotations(abstained, faithfulness="abstained")
    assert set(rows) == {"faithfulness"}
    assert rows["faithfulness"]["result"].get("score") is None
    assert rows["faithfulness"]["result"]["explanation"] == "the answer declines"
    fields = 'project { spanAnnotationSummary(annotationName: "faithfulness") { meanScore labelFractions { label } } }'
    summary = project.api.span_nodes(project.name, fields)[0]["project"]["spanAnnotationSummary"]
    assert summary["meanScore"] == 0.0
    assert {row["label"] for row in summary["labelFractions"]} == {"unfaithful", "abstained"}


def test_an_evaluation_that_says_nothing_is_not_sent(project: Project) -> None:
    """Without score, label, reason and explanation no annotation is written."""
    target = project.span()
    silent = an_evaluation(name="silent", score=None, risk=None, label=None, explanation=None, claims=())
    write(project, a_result(silent, an_evaluation(score=0.25), target=target))
    assert "silent" not in project.annotations(target, faithfulness=0.0)


def test_one_reserved_name_does_not_cost_the_batch(project: Project) -> None:
    """Phoenix rejects a whole request that contains an annotation called `note`."""
    target = project.span()
    write(project, a_result(an_evaluation(name="note"), an_evaluation(score=0.25), target=target))
    assert "note" not in project.annotations(target, faithfulness=0.0)


def test_chunk_scores_become_document_annotations(project: Project) -> None:
    """Each scored chunk is annotated at its position; a chunk without a score is not."""
    target = project.span(
        **{
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.content": "a",
            "retrieval.documents.1.document.content": "b",
        }
    )
    relevance = an_evaluation(name="context_relevance", risk=None, claims=(), chunk_scores=(None, 0.75))
    write(project, a_result(relevance, target=target, chunk_span=target))
    write(project, a_result(relevance, target=target, chunk_span=target))

    def documents() -> list[dict[str, Any]]:
        fields = "documentEvaluations { name score documentPosition }"
        return [row for node in project.api.span_nodes(project.name, fields) for row in node["documentEvaluations"]]

    assert eventually(documents) == [{"name": "context_relevance", "score": 0.75, "documentPosition": 1}]


def test_hidden_content_reaches_no_annotation(project: Project) -> None:
    """Scores, labels and counts are written; no text of question, answer or passages is."""
    target = project.span()
    write(project, a_result(an_evaluation(score=0.25), target=target), capture_content=False)
    rows = project.annotations(target, faithfulness=0.0)
    assert rows["faithfulness"]["result"]["explanation"] == "2 of 3 claims unsupported"
    assert not [text for text in SECRET_TEXTS if text in str(rows)]


def test_the_attributes_on_the_span_can_be_filtered(project: Project) -> None:
    """Phoenix's filter finds a span by score, risk, an unsupported claim and a claim's verdict."""
    enriched = project.span(**evaluation_attributes(a_result()))
    project.span()
    eventually(lambda: len(project.api.spans(project.name)) == 2)
    for condition in (
        "rag.evaluation.faithfulness.score < 0.7",
        "attributes['rag']['evaluation']['faithfulness']['risk'] > 0.9",
        "'It is made of cheese.' in attributes['rag']['evaluation']['faithfulness']['unsupported_claims']",
        "attributes['rag']['evaluation']['faithfulness']['claims'][1]['verdict'] == 'not_enough_info'",
        "attributes['rag']['evaluation']['faithfulness']['claims'][0]['chunk_ids'][0] == 'moon-1'",
        "attributes['rag']['evaluation']['status'] == 'evaluated'",
    ):
        found = {node["spanId"] for node in project.api.span_nodes(project.name, "", condition=condition)}
        assert found == {enriched.span_id}, condition


def test_a_late_result_is_a_span_beside_its_target(project: Project) -> None:
    """A span of kind EVALUATOR in the target's trace. A repeated write does not duplicate it, and the trace is not
    longer."""
    target = project.span()
    started, ended = project.exported.start_time, project.exported.end_time
    assert started is not None
    assert ended is not None
    result = a_result(target=target, status=EvaluationStatus.LATE, start_ns=started, duration_ns=ended - started)
    before = eventually(lambda: project.api.span_nodes(project.name, "trace { startTime endTime }"))[0]["trace"]
    writer = EvaluationSpanWriter(project.export, lambda: project.resource)
    writer.write([result, result, with_status(result, EvaluationStatus.EVALUATED)])
    spans = eventually(lambda: found if len(found := project.api.spans(project.name)) == 2 else [])
    late = next(span for span in spans if span["context"]["span_id"] != target.span_id)
    assert late["context"]["trace_id"] == target.trace_id
    assert late["parent_id"] == target.span_id
    assert late["span_kind"] == "EVALUATOR"
    assert late["attributes"]["rag.evaluation.status"] == "late"
    assert late["attributes"]["rag.evaluation.faithfulness.risk"] == 0.93
    assert project.api.span_nodes(project.name, "trace { startTime endTime }")[0]["trace"] == before


def test_nothing_is_lost_while_phoenix_is_away(project: Project, phoenix_server: SharedPhoenix) -> None:
    """Results that are finished while Phoenix is down arrive when it is up again."""
    port = free_port()
    writer = PhoenixAnnotationWriter(f"http://127.0.0.1:{port}/v1/traces", timeout_s=5)
    delivery = Dispatcher([writer], policy=QUICK)
    retries = counters.get("delivery.phoenix_annotations.retries")
    targets = [project.span() for _ in range(20)]
    eventually(lambda: len(project.api.spans(project.name)) == len(targets))
    for target in targets:
        delivery.submit(a_result(an_evaluation(score=0.25), target=target))
    eventually(lambda: counters.get("delivery.phoenix_annotations.retries") >= retries + 3)
    with forwarded(port, phoenix_server.port):
        assert delivery.flush(30)
    for target in targets:
        project.annotations(target, faithfulness=0.0)


@contextlib.contextmanager
def forwarded(port: int, to_port: int) -> Iterator[None]:
    """Forwards connections to `port` on loopback to `to_port` until the block ends. Simulates that the server is up
    again."""
    listener = socket.create_server(("127.0.0.1", port))

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                inner, _ = listener.accept()
                outer = socket.create_connection(("127.0.0.1", to_port))
                for pair in ((inner, outer), (outer, inner)):
                    threading.Thread(target=pump, args=pair, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.browser
def test_the_link_opens_the_trace(project: Project) -> None:
    """The link to a trace leads to its page in its project."""
    target = project.span()
    eventually(lambda: project.api.spans(project.name))
    base_url = project.api.base_url
    with chromium_page() as page:
        page.goto(trace_link(base_url, target.trace_id))
        page.wait_for_url(f"**/projects/*/**/{target.trace_id}**")
