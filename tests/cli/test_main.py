"""`rag-otel` itself: what it prints without a command, its version, and what a missing extra says."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from rag_otel.cli.main import COMMANDS, main


def test_without_a_command_it_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in COMMANDS)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("rag-otel 0.")


@pytest.mark.parametrize("missing", ["grpc", "prometheus_client", "uvicorn"])
def test_a_missing_extra_is_one_line_that_names_it(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever of the collector's needs is missing, the extra is the collector's."""
    real = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else real(name))
    monkeypatch.delitem(sys.modules, "rag_otel.cli.collect", raising=False)
    assert main(["collect", "--check"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert missing in line
    assert "pip install 'rag-otel[collector]'" in line
