"""Masking, the record and local judges alone, as an application's settings turn them on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel import semconv
from rag_otel.errors import ConfigurationError
from rag_otel.settings.groups import JudgeSettings
from rag_otel_evaluators import evaluate
from testkit.judge_server import JudgeServer
from testkit.word_overlap_judge import answer as word_overlap

TEXT = "Write to ann@example.org with the key sk-abcdefgh12345678."
SCORE = "rag.evaluation.faithfulness.score"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with JudgeServer(answer=word_overlap) as running:
        yield running


@rag_otel.observe(name="support/chat")
def support(question: str) -> dict[str, object]:
    return {"answer": TEXT, "chunks": [TEXT]}


@rag_otel.observe(name="faq")
def faq(question: str) -> dict[str, object]:
    return {"answer": TEXT, "chunks": [TEXT]}


def instrumented(judge: JudgeSettings) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    rag_otel.instrument(provider, judge=judge, evaluations_per_minute=600)
    return exporter


@pytest.mark.usefixtures("uninstrumented", "litellm_is_loaded")
@pytest.mark.parametrize("name", ["openai/judge", "cascade/openai/judge"])
def test_a_route_for_local_judges_alone_is_skipped(server: JudgeServer, name: str) -> None:
    """The span says why, nothing leaves for it, and other routes are judged."""
    exporter = instrumented(JudgeSettings(model=name, api_base=server.url, local_only=["support*"]))
    support("Whom do I ask?")
    faq("Whom do I ask?")
    assert rag_otel.flush(timeout=60)
    spans = {span.name: dict(span.attributes or {}) for span in exporter.get_finished_spans()}
    assert spans["support/chat"][semconv.STATUS] == "skipped"
    assert spans["support/chat"][semconv.STATUS_REASON] == "local_only"
    assert SCORE not in spans["support/chat"]
    assert spans["faq"][SCORE] == 1.0
    assert len(server.requests) <= 1


@pytest.mark.usefixtures("uninstrumented")
def test_a_local_judge_sees_every_route() -> None:
    """The embedded one sends nothing away."""
    exporter = instrumented(JudgeSettings(model="embedded", local_only=["*"]))
    support("Whom do I ask?")
    assert rag_otel.flush(timeout=60)
    (span,) = exporter.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes[semconv.STATUS] == "evaluated"


@pytest.mark.usefixtures("uninstrumented", "litellm_is_loaded")
def test_an_application_masks_and_records(server: JudgeServer, tmp_path: Path) -> None:
    """Two settings; claims on the span have the original text."""
    file = tmp_path / "sent.jsonl"
    exporter = instrumented(
        JudgeSettings(model="openai/judge", api_base=server.url, mask=["secrets", "email"], record_file=str(file))
    )
    faq("Is ann@example.org right?")
    assert rag_otel.flush(timeout=60)
    (request,) = server.requests
    assert "[c0.s0] Write to <EMAIL_1> with the key <SECRET_1>." in request.prompt
    assert json.loads(file.read_text())["messages"] == request.body["messages"]
    (span,) = [each for each in exporter.get_finished_spans() if each.name == "faq"]
    assert span.attributes is not None
    assert TEXT in span.attributes.values()


@pytest.mark.usefixtures("litellm_is_loaded")
def test_files_are_masked_too(server: JudgeServer) -> None:
    """The same settings for a data set."""
    rows = [{"question": "Who?", "contexts": [TEXT], "response": TEXT}]
    judge = {"model": "openai/judge", "api_base": server.url, "mask": "secrets,email"}
    (result,) = evaluate(rows, judge=judge, progress=False).results
    assert result.evaluations[0].score == 1.0
    assert "ann@example.org" not in json.dumps(server.requests[0].body)


@pytest.mark.usefixtures("uninstrumented")
def test_a_class_that_does_not_exist_is_refused() -> None:
    """At the start, with those that do."""
    with pytest.raises(ConfigurationError, match="unknown mail; there are: secrets, email"):
        instrumented(JudgeSettings(model="openai/judge", mask=["mail"]))
