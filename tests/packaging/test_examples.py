"""The examples run as their first lines say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from testkit.collector import a_backend, a_collector
from testkit.polling import eventually
from testkit.warm_python import warm_python

pytestmark = pytest.mark.server


EXAMPLES = Path(__file__).parents[2] / "examples"
RISK = "rag.evaluation.faithfulness.risk"


def run(example: str, folder: Path, **environ: str) -> str:
    """What the program prints."""
    done = subprocess.run(
        [warm_python(), str(EXAMPLES / example)],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_app_without_rag_otel_is_judged_by_the_collector(tmp_path: Path) -> None:
    """The made-up answer has the higher risk when it reaches the backend."""
    with a_backend() as backend, a_collector(tmp_path / "data", "--backend", backend.address) as collector:
        run("collector/app.py", tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.http_address)
        spans = eventually(lambda: found if len(found := backend.attributes("answer")) == 2 else None)
    true, invented = sorted(spans, key=lambda each: each["output.value"])
    assert true[RISK] < 0.3 < invented[RISK]


def test_a_worse_model_is_told_as_drift(tmp_path: Path) -> None:
    """One alert names the rise of the risk and the model that it came with."""
    told = run("watching/app.py", tmp_path)
    assert "firing: drift_risk: The hallucination risk rose from" in told
    assert "most_moved_1: model=llama-2-7b-chat: new -> 0." in told


def test_answers_are_judged_before_they_leave(tmp_path: Path) -> None:
    """The invented sentence is removed, noted and blocked."""
    removed, noted, blocked = run("guard/app.py", tmp_path).splitlines()
    assert "Nevada" not in removed
    assert removed.endswith("It is 330 metres tall.")
    assert "in 1999. [not supported by the sources] It is" in noted
    assert blocked.startswith("blocked:   This answer is withheld")
