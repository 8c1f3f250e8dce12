"""The examples and the page about files run as they stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel_evaluators.judges.config import JudgeConfig
from rag_otel_evaluators.offline.config import EvaluationConfig, make_config, read_config_file
from rag_otel_evaluators.offline.dataset_rows import read_records
from rag_otel_evaluators.offline.datasets import ALIASES
from testkit.warm_python import warm_python

pytestmark = pytest.mark.server


ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "files"
PAGE = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
SERVER = (
    "import asyncio, os; from testkit import word_overlap_judge; "
    "from testkit.judge_server import JudgeServer; "
    "server = JudgeServer(answer=word_overlap_judge.answer, port=int(os.environ['PORT'])); "
    "asyncio.run(server.serve(lambda: None))"
)


def run(command: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command with this checkout's packages, and its `rag-otel`, at hand."""
    paths = [str(ROOT), str(ROOT / "collectors"), str(ROOT / "evaluators")]
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    return subprocess.run(command, cwd=cwd, env=known, capture_output=True, text=True, check=False)


@pytest.fixture
def commands(tmp_path: Path) -> str:
    """A PATH on which `rag-otel` is this checkout's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "rag-otel"
    script.write_text(f'#!/bin/sh\nexec "{warm_python(with_litellm=True)}" -m rag_otel.cli.main "$@"\n')
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_the_example_in_python(tmp_path: Path) -> None:
    """A right and a wrong answer, told apart."""
    shown = run([warm_python(), str(EXAMPLES / "in_python.py")], tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[:2] == ["right 1.0 1.0", "wrong 0.0 1.0"]


def test_the_page_in_python(tmp_path: Path) -> None:
    """Its code block runs and writes its report."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.partition("## Millions of rows")[0], re.DOTALL)
    shown = run([warm_python(), "-c", block], tmp_path)
    assert shown.stdout == "[1.0] 1.0\n", shown.stderr
    assert (tmp_path / "report" / "index.html").exists()


def test_the_example_configuration() -> None:
    """Reads, and points to data that is there."""
    path = EXAMPLES / "config.yaml"
    config = make_config(read_config_file(path), source=str(path))
    assert config.data is not None
    assert config.data.exists()


def test_the_page_names_every_setting_and_every_name() -> None:
    """No setting, no usual column name is missing from the page."""
    settings = {*EvaluationConfig.model_fields, *JudgeConfig.model_fields}
    names = {name for aliases in ALIASES.values() for name in aliases}
    assert {name for name in settings | names if f"`{name}`" not in PAGE} == set()


@pytest.mark.parametrize("served", [False, True])
def test_the_launcher(tmp_path: Path, commands: str, served: bool) -> None:
    """A batch job evaluates a configuration, by a model server of its own where one is named."""
    row = {"question": "Q?", "contexts": ["The tower was finished in 1889."], "response": "It was finished in 1889."}
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    judge = "openai/judge" if served else "embedded"
    (tmp_path / "config.yaml").write_text(f"data: in.jsonl\noutput: out.jsonl\njudge: {judge}\n")
    serve = {"SERVE": f'"{sys.executable}" -c "{SERVER}"'} if served else {}
    shown = run(["bash", str(EXAMPLES / "evaluate.sbatch"), "config.yaml"], tmp_path, PATH=commands, **serve)
    assert shown.returncode == 0, shown.stderr
    (record,) = read_records(tmp_path / "out.jsonl")
    assert record.value is not None
    assert (record.value["faithfulness"], record.value["faithfulness_detail"]["judge"]) == (1.0, judge)


def test_a_model_server_that_ends_early_ends_the_job(tmp_path: Path, commands: str) -> None:
    """Instead of waiting for it until the time is up."""
    shown = run(["bash", str(EXAMPLES / "evaluate.sbatch"), "config.yaml"], tmp_path, PATH=commands, SERVE="false")
    assert shown.returncode == 1
    assert "ended before it listened" in shown.stderr
