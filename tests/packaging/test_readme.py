"""The README's code runs as it stands."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.http_receiver import http_receiver
from testkit.warm_python import warm_python

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


MIGRATION = ROOT / "docs/migration.md"
"""Its examples need a judge: `test_migration` runs them."""
FILES = ROOT / "docs/files.md"
"""Its examples are programs of their own, some with files: `test_examples` and `test_partitions` run them."""


ALONE = """
import os, sys

def _alone(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][1] not in _own:
        raise ConnectionRefusedError(111, f"the examples of a page reach no server: {arguments[1]}")
    if event == "socket.bind" and isinstance(arguments[1], tuple):
        _own.add(arguments[1][1])

_own = {RECEIVER}
sys.addaudithook(_alone)
os.environ["RAG_OTEL_TELEMETRY_ADDRESS"] = "127.0.0.1:0"
"""
"""A page names Phoenix's usual address, where a developer may have one running: its examples connect to nothing but to
what they have started themselves, and to a receiver in its place."""


@pytest.fixture(scope="module")
def phoenix() -> Iterator[str]:
    """The address of what takes everything that is sent to Phoenix."""
    with http_receiver() as receiver:
        yield receiver.url


def blocks(page: Path) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if blocks(page) and page not in (MIGRATION, FILES)],
    ids=lambda page: page.name,
)
def test_python_blocks_run(page: Path, phoenix: str, tmp_path: Path) -> None:
    """All Python blocks of a page run in order, as one program, in a folder with the files that pages name."""
    program = tmp_path / "page.py"
    code = "\n\n".join([ALONE.replace("RECEIVER", phoenix.rpartition(":")[2]), *blocks(page)])
    program.write_text(code.replace("http://localhost:6006", phoenix), encoding="utf-8")
    for example in (ROOT / "examples" / "backends").glob("*.py"):
        shutil.copy(example, tmp_path)
    python = warm_python(with_litellm="judge=" in program.read_text("utf-8"))
    done = subprocess.run([python, str(program)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_in_the_readme_exists() -> None:
    """Each `rag-otel X` and `make X` that the README shows is there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    from rag_otel.cli.commands import COMMANDS

    shown = set(re.findall(r"^\s*(?:\$ )?rag-otel ([a-z]+)", text, flags=re.M))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    assert shown <= set(COMMANDS)
    assert set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", text, flags=re.M)) <= {
        pair for target in targets for pair in ((target, ""), ("", target))
    }


def test_pictures_of_the_readme_exist() -> None:
    """Every picture that the README shows is in the repository."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
        assert (ROOT / picture).is_file(), picture


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Every link to a place in the repository finds a file, and a heading of it where one is named."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), flags=re.M) if anchor else []
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not anchor or anchor in anchors, target


def test_settings_page_is_the_table_of_settings() -> None:
    """`docs/settings.md` is what `docs/settings_table.py` writes today."""
    written = subprocess.run(
        [
            warm_python(),
            "-c",
            "import sys; sys.path.insert(0, 'docs'); import settings_table as t; print(t.page(), end='')",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert (ROOT / "docs/settings.md").read_text(encoding="utf-8") == written
