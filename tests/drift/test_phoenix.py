"""History in a real Phoenix is replayed: what is there as annotations, and what stands on the spans."""

from __future__ import annotations

import secrets

import pytest

from rag_otel.cli.main import main
from testkit.shared_servers import SharedPhoenix
from tests.collectors.backfill.stored import a_trace, send
from tests.collectors.conventions.otlp_json import text_attributes
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.phoenix


def test_annotations_and_attributes_are_replayed(
    phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three traces that a backfill has annotated, one whose span has scores: four evaluations, with score and risk."""
    api, project = PhoenixApi(phoenix_server.base_url), f"drift-{secrets.token_hex(4)}"
    where = ["--project", project, "--phoenix-endpoint", api.base_url]
    send(api, project, *(a_trace(number) for number in range(3)))
    assert main(["traces", "backfill", *where, "--since", "2025-01-01"]) == 0
    scored = a_trace(3)
    (span,) = scored["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span["attributes"] += [
        {"key": f"rag.evaluation.faithfulness.{name}", "value": {"doubleValue": 0.5}} for name in ("score", "risk")
    ]
    span["attributes"] += text_attributes({"rag.evaluation.status": "evaluated"})
    send(api, project, scored)
    capsys.readouterr()
    assert main(["drift", *where, "--since", "2025-01-01"]) == 0
    out = capsys.readouterr().out
    assert f"Replay of {project}: 4 evaluations" in out
    for series in ("faithfulness.score", "faithfulness.risk", "faithfulness.unscored"):
        assert f"{series}" in out
    assert out.count("learning (4)") >= 3


def test_a_project_that_is_not_there(phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, with the server's name."""
    code = main(["drift", "--project", "nowhere", "--phoenix-endpoint", phoenix_server.base_url])
    assert code == 2
    assert phoenix_server.base_url in capsys.readouterr().err
