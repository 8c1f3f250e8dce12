"""`rag-otel` itself: what it prints without a command, its version, its help, and what a missing extra says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel.cli.main import COMMANDS, main
from testkit.missing_packages import EXTRAS, without

_EVERY_HELP = """
from rag_otel.cli.main import COMMANDS, main
for command in COMMANDS:
    try:
        code = main([command, "--help"])
    except SystemExit as ended:
        code = ended.code
    print("==", command, code)
"""


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


def test_help_needs_no_extra(tmp_path: Path) -> None:
    """Somebody who asks what a command does may not have installed what it needs."""
    environ = without(EXTRAS, tmp_path)
    done = subprocess.run([sys.executable, "-c", _EVERY_HELP], env=environ, capture_output=True, text=True, timeout=120)
    ended = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("==")]
    assert ended == [[command, "0"] for command in COMMANDS], done.stderr


@pytest.mark.parametrize("command", ["collect", "work"])
def test_a_command_without_its_extra_is_one_line(command: str, tmp_path: Path) -> None:
    """The line names the extra, and nothing else is printed."""
    program = [sys.executable, "-m", "rag_otel.cli.main", command]
    done = subprocess.run(program, env=without(EXTRAS, tmp_path), capture_output=True, text=True, timeout=120)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'rag-otel[" in line


def test_dead_letters_without_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder is the collector's usual one; where there is nothing in it, there is nothing to send anywhere."""
    monkeypatch.chdir(tmp_path)
    assert main(["dead-letters", "list"]) == 0
    assert capsys.readouterr().out == "no dead letters in .rag-otel/collector/dead-letters\n"
    assert main(["dead-letters", "retry", "--endpoint", "http://127.0.0.1:9"]) == 0
    assert "no dead letters" in capsys.readouterr().out
    assert main(["dead-letters", "retry"]) == 0
    assert "no dead letters" in capsys.readouterr().out
