"""Every extra resolves in an empty environment, alone and with all others; and what works without one."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from testkit.missing_packages import EXTRAS as PACKAGES
from testkit.missing_packages import without
from tests.support.package_index import index_options, uv_command

ROOT = Path(__file__).parents[2]
EXTRAS = sorted(set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]) - {"dev"})
LIMIT_S = 300


def resolve(requirements: Path, *extras: str) -> subprocess.CompletedProcess[str]:
    """What `uv` would install. Skips the test where there is no uv."""
    options = [option for extra in extras for option in ("--extra", extra)]
    command = uv_command("pip", "compile", "--quiet", "--no-header", "--no-annotate", *index_options(), *options)
    return subprocess.run([*command, str(requirements)], capture_output=True, text=True, timeout=LIMIT_S)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips where no package index can be asked."""
    small = tmp_path_factory.mktemp("small") / "requirements.in"
    small.write_text("idna\n")
    if resolve(small).returncode:
        pytest.skip("no package index answers")


def versions(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", done.stdout, re.MULTILINE))


@pytest.mark.long
@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_resolves_alone(extra: str, index: None) -> None:
    versions(resolve(ROOT / "pyproject.toml", extra))


@pytest.mark.long
def test_all_extras_resolve_together(index: None) -> None:
    """To a current Phoenix and a current litellm: with a bound missing, one of them silently becomes an old one."""
    found = versions(resolve(ROOT / "pyproject.toml", *EXTRAS))
    assert int(found["arize-phoenix"].split(".")[0]) >= 20
    assert tuple(map(int, found["litellm"].split(".")[:2])) >= (1, 107)


def test_there_are_few_extras() -> None:
    """One for each thing that somebody wants to do."""
    assert EXTRAS == ["collector", "docs", "files", "hhem", "llm", "local", "otlp", "phoenix", "scale"]


def test_the_page_names_every_extra_and_no_other() -> None:
    table = (ROOT / "docs/tutorials/first_app.md").read_text(encoding="utf-8").partition("| extra | for |")[2]
    rows = re.findall(r"^\|( `[^|]*) \|", table, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == [extra for extra in EXTRAS if extra != "docs"]


@pytest.mark.server
def test_the_measurement_of_patterns_leaves_out_what_needs_an_extra(tmp_path: Path) -> None:
    """The judges that need torch are named; the patterns of all others are measured."""
    program = "import pattern_growth; pattern_growth.Stopwatch(); print(len(list(pattern_growth.patterns())))"
    environ = without(PACKAGES, tmp_path)
    command = [sys.executable, "-c", program]
    benchmarks = ROOT / "benchmarks"
    done = subprocess.run(command, cwd=benchmarks, env=environ, capture_output=True, text=True, timeout=LIMIT_S)
    assert int(done.stdout) > 50, done.stderr
    assert "not installed: rag_otel_evaluators.judges.hhem" in done.stderr
