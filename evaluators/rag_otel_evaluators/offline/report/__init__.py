"""The HTML report of an evaluation: how the scores lie, what they rest on, and the worst rows with their evidence."""

from __future__ import annotations

from pathlib import Path

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.offline.report.page import render_page
from rag_otel_evaluators.offline.results import Results

PAGE = "index.html"


def write_report(results: Results, folder: Path, *, title: str = "Evaluation") -> Path:
    """Write the report into `folder`, one page that needs nothing beside it; returns its path.

    Raises ConfigurationError for a folder that cannot be written.
    """
    page = folder / PAGE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A lone surrogate of the data cannot be encoded; the report shows it as its character reference.
        page.write_text(render_page(results, title=title), encoding="utf-8", errors="xmlcharrefreplace")
    except OSError as error:
        raise ConfigurationError(f"report: {folder} cannot be written: {error.strerror}") from error
    return page
