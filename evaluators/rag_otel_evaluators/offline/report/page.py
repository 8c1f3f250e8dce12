"""The page of the report: a summary of all metrics, then for each metric its charts, rows without a score, worst
rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Final, TypeAlias

from rag_otel.evaluation.calibration import is_calibrated
from rag_otel.model import Evaluation, Usage
from rag_otel.rendering.svg_charts import box_plot, histogram
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.report.worst_rows import render_worst_rows
from rag_otel_evaluators.offline.statistics import MetricSummary

MetricResults: TypeAlias = tuple[MetricSummary, Sequence[Evaluation]]
"""The statistics of a metric and its evaluations, in the order of the rows."""
_NAMED_ROWS: Final = 8
"""How many row numbers are listed for one reason."""
_LEGEND: Final = ("supported", "contradicted", "not_enough_info", "unjudged")
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The browser loads no other file and runs no script, whatever the data contain."""


def render_page(rows: Sequence[Row], metrics: Sequence[MetricResults], *, title: str) -> str:
    """Returns one HTML document without scripts, which loads no other file.

    Each of `metrics` has one evaluation for each of `rows`, in the same order.
    """
    summaries = [summary for summary, _ in metrics]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    sections = "".join(_section(summary, rows, evaluations) for summary, evaluations in metrics)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body><main>"
        f"<h1>{escape(title)}</h1><p>{_count(len(rows), 'row')}, {_count(len(summaries), 'metric')}.</p>"
        f"{summary_table(summaries)}{sections}</main></body></html>\n"
    )


def summary_table(summaries: Sequence[MetricSummary], *, linked: bool = True) -> str:
    """A line of figures for each metric. `linked`: whether the names lead to the sections of the page."""
    header = ("metric", "rows", "scored", "mean", "95% interval", "median", "std", "min", "max", "without a score")
    rows = "".join(_table_row(_figures(summary, linked=linked)) for summary in summaries)
    cells = "".join(f"<th>{name}</th>" for name in header)
    return (
        f'<div class="wide"><table class="summary"><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _figures(summary: MetricSummary, *, linked: bool) -> list[str]:
    interval = "–" if summary.interval is None else f"{summary.interval[0]:.3f} to {summary.interval[1]:.3f}"
    numbers = [_number(each) for each in (summary.median, summary.std, summary.minimum, summary.maximum)]
    link = f'<a href="#{summary.metric}">{summary.metric}</a>' if linked else summary.metric
    counts = [str(summary.rows), str(summary.scored)]
    return [link, *counts, _number(summary.mean), interval, *numbers, _reasons(summary.nulls)]


def _table_row(cells: Sequence[str]) -> str:
    first, *figures, last = cells
    middle = "".join(f'<td class="figure">{cell}</td>' for cell in figures)
    return f"<tr><th>{first}</th>{middle}<td>{last}</td></tr>"


def _section(summary: MetricSummary, rows: Sequence[Row], evaluations: Sequence[Evaluation]) -> str:
    scores = [evaluation.score for evaluation in evaluations if evaluation.score is not None]
    legend = "".join(f'<mark class="{verdict}">{verdict.replace("_", " ")}</mark>' for verdict in _LEGEND)
    return (
        f'<section id="{summary.metric}"><h2>{summary.metric}</h2>{_provenance(summary, evaluations)}'
        f'<div class="charts">{histogram(scores, summary.metric)}{_box_plot(scores, summary)}</div>'
        f"{_nulls(rows, evaluations)}<h3>Worst rows</h3>"
        f"{f'<p>{legend}</p>' if summary.claims else ''}{render_worst_rows(rows, evaluations)}</section>"
    )


def _box_plot(scores: Sequence[float], summary: MetricSummary) -> str:
    """The box plot. Empty if there are no scores."""
    low, median, high = summary.lower_quartile, summary.median, summary.upper_quartile
    if low is None or median is None or high is None or summary.mean is None:
        return ""
    return box_plot(scores, summary.metric, quartiles=(low, median, high), mean=summary.mean, interval=summary.interval)


def _provenance(summary: MetricSummary, evaluations: Sequence[Evaluation]) -> str:
    """The judge, the prompts, the number of judged claims, and the cost."""
    facts = []
    judges = dict.fromkeys(f"{each.judge} ({each.version})" for each in evaluations if each.judge)
    if judges:
        facts.append(f"judged by {escape(', '.join(judges))}")
    prompts = dict.fromkeys(prompt for each in evaluations for prompt in each.prompts)
    if prompts:
        facts.append(f"prompts {escape(', '.join(prompts))}")
    if summary.claims:
        facts.append(f"{summary.judged_claims:,} of {_count(summary.claims, 'claim')} judged")
    if calibrated := sum(map(is_calibrated, evaluations)):
        facts.append(f"risk and label of {_count(calibrated, 'row')} calibrated with a calibration file")
    if summary.mean_risk is not None:
        facts.append(f"mean risk {summary.mean_risk:.3f}")
    if summary.flags:
        facts.append(f"scores with a caveat: {_reasons(summary.flags)}")
    if summary.usage.calls:
        facts.append(_cost(summary.usage))
    return f'<p class="facts">{" · ".join(facts)}</p>' if facts else ""


def _cost(usage: Usage) -> str:
    tokens = f"{_count(usage.calls, 'call')}, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    return tokens if usage.cost_usd is None else f"{tokens}, ${usage.cost_usd:.4f}"


def _nulls(rows: Sequence[Row], evaluations: Sequence[Evaluation]) -> str:
    """The reasons for missing scores, with some rows and the explanation of the first row."""
    by_reason: dict[str, list[tuple[str, str]]] = {}
    for row, evaluation in zip(rows, evaluations, strict=True):
        if evaluation.score is None:
            known = by_reason.setdefault(str(evaluation.reason_code), [])
            known.append((row.label, evaluation.explanation or ""))
    if not by_reason:
        return ""
    body = "".join(
        f"<tr><td>{escape(reason)}</td><td class='figure'>{len(found)}</td><td>{_named_rows(found)}</td>"
        f'<td dir="auto">{escape(found[0][1])}</td></tr>'
        for reason, found in sorted(by_reason.items(), key=lambda item: -len(item[1]))
    )
    header = "".join(f"<th>{name}</th>" for name in ("reason", "count", "rows", "for example"))
    return (
        f'<h3>Without a score</h3><div class="wide"><table><thead><tr>{header}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _named_rows(rows: Sequence[tuple[str, str]]) -> str:
    more = ", …" if len(rows) > _NAMED_ROWS else ""
    return ", ".join(escape(label) for label, _ in rows[:_NAMED_ROWS]) + more


def _reasons(counts: Mapping[str, int]) -> str:
    return escape(", ".join(f"{count} {reason}" for reason, count in counts.items())) or "–"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
