"""`rag-otel doctor` against a real Phoenix, and against what is commonly wrong."""

from __future__ import annotations

import pytest

from rag_otel.cli.main import main
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from testkit.shared_servers import SharedPhoenix


@pytest.mark.phoenix
def test_a_working_set_up_is_found_working(
    phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marked trace comes back with its scores and annotations, the configuration with its origins."""
    monkeypatch.setenv("RAG_OTEL_PHOENIX_ENDPOINT", phoenix_server.base_url)
    monkeypatch.setenv("RAG_OTEL_PROJECT_NAME", "doctor-test")
    monkeypatch.setenv("RAG_OTEL_ALERT_WEBHOOK_SECRET", "s3cret")
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "FAIL" not in said
    assert "environment RAG_OTEL_PHOENIX_ENDPOINT" in said
    assert "s3cret" not in said
    assert "found in project 'doctor-test': status evaluated, score 1.0" in said
    assert "annotations: faithfulness" in said
    assert "removed from Phoenix" in said
    assert "default" not in said.partition("Checks")[0].replace("defaults", "")
    assert [span["name"] for span in PhoenixClient(phoenix_server.base_url).spans("doctor-test")] == []


def test_a_phoenix_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody at the address: exit code 1, the address and the way out."""
    assert main(["doctor", "--phoenix-endpoint", "http://127.0.0.1:9"]) == 1
    said = capsys.readouterr().out
    assert "Phoenix does not answer at http://127.0.0.1:9" in said
    assert "RAG_OTEL_PHOENIX_ENDPOINT" in said


def test_all_settings_are_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    """What differs from its default, or everything."""
    main(["doctor", "--phoenix-endpoint", "http://127.0.0.1:9"])
    short = capsys.readouterr().out
    main(["doctor", "--phoenix-endpoint", "http://127.0.0.1:9", "--all"])
    everything = capsys.readouterr().out
    assert "phoenix_endpoint" in short
    assert "sample_ratio" not in short
    assert "sample_ratio" in everything


def test_no_backend_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Without any endpoint doctor says which variable to set."""
    assert main(["doctor"]) == 1
    assert "no backend is configured" in capsys.readouterr().out


def test_switched_off_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """RAG_OTEL_ENABLED=false explains why nothing happens."""
    monkeypatch.setenv("RAG_OTEL_ENABLED", "false")
    assert main(["doctor"]) == 1
    assert "RAG_OTEL_ENABLED" in capsys.readouterr().out


def test_a_bad_setting_is_exit_code_two(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that cannot be is an error of configuration, named with its variable."""
    monkeypatch.setenv("RAG_OTEL_SAMPLE_RATIO", "7")
    assert main(["doctor"]) == 2
    assert "RAG_OTEL_SAMPLE_RATIO" in capsys.readouterr().err
