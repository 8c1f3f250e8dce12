"""Budgets in dollars from `instrument()` to the judge's server: what is kept where a price or a usage is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from testkit.judge_server import JudgeServer
from testkit.word_overlap_judge import answer as oracle

pytestmark = pytest.mark.usefixtures("uninstrumented")

CHUNK = "The tower is 330 metres high. " + "It stands in Paris. " * 20


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(answer=oracle) as running:
        yield running


def _judged(
    server: JudgeServer, count: int, *, model: str = "openai/gpt-4o-mini", at_once: bool = True, **judging: Any
) -> Counter[str]:
    """So many answers at once or one after the other; how many have a score, and what stands on the others."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    judge = rag_otel.JudgeSettings(model=model, api_base=server.url, **judging)
    rag_otel.instrument(
        provider,
        judge=judge,
        evaluations_per_minute=100_000,
        drift=False,
        spans=rag_otel.SpanSettings(hold=600.0),
    )

    @rag_otel.observe
    def ask(question: str) -> dict[str, object]:
        return {"answer": "The tower is 330 metres high.", "documents": [CHUNK]}

    for number in range(count):
        ask(f"How high is tower {number}?")
        assert at_once or rag_otel.flush(timeout=600)
    assert rag_otel.flush(timeout=600)
    spans = [dict(span.attributes or {}) for span in exporter.get_finished_spans() if span.name == "ask"]
    assert len(spans) == count
    return Counter(map(_outcome, spans))


def _outcome(span: Mapping[str, Any]) -> str:
    return "judged" if "rag.evaluation.faithfulness.score" in span else str(span.get("rag.sampling.refused"))


def test_a_judge_whose_price_is_unknown_is_never_called(server: JudgeServer) -> None:
    """Its price is asked before the first call, not after it: sixteen evaluations would be under way by then."""
    outcomes = _judged(server, 20, model="openai/my-own-model", budgets=["0.25 usd/day"])
    assert server.requests == []
    told = "the budget of 0.25 usd/day cannot be kept: the price of judge 'openai/my-own-model' is unknown"
    assert outcomes == {told: 20}


def test_its_tokens_can_be_limited_all_the_same(server: JudgeServer) -> None:
    """Only dollars need a price."""
    assert _judged(server, 3, model="openai/my-own-model", budgets=["200000 tokens/day"]) == {"judged": 3}


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}])
@pytest.mark.parametrize("limit", ["0.005 usd/day", "20000 tokens/hour"])
def test_a_server_that_says_no_usage_is_held_to_the_budget(
    server: JudgeServer, usage: dict[str, Any] | None, limit: str
) -> None:
    """A call costs about 2,500 tokens and $.0005: of forty answers a dozen at most are judged."""
    server.usage = usage
    outcomes = _judged(server, 40, at_once=False, budgets=[limit])
    assert 4 <= outcomes["judged"] == len(server.requests) <= 12
    assert outcomes[f"the budget of {limit} is spent"] == 40 - outcomes["judged"]


def test_a_cold_start_uses_the_budget_up(server: JudgeServer) -> None:
    """Sixteen evaluations at once reserve more than there is, and give most of it back: the others wait for that, and
    are refused when it is spent, not while it is reserved. All is judged, for less than the limit."""
    server.latency_s = 0.1
    assert _judged(server, 40, budgets=["0.03 usd/day"]) == {"judged": 40}
