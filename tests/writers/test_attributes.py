"""Results as span attributes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.model import EvaluationStatus, SamplingDecision, Verdict
from rag_otel.writers.attributes import evaluation_attributes, status_attributes
from tests.support.results import RESPONSE, SECRET_TEXTS, a_claim, a_result, an_evaluation

PREFIX = "rag.evaluation.faithfulness."


def test_a_result_becomes_flat_attributes_under_its_metric() -> None:
    """Score, risk, label, verdicts, evidence, status and sampling have the documented attribute names."""
    attributes = evaluation_attributes(a_result())
    assert attributes[PREFIX + "score"] == pytest.approx(1 / 3)
    assert attributes == attributes | {
        PREFIX + "risk": 0.93,
        PREFIX + "label": "unfaithful",
        PREFIX + "judge": "embedded",
        PREFIX + "evaluator": "Faithfulness",
        PREFIX + "version": "1",
        PREFIX + "claim_count": 3,
        PREFIX + "supported_count": 1,
        PREFIX + "unsupported_claims": ["It is made of cheese.", "Nobody has seen its far side."],
        PREFIX + "claims.0.text": "The moon orbits the earth.",
        PREFIX + "claims.0.verdict": "supported",
        PREFIX + "claims.0.support_probability": 0.97,
        PREFIX + "claims.0.chunk_ids": ["moon-1"],
        PREFIX + "claims.0.quote": "The moon orbits the earth",
        PREFIX + "claims.2.explanation": "contradicted by the far side's date",
        "rag.evaluation.status": "evaluated",
        "rag.sampling.reason": "ratio",
        "rag.sampling.probability": 0.25,
    }


def test_what_is_unknown_is_absent() -> None:
    """A missing score, empty evidence and a missing reason write no attribute."""
    attributes = evaluation_attributes(a_result(an_evaluation(score=None, risk=None, label=None, claims=())))
    keys = {key.removeprefix(PREFIX) for key in attributes if key.startswith(PREFIX)}
    assert keys == {"explanation", "evaluator", "version", "judge"}
    bare = evaluation_attributes(a_result())
    assert not {PREFIX + "claims.1.quote", PREFIX + "claims.1.chunk_ids", "rag.evaluation.status_reason"} & set(bare)


def test_a_support_probability_that_is_no_number_is_absent() -> None:
    """NaN and infinity are never written to a span."""
    claims = tuple(
        a_claim(0, 26, Verdict.SUPPORTED, support_probability=bad) for bad in (float("nan"), float("inf"), None)
    )
    attributes = evaluation_attributes(a_result(an_evaluation(claims=claims)))
    assert not [key for key in attributes if key.endswith(".support_probability")]


def test_claims_are_cut_from_the_supported_end_and_the_cut_is_counted() -> None:
    """Of more than 30 claims the unsupported ones are kept, in the order of the response and numbered without gaps."""
    claims = (
        *(a_claim(n % 5, n % 5 + 1, Verdict.SUPPORTED) for n in range(40)),
        a_claim(5, 6, Verdict.NOT_ENOUGH_INFO),
        a_claim(6, 7, Verdict.UNJUDGED),
        a_claim(7, 8, Verdict.CONTRADICTED),
    )
    attributes = evaluation_attributes(a_result(an_evaluation(claims=claims)))
    kept = [attributes[f"{PREFIX}claims.{n}.text"] for n in range(30)]
    assert kept == [*(RESPONSE[n % 5] for n in range(28)), RESPONSE[5], RESPONSE[7]]
    assert f"{PREFIX}claims.30.text" not in attributes
    assert attributes[PREFIX + "omitted_claim_count"] == 13
    assert attributes[PREFIX + "claim_count"] == 43
    assert attributes[PREFIX + "unjudged_count"] == 1
    assert attributes[PREFIX + "unsupported_claims"] == [RESPONSE[5], RESPONSE[7]]


@pytest.mark.parametrize(
    ("capture_content", "trace", "environ"),
    [
        (False, {}, {}),
        (True, {"capture_content": False}, {}),
        (True, {}, {"OPENINFERENCE_HIDE_INPUTS": "true", "OPENINFERENCE_HIDE_OUTPUTS": "true"}),
    ],
)
def test_hidden_content_leaves_the_verdicts_but_no_word(
    capture_content: bool,
    trace: dict[str, Any],
    environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However content is hidden, scores, counts, verdicts and chunk ids are written and texts are not."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    attributes = evaluation_attributes(a_result(**trace), capture_content=capture_content)
    written = json.dumps(attributes)
    assert not [text for text in SECRET_TEXTS if text in written]
    assert attributes[PREFIX + "risk"] == 0.93
    assert attributes[PREFIX + "supported_count"] == 1
    assert "contradicted" in written
    assert "moon-1" in written


def test_hidden_documents_hide_quotes_but_not_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenInference's setting that hides documents does not hide the text of the answer."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_RETRIEVAL_DOCUMENTS", "true")
    attributes = evaluation_attributes(a_result())
    assert attributes[PREFIX + "claims.0.text"] == "The moon orbits the earth."
    assert not [key for key in attributes if key.endswith((".quote", ".explanation"))]


def test_a_name_that_cannot_be_a_key_is_left_out_alone(caplog: pytest.LogCaptureFixture) -> None:
    """An evaluator with an invalid name does not affect the attributes of the others."""
    attributes = evaluation_attributes(a_result(an_evaluation(name="status"), an_evaluation()))
    assert attributes["rag.evaluation.status"] == "evaluated"
    assert PREFIX + "score" in attributes
    assert not [key for key in attributes if key.startswith("rag.evaluation.status.")]


def test_a_failed_evaluation_says_what_failed() -> None:
    """Status `failed`, the error type as its reason, and the reason code of the metric."""
    failed = an_evaluation(
        score=None, risk=None, label=None, claims=(), reason_code="timeout", error_type="builtins.TimeoutError"
    )
    attributes = evaluation_attributes(a_result(failed, status=EvaluationStatus.FAILED))
    assert attributes["rag.evaluation.status"] == "failed"
    assert attributes["rag.evaluation.status_reason"] == "builtins.TimeoutError"
    assert attributes[PREFIX + "reason_code"] == "timeout"


def test_prompts_travel_with_the_score() -> None:
    """Name, language, version and hash of every prompt that was used are written."""
    prompts = ("context_relevance_first/en@1:0123456789ab", "context_relevance_second/en@1:ba9876543210")
    attributes = evaluation_attributes(a_result(an_evaluation(prompts=prompts)))
    assert attributes[PREFIX + "prompts"] == list(prompts)


def test_a_status_without_a_result_is_written_with_its_reason() -> None:
    """A span that is exported without an evaluation has the reason."""
    decision = SamplingDecision(sampled=False, reason="not_sampled", probability=0.1)
    assert status_attributes(EvaluationStatus.SKIPPED, "not_sampled", decision) == {
        "rag.evaluation.status": "skipped",
        "rag.evaluation.status_reason": "not_sampled",
        "rag.sampling.reason": "not_sampled",
        "rag.sampling.probability": 0.1,
    }
    assert status_attributes(EvaluationStatus.LATE) == {"rag.evaluation.status": "late"}


_texts = st.text(st.characters(codec=None), max_size=20)
_claims = st.lists(
    st.builds(
        lambda text, verdict, support_probability, ids: a_claim(
            0, 1, verdict, support_probability=support_probability, chunk_ids=tuple(ids), explanation=text
        ),
        _texts,
        st.sampled_from(Verdict),
        st.none() | st.floats(),
        st.lists(_texts, max_size=3),
    ),
    max_size=6,
)


@given(_claims, st.booleans())
def test_every_key_is_leaf_or_parent_and_every_value_encodes(claims: list[Any], capture_content: bool) -> None:
    """For any result, Phoenix can nest the keys and OTLP can encode the values."""
    from opentelemetry.exporter.otlp.proto.common._internal import _encode_attributes

    attributes = evaluation_attributes(
        a_result(an_evaluation(claims=tuple(claims))),
        capture_content=capture_content,
    )
    for key in attributes:
        parts = key.split(".")
        assert not {".".join(parts[:n]) for n in range(1, len(parts))} & set(attributes)
    encoded = _encode_attributes(attributes)
    assert len(encoded or ()) == len(attributes)
    json.dumps(attributes, allow_nan=False).encode("utf-8")
