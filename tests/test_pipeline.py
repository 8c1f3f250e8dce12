"""What every shape reads of a trace."""

from __future__ import annotations

from rag_otel.model import SpanRef
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.ratio import RatioSampler
from rag_otel_collectors.conventions import default_conventions
from tests.collectors.conventions.spans import PARIS, TRACE_ID, a_chain, a_retriever, a_span

PIPELINE = Pipeline(conventions=default_conventions(), sampler=RatioSampler(1.0), evaluators=())


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
