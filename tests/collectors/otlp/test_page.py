"""The collector's page in docs/ describes the collector correctly."""

from __future__ import annotations

import re
from pathlib import Path

from rag_otel.settings.rows import rows_of
from rag_otel_collectors.otlp.settings import configure
from rag_otel_collectors.otlp.settings_table import CollectorSettings

PAGE = (Path(__file__).parents[3] / "docs" / "collector.md").read_text(encoding="utf-8")


def test_the_example_file_is_understood(tmp_path: Path) -> None:
    """The TOML example of the page sets the values that it shows."""
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "collector.toml").write_text(block)
    made = configure({}, file=str(tmp_path / "collector.toml"), environ={})
    assert [backend.name for backend in made.backends] == ["main", "phoenix"]
    assert made.backends[0].tls
    assert made.evaluation.settings.sample_ratio == 0.2


def test_every_setting_is_in_the_table() -> None:
    """Each has its environment variable, its default and its meaning."""
    for row in rows_of(CollectorSettings).values():
        (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{row.name}` |")]
        assert all(f"`{name}`" in line for name in row.env)
        assert row.meaning in line
        assert row.default in (None, ()) or f"`{row.default}`" in line
