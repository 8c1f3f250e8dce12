"""The evaluation span."""

from __future__ import annotations

import json
from typing import Any

from openinference.instrumentation import get_evaluation_attributes
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.model import EvaluatedTrace, EvaluationStatus, SpanRef
from rag_otel.writers.evaluation_span import EvaluationSpanWriter, job_key
from tests.support.results import SECRET_TEXTS, a_result, a_target, an_evaluation, with_status

LATE = EvaluationStatus.LATE


def written(*results: EvaluatedTrace, **options: Any) -> list[ReadableSpan]:
    """The spans that the writer emits for these results."""
    spans: list[ReadableSpan] = []
    resource = Resource({"service.name": "observatory"})
    EvaluationSpanWriter(spans.append, lambda: resource, **options).write(results)
    return spans


def test_the_carrier_has_exactly_one_link_to_its_target() -> None:
    """As OpenInference requires for feedback on a finished span. Trace, parent and resource are those of the target."""
    result = a_result(status=LATE)
    (span,) = written(result)
    assert span.context is not None
    assert span.parent is not None
    (link,) = span.links
    assert f"{link.context.span_id:016x}" == result.trace.target.span_id
    assert f"{link.context.trace_id:032x}" == result.trace.target.trace_id
    assert span.context.trace_id == span.parent.trace_id == link.context.trace_id
    assert span.context.trace_flags.sampled
    assert span.attributes is not None
    assert span.attributes["openinference.span.kind"] == "EVALUATOR"
    assert span.resource.attributes["service.name"] == "observatory"
    assert span.start_time == span.end_time == result.trace.start_ns + result.trace.duration_ns
    assert len(encode_spans([span]).resource_spans) == 1


def test_its_attributes_are_what_openinference_itself_would_write() -> None:
    """Names and values are equal to those of the reference implementation, in addition to rag-otel's attributes."""
    result = a_result(an_evaluation(score=0.5), status=LATE)
    (span,) = written(result)
    attributes = dict(span.attributes or {})
    common: dict[str, Any] = {
        "label": "unfaithful",
        "explanation": "2 of 3 claims unsupported: made of cheese",
        "annotator_kind": "CODE",
        "identifier": "rag-otel",
        "metadata": attributes["evaluations.0.evaluation.metadata"],
    }
    expected = get_evaluation_attributes(
        evaluations=[
            {"name": "faithfulness", "score": 0.5, **common},  # type: ignore[typeddict-item]
            {"name": "hallucination_risk", "score": 0.93, **common},  # type: ignore[typeddict-item]
        ]
    )
    assert {key: value for key, value in attributes.items() if key.startswith("evaluations.")} == expected
    assert json.loads(common["metadata"])["version"] == "1"
    assert attributes["rag.evaluation.faithfulness.risk"] == 0.93
    assert attributes["rag.evaluation.status"] == "late"


def test_the_claims_stand_on_it_as_text() -> None:
    """The headline, then each claim with its verdict, chunk and quote. Unsupported claims come first."""
    (span,) = written(a_result())
    attributes = dict(span.attributes or {})
    lines = str(attributes["output.value"]).splitlines()
    assert attributes["output.mime_type"] == "text/plain"
    assert lines[0].startswith("faithfulness ")
    signs = [line[0] for line in lines if line.startswith(("✗", "?", "✓"))]
    assert signs == sorted(signs, key="✗?✓".index)
    assert len(signs) == 3


def test_what_went_out_on_its_own_span_is_not_said_twice() -> None:
    """A filter on an attribute of a result finds one span, not two."""
    (span,) = written(a_result())
    assert not [key for key in span.attributes or () if key.startswith(("rag.", "evaluations."))]


def test_on_request_only_results_that_missed_their_span_have_one() -> None:
    """`when="late"`: for backends that charge for every span."""
    result = a_result()
    spans = written(*(with_status(result, status) for status in EvaluationStatus), when="late")
    told = [dict(span.attributes or {})["rag.evaluation.status"] for span in spans]
    assert sorted(map(str, told)) == ["late", "skipped"]


def test_the_same_result_is_the_same_span_and_another_is_another() -> None:
    """The id is a hash of target, metric, evaluator, version and judge. It is the same in every process."""
    target = a_target()
    changes: list[dict[str, Any]] = [
        {},
        {"name": "other"},
        {"evaluator": "Other"},
        {"version": "2"},
        {"judge": "openai/gpt-4o-mini"},
        {"score": 0.0},
    ]
    spans = written(*(a_result(an_evaluation(**change), target=target, status=LATE) for change in changes))
    ids = [span.context.span_id for span in spans if span.context is not None]
    assert ids[0] == ids[-1], "the score is no part of the key"
    assert len(set(ids)) == len(changes) - 1
    assert min(ids) > 0
    assert max(ids) < 2**64


def test_the_job_key_never_changes_between_releases() -> None:
    """A stored key must be recognised after an upgrade."""
    fixed = SpanRef(trace_id="0" * 31 + "1", span_id="0" * 15 + "2")
    assert job_key(fixed, an_evaluation()) == job_key(fixed, an_evaluation(score=None))
    assert job_key(fixed, an_evaluation()) == "c87cd48ad5c0d81c4c7b269605828bd4"


def test_hidden_content_is_in_no_attribute_of_the_carrier() -> None:
    """The evaluation span hides the same content as the target span."""
    (span,) = written(a_result(status=LATE), capture_content=False)
    assert not [text for text in SECRET_TEXTS if text in str(dict(span.attributes or {}))]
