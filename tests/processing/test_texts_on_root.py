"""Question and answer on the root of a trace, so that a list of traces shows them."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from testkit.settings import grouped

QUESTION, ANSWER = "How high is the tower?", "The tower is 330 m high."


@rag_otel.observe
def answer(question: str) -> dict[str, Any]:
    return {"answer": ANSWER, "chunks": ["The tower is 330 m high."]}


@rag_otel.observe(capture_content=False)
def discreet(question: str) -> dict[str, Any]:
    return {"answer": ANSWER, "chunks": ["The tower is 330 m high."]}


def texts_of_root(call: Any, *, of_its_own: str | None = None, **settings: Any) -> tuple[Any, Any]:
    """`input.value` and `output.value` of a root span around a call."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    rag_otel.instrument(provider, **grouped(**settings))
    with provider.get_tracer("web").start_as_current_span("POST /ask") as root:
        if of_its_own is not None:
            root.set_attribute("input.value", of_its_own)
        call(QUESTION)
    assert rag_otel.flush(timeout=60)
    (found,) = [span for span in exporter.get_finished_spans() if span.name == "POST /ask"]
    attributes = found.attributes or {}
    return attributes.get("input.value"), attributes.get("output.value")


@pytest.mark.usefixtures("uninstrumented")
def test_the_root_shows_the_question_and_the_answer() -> None:
    assert texts_of_root(answer, texts_on_root=True) == (QUESTION, ANSWER)


@pytest.mark.usefixtures("uninstrumented")
def test_only_where_the_application_wants_it() -> None:
    """The root belongs to another instrumentation."""
    assert texts_of_root(answer) == (None, None)


@pytest.mark.usefixtures("uninstrumented")
def test_what_the_root_says_of_itself_stays() -> None:
    assert texts_of_root(answer, of_its_own="GET", texts_on_root=True) == ("GET", None)


@pytest.mark.usefixtures("uninstrumented")
def test_hidden_texts_are_hidden_there_too() -> None:
    hidden = ("__REDACTED__", "__REDACTED__")
    assert texts_of_root(discreet, texts_on_root=True) == hidden
