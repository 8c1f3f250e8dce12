"""The wheel and the sdist, installed into empty environments of every Python that this machine has."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.test_wheel import SCORED_IN_PROCESS
from tests.support.package_index import index_options, uv_command

pytestmark = [pytest.mark.server, pytest.mark.long]

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def interpreter(version: str) -> str | None:
    """An interpreter of that version: this one, one on the PATH, or one of pyenv's."""
    named = shutil.which(f"python{version}")
    of_pyenv = [str(each) for each in sorted((Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"))]
    for path in (sys.executable, *([named] if named else []), *of_pyenv):
        asked = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if asked.returncode == 0 and asked.stdout.split()[-1].startswith(f"{version}."):
            return path
    return None


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist of this tree, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


def installed(distribution: Path, python: str, folder: Path) -> Path:
    """The interpreter of a new environment with the distribution and what it depends on."""
    subprocess.run(uv_command("venv", "--quiet", "--python", python, str(folder)), check=True)
    target = folder / "bin" / "python"
    command = uv_command("pip", "install", "--quiet", "--python", str(target), *index_options(), str(distribution))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and re.search(r"dns error|Connect|Request failed", done.stderr):
        pytest.skip("no package index answers")
    assert done.returncode == 0, done.stderr
    return target


def ran(command: list[str], cwd: Path) -> str:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("version", VERSIONS)
def test_the_quickstart_runs_on_every_python(version: str, distributions: dict[str, Path], tmp_path: Path) -> None:
    """A decorated call is scored, and the first program of the README runs to its end."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"no Python {version} here")
    python = installed(distributions["wheel"], found, tmp_path / "environment")
    report = json.loads(ran([str(python), "-c", SCORED_IN_PROCESS], tmp_path).splitlines()[-1])
    assert Path(report["module"]).is_relative_to(tmp_path / "environment")
    assert report["score"] == 1.0
    quickstart = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)[0]
    (tmp_path / "app.py").write_text(quickstart + '\nprint(answer("How high is the tower?"))\n')
    assert "330 metres" in ran([str(python), "app.py"], tmp_path)
    assert ran([str(python.with_name("rag-otel")), "--version"], tmp_path).startswith("rag-otel 0.")


def test_the_sdist_installs(distributions: dict[str, Path], tmp_path: Path) -> None:
    """It builds without the repository around it."""
    python = installed(distributions["sdist"], sys.executable, tmp_path / "environment")
    assert ran([str(python), "-c", "import rag_otel; print(rag_otel.__version__)"], tmp_path).startswith("0.")
