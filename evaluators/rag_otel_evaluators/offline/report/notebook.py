"""The views of results in a notebook: a fragment of HTML without scripts and without a style sheet.

Every text of the data is escaped, so an answer with markup is shown as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from rag_otel.model import Evaluation
from rag_otel.rendering.text_cutting import shorten
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.report.page import MetricResults, summary_table
from rag_otel_evaluators.offline.report.worst_rows import row_card, worst_rows

_WORST: Final = 5
"""Rows shown per metric."""
_LENGTH: Final = 160
"""Characters of a question, an answer and an explanation in a table."""


def render_results(rows: Sequence[Row], metrics: Sequence[MetricResults]) -> str:
    """Returns the summary of all metrics and the worst rows of each. The arguments are those of `render_page`."""
    summaries = [summary for summary, _ in metrics]
    worst = "".join(_worst(summary.metric, rows, evaluations) for summary, evaluations in metrics)
    return f"<div>{summary_table(summaries, linked=False)}{worst}</div>"


def render_result(row: Row, evaluations: Sequence[Evaluation]) -> str:
    """Returns one row with its evaluations: answer and chunks with marked claims and quotes."""
    cards = (f"<h4>{escape(each.name)}</h4>{row_card(row, each, is_open=True)}" for each in evaluations)
    return f"<div>{''.join(cards)}</div>"


def _worst(metric: str, rows: Sequence[Row], evaluations: Sequence[Evaluation]) -> str:
    found = worst_rows(rows, evaluations, _WORST)
    if not found:
        return ""
    header = "".join(f"<th>{name}</th>" for name in ("row", "score", "question", "answer", "explanation"))
    body = "".join(
        f"<tr>{_cell(row.label)}{_cell(f'{evaluation.score:.3f}')}{_cell(row.question)}{_cell(row.response)}"
        f"{_cell(evaluation.explanation)}</tr>"
        for row, evaluation in found
    )
    return (
        f"<details><summary>{escape(metric)}: worst rows</summary>"
        f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></details>"
    )


def _cell(text: str | None) -> str:
    return f'<td style="text-align: left" dir="auto">{escape(shorten(text or "", _LENGTH))}</td>'
