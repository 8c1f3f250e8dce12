"""uv, and the package index that pip was told of, for tests that install or resolve distributions."""

from __future__ import annotations

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def uv_command(*words: str) -> list[str]:
    """A `uv` command, without the index. Skips the test where there is no uv."""
    beside_python = Path(sys.executable).with_name("uv")
    uv = str(beside_python) if beside_python.exists() else shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed: pip install uv")
    return [uv, *words]


@functools.cache
def index_options() -> tuple[str, ...]:
    """Options that name pip's index, where it has one: uv does not read pip's configuration."""
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    index = asked.stdout.strip()
    return ("--native-tls", *(("--default-index", index) if index else ()))
