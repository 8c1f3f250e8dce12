"""The migration page: every example runs, against a judge server in place of a paid model."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.commands import COMMANDS
from rag_otel_evaluators.metrics.registry import metric_names
from testkit.judge_server import JudgeRequest, JudgeServer
from testkit.warm_python import warm_python
from testkit.word_overlap_judge import fields_of
from tests.packaging.test_readme import MIGRATION, blocks

pytestmark = pytest.mark.server

TOOLS = ("Ragas", "DeepEval", "TruLens", "Langfuse")


def agreeable(request: JudgeRequest) -> Any:
    """A judge that approves of everything, in the form that each prompt asks for."""
    items = {name: len(re.findall(r"^\[\d+\] ", text, flags=re.MULTILINE)) for name, text in fields_of(request).items()}
    chunks = items.get("chunks") or 1
    verdict = {"evidence": ["c0.s0"], "chunks": [0], "reason": "r", "verdict": "supported"}
    yes = {"attributed": True, "stated": True, "in_reference": True, "useful": True}
    about_each = {
        "verdicts": [{"claim": i, "chunk": i, **verdict, **yes} for i in range(items.get("claims") or chunks)]
    }
    relevance = {"chunks": [{"chunk": i, "rating": 2} for i in range(chunks)], "rating": 2}
    questions = {"noncommittal": False, "questions": ["How high is the tower?"] * 3}
    known = {**about_each, **relevance, **questions, "reason": "r", "level": 2, "verdict": True}
    wanted = (request.schema or {}).get("properties", known)
    return {name: value for name, value in known.items() if name in wanted}


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeServer]:
    with JudgeServer(answer=agreeable) as server:
        yield server


def test_there_is_a_section_for_each() -> None:
    """Four libraries, each with an example."""
    sections = MIGRATION.read_text(encoding="utf-8").split("\n## ")[1:]
    assert all(
        f"From {tool}" in section and "```python" in section for tool, section in zip(TOOLS, sections, strict=True)
    )


def test_the_examples_run(judge: JudgeServer, tmp_path: Path) -> None:
    """All blocks in order, as one program; its tests by pytest; without a score that is missing for a failure."""
    program = tmp_path / "test_page.py"
    program.write_text("\n\n".join(blocks(MIGRATION)), encoding="utf-8")
    environ = {**os.environ, "OPENAI_BASE_URL": judge.url, "OPENAI_API_KEY": "sk-test"}
    plugin = ["-p", "rag_otel_evaluators.pytest_plugin", "-p", "no:cacheprovider"]
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    arguments = ["-m", "pytest", "-s", *plugin, str(program)]
    command = [warm_python(with_litellm=True), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    missing = re.findall(r"error|incomplete|abstained|no_\w+| none", done.stdout)
    assert not missing, done.stdout  # a metric without a score


def test_every_metric_and_command_of_the_page_exists() -> None:
    """The names in the table's last column, and the commands."""
    text = MIGRATION.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:`|^    )rag-otel ([a-z]+)", text, flags=re.MULTILINE)) <= set(COMMANDS)
    column = re.findall(r"\|([^|]+)\|$", text, flags=re.MULTILINE)
    lower = {name for cell in column for name in re.findall(r"`([a-z_]+)`", cell) if "_" in name}
    assert len(lower) >= 10
    assert lower - {"llm_evaluator"} <= set(metric_names())
