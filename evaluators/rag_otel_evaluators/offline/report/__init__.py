"""The HTML report of an evaluation: the distribution of scores, and the worst rows with their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.report.page import MetricResults, render_page

PAGE = "index.html"


def write_report(rows: Sequence[Row], metrics: Sequence[MetricResults], folder: Path, *, title: str) -> Path:
    """Writes the report into `folder` as one self-contained file. Returns its path. For the arguments see `page`.

    Raises ConfigurationError if the folder cannot be written.
    """
    page = folder / PAGE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # UTF-8 cannot encode a lone surrogate in the data. The report shows it as a character reference.
        page.write_text(render_page(rows, metrics, title=title), encoding="utf-8", errors="xmlcharrefreplace")
    except OSError as error:
        raise ConfigurationError(f"report: {folder} cannot be written: {error.strerror}") from error
    return page
