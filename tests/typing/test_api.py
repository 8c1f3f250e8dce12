"""The types of the public API, by mypy itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.types


def test_the_public_api_type_checks() -> None:
    """Decorating keeps signatures and results, and mistakes are found; an ignored error that is none fails too."""
    api = Path(__file__).with_name("api.py")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(api.parents[2] / "pyproject.toml"), str(api)],
        cwd=api.parents[2],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
