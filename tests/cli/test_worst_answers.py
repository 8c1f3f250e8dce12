"""The way to the bad answers of a project, with a real Phoenix."""

from __future__ import annotations

import dataclasses
import secrets
import time

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from rag_otel.cli.main import main
from rag_otel.cli.worst_answers import worst_answers
from rag_otel.model import SpanRef
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import a_result, an_evaluation

pytestmark = pytest.mark.phoenix


def a_project(server: SharedPhoenix, *risks: float | None) -> tuple[str, list[SpanRef]]:
    """A project of answers: unfaithful with these risks, faithful where there is none."""
    name = f"worst-{secrets.token_hex(4)}"
    provider = TracerProvider(resource=Resource({"openinference.project.name": name}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=server.traces_endpoint)))
    results = []
    for number, risk in enumerate(risks):
        span = provider.get_tracer("app").start_span("answer", start_time=time.time_ns() - number * 10**9)
        span.end()
        context = span.get_span_context()
        target = SpanRef(trace_id=f"{context.trace_id:032x}", span_id=f"{context.span_id:016x}")
        said = {"explanation": f'Contradicted: "Claim {number}." The context says otherwise.'}
        fine = {"score": 1.0, "risk": 0.1, "label": "faithful"}
        evaluation = an_evaluation(**said, **(fine if risk is None else {"risk": risk}))
        results.append(dataclasses.replace(a_result(evaluation, target=target), project=name))
    PhoenixAnnotationWriter(server.base_url).write(results)
    targets = [result.trace.target for result in results]
    ids = [target.span_id for target in targets]
    eventually(lambda: len(PhoenixApi(server.base_url).annotations(name, *ids)) == len(ids))
    reader = PhoenixClient(server.base_url)
    eventually(lambda: len(reader.trace_annotations(name, [each.trace_id for each in targets])) == len(ids))
    return name, targets


def test_the_five_worst_answers_are_linked_the_worst_first(phoenix_server: SharedPhoenix) -> None:
    name, targets = a_project(phoenix_server, 0.5, 0.9, None, 0.6, 0.99, 0.7, 0.8)
    lines = list(worst_answers(PhoenixClient(phoenix_server.base_url), name, "https://phoenix.example"))
    assert "6 unfaithful answers among the newest 7 traces" in lines[0]
    links = [line.rpartition("/")[2] for line in lines if "https://phoenix.example/redirects/traces/" in line]
    assert links == [targets[number].trace_id for number in (4, 1, 6, 5, 3)]
    assert lines[1] == '  risk 0.99  Contradicted: "Claim 4." The context says otherwise.'
    assert "annotations['faithfulness'].label == 'unfaithful'" in lines[-1]


def test_nothing_is_said_of_a_project_that_is_fine(phoenix_server: SharedPhoenix) -> None:
    name, _ = a_project(phoenix_server, None)
    assert list(worst_answers(PhoenixClient(phoenix_server.base_url), name, "https://phoenix.example")) == []


def test_doctor_ends_with_them(
    phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, (bad,) = a_project(phoenix_server, 0.9)
    monkeypatch.setenv("RAG_OTEL_PHOENIX_ENDPOINT", phoenix_server.base_url)
    monkeypatch.setenv("RAG_OTEL_PROJECT_NAME", name)
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-2].endswith(f"/redirects/traces/{bad.trace_id}")
