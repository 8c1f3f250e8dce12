"""A sampling policy in an application: real provider, real embedded judge, the settings as a user gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace._sampling_experimental import composable_traceid_ratio_based, composite_sampler
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.errors import ConfigurationError
from rag_otel.sampling.policy import Coin, DropRule, ForceRule, PolicyBudget, SamplingPolicy
from testkit.settings import grouped

pytestmark = pytest.mark.usefixtures("uninstrumented")

CHUNK = {"id": "w-1", "text": "The tower is 330 metres high and was finished in 1889."}
GOOD, BAD = "The tower is 330 metres high.", "The tower was sold to a circus in Nevada in 1999."


def _spans(policy: Any, *answers: tuple[str, str], ratio: float | None = None, **settings: Any) -> list[dict[str, Any]]:
    """The attributes of one span for each (function's name, answer)."""
    exporter = InMemorySpanExporter()
    sampler = None if ratio is None else composite_sampler(composable_traceid_ratio_based(ratio))
    provider = TracerProvider(sampler=sampler)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    rag_otel.instrument(provider, sampling_policy=policy, **grouped(**settings))
    for name, text in answers:

        @rag_otel.observe(name=name)
        def answer(question: str, text: str = text) -> dict[str, object]:
            return {"answer": text, "chunks": [CHUNK]}

        answer("How high is the tower?")
    assert rag_otel.flush(timeout=60)
    return [dict(span.attributes or {}) for span in exporter.get_finished_spans() if span.name in dict(answers)]


def test_every_trace_says_why_it_was_or_was_not_evaluated() -> None:
    """Dropped, not sampled, forced by the embedded judge's first look: reason, rule, rate and coin are on the span."""
    policy = SamplingPolicy(
        drop=[DropRule(name="health", route="health")],
        coin=Coin(rate=0.0),
        force=[ForceRule(name="suspicious", risk_above=0.3)],
    )
    dropped, good, bad = _spans(policy, ("health", BAD), ("ask", GOOD), ("tell", BAD))
    assert (dropped["rag.evaluation.status"], dropped["rag.evaluation.status_reason"]) == ("skipped", "dropped")
    assert dropped["rag.sampling.rule"] == "health"
    assert (good["rag.evaluation.status"], good["rag.sampling.reason"]) == ("skipped", "not_sampled")
    assert good["rag.sampling.prescore"] < 0.3 < bad["rag.sampling.prescore"]
    assert (bad["rag.evaluation.status"], bad["rag.sampling.reason"]) == ("evaluated", "forced")
    assert (bad["rag.sampling.rule"], bad["rag.sampling.probability"]) == ("suspicious", 1.0)
    assert (bad["rag.sampling.rate"], bad["rag.sampling.coin"]) == (0.0, False)


def test_a_spent_budget_says_which_one() -> None:
    """One evaluation an hour for forced traces: the second one is refused, the coin's share is untouched."""
    policy = SamplingPolicy(
        coin=Coin(rate=0.0),
        force=[ForceRule(name="all", latency_above=0)],
        budget=PolicyBudget(evaluations_per_hour=2, coin_share=0.5),
    )
    spans = _spans(policy, ("one", GOOD), ("two", GOOD))
    first, second = sorted(spans, key=lambda span: str(span["rag.evaluation.status"]))  # the refused one leaves first
    assert first["rag.evaluation.status"] == "evaluated"
    assert (second["rag.evaluation.status"], second["rag.sampling.reason"]) == ("skipped", "budget")
    assert second["rag.sampling.refused"] == "the budget of 2 evaluations/hour is spent (share of forced traces)"


def test_what_an_upstream_sampler_left_out_is_counted() -> None:
    """The application's own sampler keeps half of the traces: each of them stands for two."""
    answers = [(f"ask{number}", GOOD) for number in range(12)]
    spans = _spans(None, *answers, ratio=0.5)
    assert 0 < len(spans) < 12
    assert {span["rag.sampling.probability"] for span in spans} == {0.5}


def test_a_policy_is_read_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by the environment, as in production."""
    file = tmp_path / "policy.toml"
    file.write_text('[[drop]]\nname = "probes"\nroute = "probe*"\n')
    monkeypatch.setenv("RAG_OTEL_SAMPLING_POLICY", str(file))
    probe, other = _spans(None, ("probe", GOOD), ("ask", GOOD))
    assert probe["rag.sampling.reason"] == "dropped"
    assert (other["rag.sampling.reason"], other["rag.sampling.probability"]) == ("ratio", 1.0)


def test_a_ratio_beside_a_policy_is_refused() -> None:
    """Two answers to one question: the error says where the ratio belongs."""
    with pytest.raises(ConfigurationError, match="rate of its coin"):
        rag_otel.instrument(TracerProvider(), sampling_policy=SamplingPolicy(), sample_ratio=0.1)


def test_a_rating_on_the_span_forces_its_evaluation() -> None:
    """The application knows of a thumbs-down while its function runs, and says so as an attribute."""
    policy = SamplingPolicy(coin=Coin(rate=0.0), force=[ForceRule(name="thumbs_down", rating_below=0.5)])
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    rag_otel.instrument(provider, sampling_policy=policy)

    @rag_otel.observe
    def answer(question: str, rating: float | None) -> dict[str, object]:
        if rating is not None:
            trace.get_current_span().set_attribute("rag.feedback.rating", rating)
        return {"answer": GOOD, "chunks": [CHUNK]}

    for rating in (0.0, 1.0, None):
        answer("How high is the tower?", rating)
    assert rag_otel.flush(timeout=60)
    reasons = [str((span.attributes or {})["rag.sampling.reason"]) for span in exporter.get_finished_spans()]
    assert sorted(reasons) == ["forced", "not_sampled", "not_sampled"]
