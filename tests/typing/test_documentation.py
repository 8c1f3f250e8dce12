"""The Python of the documentation passes the type checker, as it would in an editor of who copies it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.test_readme import PAGES, ROOT, blocks

pytestmark = pytest.mark.types

CONFIG = """
[mypy]
check_untyped_defs = True
namespace_packages = True
explicit_package_bases = True
ignore_missing_imports = True
# One page shows a function in several forms.
disable_error_code = no-redef, import-untyped
# Frameworks take minutes to read, and their types are not ours.
follow_imports = skip

[mypy-rag_otel.*,rag_otel_collectors.*,rag_otel_evaluators.*]
follow_imports = silent
"""


def test_the_python_of_every_page_type_checks(tmp_path: Path) -> None:
    """A file for each page, and one run over all of them."""
    for page in PAGES:
        if found := blocks(page):
            name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
            (tmp_path / f"{name}.py").write_text("\n\n".join(found), encoding="utf-8")
    path = os.pathsep.join(str(ROOT / part) for part in (".", "collectors", "evaluators", "examples/backends"))
    (tmp_path / "mypy.ini").write_text(CONFIG, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "."],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": path},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
