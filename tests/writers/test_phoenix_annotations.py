"""The requests to Phoenix, checked without a server."""

from __future__ import annotations

import dataclasses
import json

import pytest

from rag_otel.errors import PermanentError
from rag_otel.model import SpanRef
from rag_otel.writers.annotations import annotator_kind, risk_name
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from testkit.http_receiver import http_receiver
from tests.support.results import a_result, a_target, an_evaluation


def test_a_batch_is_one_request_with_the_key_as_bearer_token() -> None:
    """One request for span annotations, one for trace annotations, one for document annotations."""
    with http_receiver() as receiver:
        writer = PhoenixAnnotationWriter(f"{receiver.url}/v1/traces", api_key="s3cret", headers={"X-Team": "rag"})
        writer.write([a_result() for _ in range(5)])
        writer.write([a_result(an_evaluation(chunk_scores=(1.0, None)), chunk_span=a_target())])
        written = [each for each in receiver.requests if "annotation_configs" not in each.path]
        first, traces, spans, _, documents = written
    assert first.path == spans.path == "/v1/span_annotations?sync=false"
    assert traces.path == "/v1/trace_annotations?sync=false"
    assert len(json.loads(traces.body)["data"]) == 5
    assert documents.path == "/v1/document_annotations?sync=false"
    assert {request.headers["authorization"] for request in (first, spans, documents)} == {"Bearer s3cret"}
    assert first.headers["x-team"] == "rag"
    assert len(json.loads(first.body)["data"]) == 5
    assert len(json.loads(documents.body)["data"]) == 1


def test_nothing_to_say_is_no_request() -> None:
    """A result without evaluations makes no request."""
    silent = an_evaluation(score=None, risk=None, label=None, explanation=None, claims=())
    with http_receiver() as receiver:
        PhoenixAnnotationWriter(receiver.url).write([a_result(silent)])
        assert not receiver.requests


def test_chunks_that_no_span_holds_get_no_scores_in_phoenix() -> None:
    """Passages that are not on a span have no document that could be annotated."""
    with http_receiver() as receiver:
        PhoenixAnnotationWriter(receiver.url).write([a_result(an_evaluation(chunk_scores=(1.0, None)))])
        paths = [request.path for request in receiver.requests if "annotation_configs" not in request.path]
    assert paths == ["/v1/span_annotations?sync=false", "/v1/trace_annotations?sync=false"]


def test_the_root_shows_the_scores_under_a_name_of_its_own() -> None:
    """Phoenix lists root spans. With another name, the mean of the metric counts a score only once."""
    result = a_result()
    root = SpanRef(trace_id=result.trace.target.trace_id, span_id="f" * 16)
    with http_receiver() as receiver:
        writer = PhoenixAnnotationWriter(receiver.url)
        writer.write([dataclasses.replace(result, trace=dataclasses.replace(result.trace, root=root))])
        rows = json.loads(receiver.requests[0].body)["data"]
    told = {(row["span_id"], row["name"]) for row in rows}
    assert told == {(result.trace.target.span_id, "faithfulness"), (root.span_id, "rag_faithfulness")}


def test_a_refused_key_is_final_and_stays_out_of_the_message() -> None:
    """The error for status 401 contains the server's reason and not the key."""
    with http_receiver() as receiver:
        receiver.answers.append((401, {}))
        with pytest.raises(PermanentError) as caught:
            PhoenixAnnotationWriter(receiver.url, api_key="s3cret").write([a_result()])
    assert "401" in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        ("embedded", "CODE"),
        ("", "CODE"),
        ("embedded@1", "CODE"),
        ("hhem:2.1", "CODE"),
        ("hhem-2.1-open", "CODE"),
        ("lexical/overlap", "CODE"),
        ("function", "CODE"),
        ("openai/gpt-4o-mini", "LLM"),
    ],
)
def test_statistical_judges_are_code_and_language_models_are_llm(judge: str, kind: str) -> None:
    """The annotator kind in Phoenix depends on the judge."""
    assert annotator_kind(judge) == kind


def test_risk_has_a_name_of_its_own() -> None:
    """The risk of faithfulness is named `hallucination_risk`."""
    assert risk_name("faithfulness") == "hallucination_risk"
    assert risk_name("context_recall") == "context_recall_risk"
