"""What every shape reads of a trace."""

from __future__ import annotations

import dataclasses

import pytest

from rag_otel.model import SpanRecord, SpanRef
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.amount import RatioSampler
from rag_otel.sampling.policy import Coin, DropRule, SamplingPolicy
from rag_otel.sampling.policy_sampler import PolicySampler
from rag_otel_collectors.conventions import default_conventions
from tests.collectors.conventions.spans import PARIS, TRACE_ID, a_chain, a_retriever, a_span

PIPELINE = Pipeline(conventions=default_conventions(), sampler=RatioSampler(1.0), evaluators=())
RATING = SpanRecord(
    trace_id=TRACE_ID,
    span_id="00000000000000fe",
    attributes={"openinference.span.kind": "EVALUATOR", "rag.feedback.rating": 0.0},
)


def test_the_root_above_the_answer_is_known() -> None:
    """A web framework's span stands above: trace lists show that one."""
    endpoint = a_span(name="POST /ask", scope="opentelemetry.instrumentation.fastapi", end_ns=2 * 10**12)
    answer = a_chain(parent=endpoint)
    (trace,) = PIPELINE.rag_traces([a_retriever(PARIS, parent=answer), answer, endpoint])
    assert trace.target.span_id == answer.span_id
    assert trace.root == SpanRef(trace_id=TRACE_ID, span_id=endpoint.span_id)


def test_an_answer_that_is_the_root_needs_no_other() -> None:
    """None stands for: the target is the root, or the root is unknown."""
    answer = a_chain()
    (trace,) = PIPELINE.rag_traces([a_retriever(PARIS, parent=answer), answer])
    assert trace.root is None


def test_without_the_root_none_is_named() -> None:
    """The root is in another service: no span here is it."""
    answer = a_chain(parent=a_span())
    (trace,) = PIPELINE.rag_traces([a_retriever(PARIS, parent=answer), answer])
    assert trace.root is None


def test_a_rating_stands_on_the_answer_or_on_a_feedback_span() -> None:
    """The span's own comes first; a feedback span without a parent is about the whole trace, and is no second root."""
    endpoint = a_span(name="POST /ask", scope="opentelemetry.instrumentation.fastapi", end_ns=2 * 10**12)
    answer = a_chain(parent=endpoint)
    spans = [a_retriever(PARIS, parent=answer), answer, endpoint]
    said = RATING
    (trace,) = PIPELINE.rag_traces([*spans, said])
    assert (trace.rating, trace.root) == (0.0, SpanRef(trace_id=TRACE_ID, span_id=endpoint.span_id))
    (trace,) = PIPELINE.rag_traces([*spans, dataclasses.replace(said, parent_id="00000000000000aa")])
    assert trace.rating is None
    own = dataclasses.replace(answer, attributes={**answer.attributes, "rag.feedback.rating": 1.0})
    (trace,) = PIPELINE.rag_traces([spans[0], own, endpoint, said])
    assert trace.rating == 1.0


@pytest.mark.parametrize(("rating", "reason"), [(0.0, "forced"), (1.0, "not_sampled"), (None, "not_sampled")])
async def test_a_complaint_before_the_decision_forces_it(rating: float | None, reason: str) -> None:
    """With certainty, so its probability is 1. What a drop rule leaves out stays out."""
    answer = a_chain()
    (trace,) = PIPELINE.rag_traces([a_retriever(PARIS, parent=answer), answer])
    trace = dataclasses.replace(trace, rating=rating)
    never = dataclasses.replace(PIPELINE, sampler=RatioSampler(0.0))
    decision, _ = await never.admit(trace, never.decide(trace.target))
    assert (decision.reason, decision.sampled) == (reason, reason == "forced")
    assert reason != "forced" or (decision.probability, decision.rule) == (1.0, "user_feedback")
    drops = SamplingPolicy(coin=Coin(rate=0.0), drop=(DropRule(name="all", route="*"),))
    by_policy = dataclasses.replace(PIPELINE, sampler=PolicySampler(drops))
    assert not (await by_policy.admit(trace, by_policy.decide(trace.target)))[0].sampled
