"""`rag-otel` itself: what it prints without a command, its version, its help, and what a missing extra says."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rag_otel.cli import work
from rag_otel.cli.collect import in_five_lines
from rag_otel.cli.commands import COMMANDS
from rag_otel.cli.main import main
from rag_otel.settings.gone import GONE_COMMANDS
from rag_otel_collectors.jobs.queue import QueueSettings
from rag_otel_collectors.otlp.settings import configure
from testkit.missing_packages import EXTRAS, without
from tests.collectors.conventions.spans import FIXTURES

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


def test_an_option_that_makes_no_sense_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not `evaluate: evaluate:`, and without words of the library that found it."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "contexts": ["c"], "response": "r"}\n')
    assert main(["evaluate", str(rows), "--judge", "gpt"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("rag-otel evaluate: options: judge.model: 'gpt' names no provider")


def test_a_judge_that_nobody_is_at_is_told_without_tls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "contexts": ["A tower is high."], "response": "A tower is high."}\n')
    options = ["--judge", "openai/m", "--api-base", "http://127.0.0.1:9/v1", "--no-cache"]
    assert main(["evaluate", str(rows), *options, "--output", str(tmp_path / "out.jsonl")]) == 1
    said = capsys.readouterr().err
    assert "no connection to 127.0.0.1:9" in said
    assert "ssl" not in said


@pytest.mark.parametrize("judge", ["openai/gpt-4o-mini", "decisions/openai/gpt-6-luna"])
def test_a_dry_run_needs_no_key(
    judge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is sent to the judge."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = ["--judge", judge, "--output", str(tmp_path / "out.jsonl"), "--dry-run", "--json"]
    assert main(["traces", "backfill", str(FIXTURES / "haystack_oi_openai.json"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["evaluated"] == 0


def test_a_budget_that_cannot_be_kept_is_refused_before_the_first_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAG_OTEL_JUDGE_API_BASE", "http://127.0.0.1:9/v1")
    options = ["--judge", "openai/nobody-knows-its-price", "--output", str(tmp_path / "out"), "--budget-usd", "1"]
    assert main(["traces", "backfill", "x.jsonl", *options]) == 2
    unknown = "openai/nobody-knows-its-price: --budget-usd needs a price, and none is known"
    assert unknown in capsys.readouterr().err
    assert main(["labels", "feedback", *options[:2], "--budget-usd", "1"]) == 2
    assert unknown in capsys.readouterr().err
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "contexts": ["c"], "response": "r"}\n')
    address = ["--api-base", "http://127.0.0.1:9/v1"]
    assert main(["evaluate", str(rows), *options[:2], *address, "--budget-usd", "1"]) == 2
    assert unknown.replace("--budget-usd", "budget_usd") in capsys.readouterr().err


def test_an_evaluation_that_cannot_begin_leaves_no_cache_behind(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"question": "q", "contexts": ["c"], "response": "r"}\n')
    program = [sys.executable, "-m", "rag_otel.cli.main", "evaluate", str(rows), "--judge", "anthropic/x"]
    program += ["--output", str(tmp_path / "out.jsonl")]
    hidden = without(EXTRAS, tmp_path / "hidden")
    done = subprocess.run(program, env=hidden, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'rag-otel[llm]'" in done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hidden", "rows.jsonl"]


@pytest.mark.parametrize("group", ["alerts", "judge prompts", "labels"])
def test_a_group_without_a_command_lists_them(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(group.split()) == 0
    shown = capsys.readouterr().out
    below = {"alerts": ["test"], "judge prompts": ["list", "show", "save", "adapt"], "labels": ["calibrate", "review"]}
    assert all(re.search(rf"\n    {name}\s", shown) for name in below[group])


def test_a_set_up_without_its_extra_is_one_error(tmp_path: Path) -> None:
    """The caller's line and the message, without our frames and without what was tried before."""
    program = "import rag_otel\nrag_otel.instrument(judge='openai/x', evaluations_per_minute=1)\n"
    done = subprocess.run(
        [sys.executable, "-c", program], env=without(EXTRAS, tmp_path), capture_output=True, text=True, timeout=120
    )
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert [line for line in lines if not line.startswith(" ")][1:] == [lines[-1]]
    assert sum(line.startswith("  File ") for line in lines) == 2
    assert "pip install 'rag-otel[llm]'" in lines[-1]


def test_a_collector_begins_with_five_lines() -> None:
    configuration = configure({"backend": ["http://127.0.0.1:9"], "sample_ratio": 0.5}, environ={})
    lines = in_five_lines(configuration).splitlines()
    assert len(lines) == 5
    assert "127.0.0.1:4317" in lines[0]
    assert "faithfulness of 50% of traces, by embedded" in lines[2]
    assert "2 were set" in lines[4]
    recognised = replace(
        configuration.evaluation,
        origins={**configuration.evaluation.origins, "phoenix_endpoint": "backend 1, a Phoenix"},
    )
    assert "2 were set" in in_five_lines(replace(configuration, evaluation=recognised)), "and one was found out"


def test_a_worker_begins_with_five_lines() -> None:
    url = "amqp://user:password@host:5672/"
    configuration = configure({"backend": ["http://127.0.0.1:9"], "job_queue_url": url}, environ={})
    lines = work.in_five_lines(configuration, QueueSettings.at(url), None).splitlines()
    assert len(lines) == 5
    assert "rag-otel at amqp://host:5672/" in lines[0]
    assert "http://127.0.0.1:9" in lines[1]
    assert "2 were set" in lines[4]


def test_a_collector_names_only_the_addresses_that_it_listens_on() -> None:
    configuration = configure({"backend": ["http://127.0.0.1:9"], "grpc": ""}, environ={})
    assert in_five_lines(configuration).splitlines()[0] == "receives OTLP: HTTP 127.0.0.1:4318"


def test_a_collector_names_the_topic_that_it_reads() -> None:
    read = {"backend": ["http://127.0.0.1:9"], "grpc": "", "kafka_brokers": ["one:9092"], "kafka_topic": "spans"}
    first = in_five_lines(configure(read, environ={})).splitlines()[0]
    assert first == "receives OTLP: HTTP 127.0.0.1:4318, Kafka's topic spans at one:9092"
    silent = configure({**read, "kafka_topic": ""}, environ={})
    assert "Kafka" not in in_five_lines(silent)


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["judge", "check", "--limit", "1", "--stress", "0"], "output"),
        (["compare", "{rows}", "{rows}", "--metrics", "faithfulness"], "output"),
        (["drift", "{rows}"], "html"),
        (["drift", "{rows}"], "save-baselines"),
    ],
)
def test_a_file_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], option: str
) -> None:
    """One line that names the option and the file."""
    rows, missing = tmp_path / "rows.jsonl", tmp_path / "no" / "folder"
    rows.write_text('{"question": "q", "faithfulness": 0.5, "score": 0.5}\n', encoding="utf-8")
    assert main([*(each.format(rows=rows) for each in command), f"--{option}", str(missing)]) == 2
    assert f"{option}: {missing} cannot be written" in capsys.readouterr().err
