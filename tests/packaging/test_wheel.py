"""What a user gets from the index: the wheel, without this source tree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.server, pytest.mark.long]

ROOT = Path(__file__).parents[2]

SCORED_IN_PROCESS = """
import json, rag_otel
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(exporter))
rag_otel.instrument(provider)

@rag_otel.observe
def answer(question):
    return {"answer": "Paris is the capital of France.", "chunks": ["Paris is the capital of France."]}

answer("What is the capital of France?")
assert rag_otel.flush(evaluate=True, timeout=20)
provider.force_flush()
(span,) = exporter.get_finished_spans()
print(json.dumps({"module": rag_otel.__file__, "score": span.attributes["rag.evaluation.faithfulness.score"]}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the wheel's content and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def _run(installed: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Python with the wheel and its dependencies: `-S` keeps the editable install of this tree out."""
    environ = {
        **{k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG")},
        "PYTHONPATH": os.pathsep.join([str(installed), sysconfig.get_path("purelib")]),
    }
    return subprocess.run(
        [sys.executable, "-S", *arguments], cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )


def test_wheel_holds_three_packages_and_no_more(wheel: Path) -> None:
    """Nothing generic (tests, examples, docs) lands in site-packages."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert tops == {"rag_otel", "rag_otel_collectors", "rag_otel_evaluators"}
    assert {f"{top}/py.typed" for top in tops} <= set(names)


def test_decorated_call_is_scored_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Decorator, processor and embedded judge work with nothing but the wheel's files."""
    done = _run(installed, "-c", SCORED_IN_PROCESS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert Path(report["module"]).is_relative_to(installed)
    assert report["score"] == 1.0


def test_commands_work_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """`rag-otel inspect` and `rag-otel evaluate` read a file and write their rows."""
    fixture = ROOT / "tests/fixtures/spans/langchain_oi_invoke.json"
    inspected = _run(installed, "-m", "rag_otel.cli.main", "inspect", str(fixture), cwd=tmp_path)
    assert inspected.returncode == 0, inspected.stderr
    assert json.loads(inspected.stdout.splitlines()[0])["question"] == "What is the capital of France?"

    (tmp_path / "in.jsonl").write_text(
        json.dumps({"question": "q", "contexts": ["The tower is 330 m high."], "response": "The tower is 330 m high."})
    )
    command = ["evaluate", "in.jsonl", "--metrics", "faithfulness", "--output", "out.jsonl"]
    evaluated = _run(installed, "-m", "rag_otel.cli.main", *command, cwd=tmp_path)
    assert evaluated.returncode == 0, evaluated.stderr
    assert json.loads((tmp_path / "out.jsonl").read_text())["faithfulness"] == 1.0


def test_the_demos_data_is_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Without a checkout: the week's answers, the coefficients that never saw them, the app that gives them."""
    code = """
import json, time
from rag_otel.cli.demo.story import OutOfFoldFaithfulness, examples_folder, load_app, week
examples = examples_folder()
asked = week(examples, now_ns=time.time_ns())
OutOfFoldFaithfulness(examples)
answered = load_app(examples).answer(asked[0].question, asked[0].model)
print(json.dumps({"folder": str(examples), "asked": len(asked), "chunks": len(answered["chunks"])}))
"""
    done = _run(installed, "-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert Path(report["folder"]).is_relative_to(installed)
    assert report["asked"] > 50
    assert report["chunks"] > 0


@pytest.mark.long
@pytest.mark.phoenix
def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """With a Phoenix of its own, verified through Phoenix's API."""
    done = _run(installed, "-m", "rag_otel.cli.main", "demo", "--check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Phoenix has all of the" in done.stdout


def test_the_pytest_plugin_comes_with_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Found by its entry point: the fixture is there without any configuration."""
    (tmp_path / "test_app.py").write_text(
        "def test_answer(assert_faithful):\n"
        "    assert_faithful('How high?', ['It is 330 m high.'], 'It is 440 m high.')\n"
    )
    done = _run(installed, "-m", "pytest", "-p", "no:phoenix", "-p", "no:cacheprovider", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the answer is not faithful: 0 of 1 claims are supported" in done.stdout
