"""`instrument()` before the application's own provider: no span is lost, and the scores are where the spans go."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from testkit.warm_python import warm_python
from tests.processing.otlp import received

ROOT = Path(__file__).parents[2]
ALL = {"answer": (10, 10, 10), "child": (10, 10, 0), "early": (10, 10, 0), "own": (10, 10, 0)}
"""By name: spans, different ones, scored ones."""


def run(module: str, *arguments: str, **environment: str) -> str:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "collectors", ROOT / "evaluators")))
    done = subprocess.run(
        [warm_python(), "-m", f"tests.processing.{module}", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def arrived(output: str) -> dict[str, tuple[int, ...]]:
    rows = (line.split() for line in output.splitlines())
    return {row[0]: tuple(map(int, row[1:])) for row in rows if row[0] in ALL}


@pytest.mark.parametrize("case", ["at once", "call first"])
def test_with_nowhere_to_export_the_provider_that_comes_is_followed(case: str) -> None:
    """Nothing global is installed meanwhile: the application's provider takes the place, and every span arrives."""
    assert arrived(run("following_app", case)) == ALL


@pytest.mark.parametrize("case", ["at once", "call first"])
def test_with_an_endpoint_a_later_provider_takes_over(case: str) -> None:
    """A provider of ours was global: it gives way, and tracers taken from it go on to the application's exporters. What
    ended before stays where it was sent."""
    with http_receiver() as ours:
        assert arrived(run("following_app", case, OTEL_EXPORTER_OTLP_ENDPOINT=ours.url)) == ALL
        names = sorted(name for name, _ in received(ours))
        assert names == (["answer", "child"] if case == "call first" else [])


@pytest.mark.parametrize("endpoint", [False, True])
def test_phoenix_registers_later(endpoint: bool) -> None:
    """`phoenix.otel.register()` after `instrument()`: every span is in Phoenix, scored."""
    with http_receiver() as phoenix, http_receiver() as other:
        environment = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{other.url}/v1/traces"} if endpoint else {}
        run("registering_app", phoenix.url, **environment)
        spans = eventually(lambda: received(phoenix))
        assert sorted(name for name, _ in spans) == ["answer"] * 10 + ["child"] * 10
        assert sum("rag.evaluation.faithfulness.score" in attributes for _, attributes in spans) == 10
        assert other.requests == []
