"""A FastAPI application under OpenTelemetry's own instrumentation: the scored span is not the root of its trace."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import pytest

from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.browser import chromium_page
from tests.support.phoenix_server import PhoenixApi

pytestmark = [pytest.mark.phoenix, pytest.mark.browser]
APP = textwrap.dedent(
    """
    import sys

    import rag_otel
    from fastapi import FastAPI
    from fastapi.testclient import TestClient
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

    endpoint, project = sys.argv[1:]
    spans = rag_otel.SpanSettings(texts_on_root=True)
    rag_otel.instrument(phoenix_endpoint=endpoint, project_name=project, spans=spans)
    app = FastAPI()

    @app.get("/ask")
    def ask(q: str) -> dict:
        return {"answer": answer(q)}

    @rag_otel.observe
    def answer(question: str) -> str:
        rag_otel.record_chunks(["The lighthouse of Kap Arkona was built in 1827."])
        return "The lighthouse was built in 1827."

    FastAPIInstrumentor.instrument_app(app, exclude_spans=["receive", "send"])
    assert TestClient(app).get("/ask", params={"q": "When was the lighthouse built?"}).status_code == 200
    assert rag_otel.flush(timeout=60)
    """
)
QUESTION = "When was the lighthouse built?"
ANSWER = "The lighthouse was built in 1827."
TRACES = """query ($name: String!) { projects(filter: {col: name, value: $name}) { edges { node {
  name spans(first: 50, filterCondition: "parent_id is None") { edges { node {
    name spanAnnotations { name score } trace { traceAnnotations { name score identifier } }
  } } } } } } }"""


@pytest.mark.slow(reason="an application, Phoenix and a browser, one after the other")
def test_the_scores_are_where_people_look(phoenix_server: SharedPhoenix, tmp_path: Path) -> None:
    """On the trace, on its root under a name of their own, once each on the scored span; both tabs show them."""
    project = f"fastapi-{uuid.uuid4().hex[:8]}"
    (tmp_path / "app.py").write_text(APP)
    subprocess.run([sys.executable, "app.py", phoenix_server.base_url, project], cwd=tmp_path, check=True)
    api = PhoenixApi(phoenix_server.base_url)

    def root() -> dict[str, object] | None:
        edges = api.graphql(TRACES, name=project)["projects"]["edges"]
        nodes = [edge["node"] for each in edges for edge in each["node"]["spans"]["edges"]]
        return nodes[0] if nodes and nodes[0]["spanAnnotations"] and nodes[0]["trace"]["traceAnnotations"] else None

    found = eventually(root, within_s=120)
    assert found is not None
    assert found["name"] == "GET /ask"
    assert [each["name"] for each in found["spanAnnotations"]] == ["rag_faithfulness"]  # type: ignore[attr-defined]
    of_trace = found["trace"]["traceAnnotations"]  # type: ignore[index]
    assert [each["name"] for each in of_trace] == ["faithfulness"]
    by_name = {span["name"]: span for span in api.spans(project)}
    assert sorted(by_name) == ["GET /ask", "answer", "evaluation faithfulness"]
    row = by_name["GET /ask"]["attributes"]
    assert (row["input.value"], row["output.value"]) == (QUESTION, ANSWER)
    answer = by_name["answer"]["context"]["span_id"]
    on_answer = eventually(lambda: api.annotations(project, answer))
    assert [each["name"] for each in on_answer] == ["faithfulness"]
    text = by_name["evaluation faithfulness"]["attributes"]["output.value"]
    assert "✓ supported: The lighthouse was built in 1827." in text

    page_url = PhoenixClient(phoenix_server.base_url).project_page(project)
    with chromium_page(width=2600) as page:
        page.set_default_timeout(120_000)
        page.goto(f"{page_url}/spans")
        page.get_by_role("link", name="GET /ask").first.wait_for()
        page.get_by_text("rag_faithfulness").first.wait_for()
        page.get_by_role("cell").get_by_text(QUESTION).first.wait_for()
        page.get_by_role("cell").get_by_text(ANSWER).first.wait_for()
        page.goto(f"{page_url}/traces")
        page.get_by_role("columnheader", name="trace annotations").wait_for()
        page.get_by_role("cell").get_by_text("faithfulness").first.wait_for()
