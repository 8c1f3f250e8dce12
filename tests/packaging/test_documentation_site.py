"""The documentation site builds without a warning, and holds every page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.server

ROOT = Path(__file__).parents[2]


@pytest.mark.slow(reason="all pages are built, with the API read from the source")
def test_the_site_builds_strictly(tmp_path: Path) -> None:
    """A broken link, a page that is not in the navigation, or an API name that is gone would be a warning."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    api = (tmp_path / "api" / "index.html").read_text(encoding="utf-8")
    assert 'id="rag_otel.setup.instrument.instrument"' in api
    assert "fonts.googleapis.com" not in api
