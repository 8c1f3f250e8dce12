"""`rag-otel` itself: what it prints without a command, its version, its help, and what a missing extra says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel.cli.commands import COMMANDS
from rag_otel.cli.main import main
from rag_otel.settings.gone import GONE_COMMANDS
from testkit.missing_packages import EXTRAS, without

_EVERY_HELP = """
import sys
from rag_otel.cli.main import main
for command in sys.argv[1:]:
    try:
        code = main([*command.split(), "--help"])
    except SystemExit as ended:
        code = ended.code
    print("==", command, code)
"""
ALL = [*COMMANDS, *(f"{name} {each}" for name, command in COMMANDS.items() for each in command.commands)]


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
    done = subprocess.run(
        [sys.executable, "-c", _EVERY_HELP, *ALL], env=environ, capture_output=True, text=True, timeout=120
    )
    ended = [line.removeprefix("== ") for line in done.stdout.splitlines() if line.startswith("==")]
    assert ended == [f"{command} 0" for command in ALL], done.stderr


def test_there_are_few_commands() -> None:
    """What belongs together is in a group."""
    assert len(COMMANDS) <= 13


@pytest.mark.parametrize("gone", GONE_COMMANDS)
def test_a_command_that_is_gone_says_what_to_write(gone: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([gone, "--project", "x"]) == 2
    assert f"write `rag-otel {GONE_COMMANDS[gone]}`" in capsys.readouterr().err
    assert GONE_COMMANDS[gone] in ALL


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["trace"], "did you mean traces?"),
        (["traces", "backfil"], "did you mean backfill?"),
        (["labels", "nothing"], "there are: calibrate, review, feedback"),
    ],
)
def test_an_unknown_command_is_answered_with_the_nearest(
    written: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(written) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert meant in line


@pytest.mark.parametrize(
    ("written", "usage"),
    [
        (["evaluate", "--judg3", "x"], "usage: rag-otel evaluate "),
        (["traces", "plan", "--prise", "1,2"], "usage: rag-otel traces plan "),
        (["judge", "prompts", "show", "faithfulness", "--languag3", "de"], "usage: rag-otel judge prompts show "),
        (["alerts", "test", "--chanel", "slack"], "usage: rag-otel alerts test "),
    ],
)
def test_a_wrong_option_shows_the_usage_of_its_own_command(
    written: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the option that was meant."""
    with pytest.raises(SystemExit) as ended:
        main(written)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(usage)
    assert "did you mean --" in said


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
    folders = ".rag-otel/collector/dead-letters, .rag-otel/collector/state/dead-letters"
    assert capsys.readouterr().out == f"no dead letters in {folders}\n"
    assert main(["dead-letters", "retry", "--endpoint", "http://127.0.0.1:9"]) == 0
    assert "no dead letters" in capsys.readouterr().out
    assert main(["dead-letters", "retry"]) == 0
    assert "no dead letters" in capsys.readouterr().out
