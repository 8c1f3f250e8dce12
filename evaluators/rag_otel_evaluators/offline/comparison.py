"""Compares two evaluations of the same questions: by how much has each metric changed, and how sure is that?

    comparison = compare("before.jsonl", "after.jsonl")
    print(comparison["faithfulness"].difference, comparison["faithfulness"].interval)

The rows are compared in pairs, so that what makes one question harder than another does not blur the difference.
"""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final, TypeAlias

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.evaluation.directions import lower_is_better_metrics
from rag_otel_evaluators.offline.dataset_objects import records_of
from rag_otel_evaluators.offline.dataset_paths import MISSING, look_up
from rag_otel_evaluators.offline.datasets import ALIASES, IDS
from rag_otel_evaluators.offline.results import Results
from rag_otel_evaluators.offline.statistics import bootstrap_interval, expanded_tail

Scored: TypeAlias = Results | str | Path | Sequence[Mapping[str, Any]]
"""Results, or a file or rows with a column for each metric, as `Results.save` and `Results.to_dicts` give them."""
_DETAIL: Final = "_detail"
MAX_LOST: Final = 0.1
"""Share of a metric's rows that may lose their score: beyond it the means are those of other rows."""
_ROUNDING: Final = 1e-9
"""Differences up to this one are none."""

Key: TypeAlias = tuple[str, int]
"""What identifies a row, and its number among the rows with the same value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """The scores of one row in both evaluations."""

    row: str
    """The value by which the row was matched: its id, its question or its number."""
    question: str | None
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One metric in both evaluations. Means are over the pairs: the rows with a score in both."""

    metric: str
    lower_is_better: bool
    pairs: int
    lost: int
    """Rows with a score before and none after."""
    absent: int
    """Rows with a score before that are not in the second evaluation at all."""
    gained: int
    """Rows with a score after and none before."""
    before: float | None
    after: float | None
    difference: float | None
    """Mean after - mean before."""
    interval: tuple[float, float] | None
    """95% interval of the difference. None for fewer than two different questions."""
    better: int
    worse: int
    """Rows that became better and worse. The others are unchanged."""
    changes: tuple[RowChange, ...]
    """The rows that became worse, the worst change first."""

    @property
    def lost_share(self) -> float:
        """Share of the rows with a score before that have none after, 0..1: what the means do not tell of."""
        return (self.lost + self.absent) / max(1, self.pairs + self.lost + self.absent)

    @property
    def drop(self) -> float | None:
        """By how much the mean became worse. Negative if it became better."""
        if self.difference is None:
            return None
        return self.difference if self.lower_is_better else -self.difference

    @property
    def verdict(self) -> str:
        """`better` or `worse` if the whole interval is on one side of 0, else `not shown`."""
        if self.interval is None or self.interval[0] <= 0.0 <= self.interval[1]:
            return "not shown"
        return "worse" if (self.drop or 0.0) > 0.0 else "better"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison:
    """Two evaluations of the same questions."""

    metrics: tuple[MetricComparison, ...]
    matched: int
    """Rows that are in both evaluations."""
    unmatched: int
    """Rows that are in one of them only."""

    def __getitem__(self, metric: str) -> MetricComparison:
        """One metric. Raises KeyError if it was not compared."""
        for each in self.metrics:
            if each.metric == metric:
                return each
        raise KeyError(f"{metric!r} was not compared; there are: {', '.join(each.metric for each in self.metrics)}")

    def shortcomings(
        self,
        *,
        fail_below: Mapping[str, float] | None = None,
        max_drop: Mapping[str, float] | float | None = None,
        significant: bool = False,
        max_lost: float = MAX_LOST,
    ) -> list[str]:
        """Why the second evaluation is not good enough, one sentence each. Empty if it is.

        `fail_below`: metric -> lowest acceptable mean. `max_drop`: largest acceptable drop of the mean, for all metrics
        or by metric. `significant`: a drop counts only if its interval shows that there is one. `max_lost`: largest
        acceptable share of rows of a metric that have lost their score, 0..1. Raises KeyError for a metric that was not
        compared.
        """
        drops = {each.metric: max_drop for each in self.metrics} if isinstance(max_drop, int | float) else max_drop
        found = [_below(self[metric], least) for metric, least in (fail_below or {}).items()]
        found += [_dropped(self[metric], most, significant) for metric, most in (drops or {}).items()]
        found += [_lost(each, max_lost) for each in self.metrics]
        return [sentence for sentence in found if sentence]

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON values."""
        return {
            "matched": self.matched,
            "unmatched": self.unmatched,
            "metrics": {each.metric: dataclasses.asdict(each) | {"verdict": each.verdict} for each in self.metrics},
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.metric} {_signed(each.difference)} ({each.verdict})" for each in self.metrics)
        return f"Comparison({self.matched} rows: {shown})"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The header and the lines of a table, one line for each metric."""
        header = ["metric", "pairs", "before", "after", "difference", "95% interval", "better", "worse", "change"]
        return header, [_cells(each) for each in self.metrics]

    def _repr_html_(self) -> str:
        header, lines = self.table()
        head = "".join(f"<th>{escape(name)}</th>" for name in header)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in lines)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def compare(
    before: Scored,
    after: Scored,
    *,
    metrics: str | Sequence[str] | None = None,
    by: str | None = None,
    lower_is_better: str | Iterable[str] = (),
) -> Comparison:
    """Compares two evaluations row by row.

    `metrics`: the columns to compare. None: those that both have with a detail, as rag-otel writes them. Name them for
    scores of another tool. `by`: the column or path that identifies a row. None: an id column that all rows have, else
    the question, else the row's number. `lower_is_better`: metrics of your own for which a lower score is better.

    The interval is a percentile bootstrap of the mean difference over questions (answers to one question are resampled
    together), widened for small samples. Sources: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993,
    chapters 8 and 13; Hesterberg, "What Teachers Should Know About the Bootstrap", 2015 (expanded percentile interval).

    Raises InputError if the rows cannot be read or matched, ConfigurationError for an unknown metric or column.
    """
    first, second = _rows(before), _rows(after)
    if not first or not second:
        raise InputError("compare: an evaluation without rows cannot be compared")
    names = _metrics(first, second, None if metrics is None else _names(metrics))
    lower = lower_is_better_metrics() | set(_names(lower_is_better))
    column = _identifier(first, second, by)
    ours, theirs = _by_key(first, column), _by_key(second, column)
    pairs = [(key, ours[key], theirs[key]) for key in ours if key in theirs]
    if not pairs:
        raise InputError(
            f"compare: no row of one evaluation is in the other (matched by {column or 'number'}); name the column "
            "that identifies a row with by"
        )
    absent = [row for key, row in ours.items() if key not in theirs]
    return Comparison(
        metrics=tuple(_compare_one(name, pairs, absent, name in lower) for name in names),
        matched=len(pairs),
        unmatched=len(ours) + len(theirs) - 2 * len(pairs),
    )


def _names(given: str | Iterable[str]) -> list[str]:
    """Column names; one text is one name, or several separated by commas."""
    return [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)


def _rows(scored: Scored) -> list[Mapping[str, Any]]:
    if isinstance(scored, Results):
        return list(scored.to_dicts())
    return [record.values for record in records_of(scored) if record.values is not None]


def _metrics(
    first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]], given: Sequence[str] | None
) -> list[str]:
    """The metrics to compare. Raises ConfigurationError if there is none."""
    columns = [list(dict.fromkeys(name for row in rows for name in row)) for rows in (first, second)]
    if given is None:
        names = [name for name in columns[0] if f"{name}{_DETAIL}" in columns[0] and f"{name}{_DETAIL}" in columns[1]]
        if not names:
            raise ConfigurationError("compare: both files have no metric in common; name the columns with metrics")
        return names
    for name in given:
        if name not in columns[0] or name not in columns[1]:
            raise ConfigurationError(f"compare: no column {name!r} in both; there are: {', '.join(columns[1])}")
    return list(dict.fromkeys(given))


def _identifier(
    first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]], given: str | None
) -> str | None:
    """The column by which rows are matched. None: by number. Raises ConfigurationError if a given one is missing."""
    rows = [*first, *second]
    if given is not None:
        if all(look_up(row, given) is MISSING for row in rows):
            raise ConfigurationError(f"compare: no row has a column {given!r}")
        return given
    return next((name for name in (*IDS, *ALIASES["question"]) if all(_present(row, name) for row in rows)), None)


def _present(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) not in (None, "")


def _by_key(rows: Sequence[Mapping[str, Any]], column: str | None) -> dict[Key, Mapping[str, Any]]:
    seen: Counter[str] = Counter()
    found: dict[Key, Mapping[str, Any]] = {}
    for number, row in enumerate(rows, start=1):
        value = str(number if column is None else look_up(row, column))
        found[value, seen[value]] = row
        seen[value] += 1
    return found


def _compare_one(
    metric: str,
    pairs: Sequence[tuple[Key, Mapping[str, Any], Mapping[str, Any]]],
    absent: Sequence[Mapping[str, Any]],
    lower_is_better: bool,
) -> MetricComparison:
    changes: list[RowChange] = []
    groups: dict[str, list[float]] = {}
    lost = gained = 0
    for (value, number), ours, theirs in pairs:
        before, after = _score(ours, metric), _score(theirs, metric)
        if before is not None and after is not None:
            question = _question(theirs)
            changes.append(RowChange(row=value, question=question, before=before, after=after))
            groups.setdefault(question or f"{value} {number}", []).append(after - before)
        lost += before is not None and after is None
        gained += before is None and after is not None
    sign = -1.0 if lower_is_better else 1.0
    moved = [sign * (change.after - change.before) for change in changes]
    worse = sorted(zip(moved, range(len(moved)), strict=True))
    return MetricComparison(
        metric=metric,
        lower_is_better=lower_is_better,
        pairs=len(changes),
        lost=lost,
        absent=sum(_score(row, metric) is not None for row in absent),
        gained=gained,
        before=statistics.fmean(change.before for change in changes) if changes else None,
        after=statistics.fmean(change.after for change in changes) if changes else None,
        difference=statistics.fmean(change.after - change.before for change in changes) if changes else None,
        interval=bootstrap_interval(list(groups.values()), tail=expanded_tail(len(groups))),
        better=sum(each > _ROUNDING for each in moved),
        worse=sum(each < -_ROUNDING for each in moved),
        changes=tuple(changes[position] for each, position in worse if each < -_ROUNDING),
    )


def _score(row: Mapping[str, Any], metric: str) -> float | None:
    """The score in a cell, which may be text in a CSV file. None for an empty cell and NaN."""
    value = row.get(metric)
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        score = float(value)
    except (TypeError, ValueError):
        raise InputError(f"compare: {metric}: {value!r} is not a score") from None
    return score if math.isfinite(score) else None


def _question(row: Mapping[str, Any]) -> str | None:
    return next((str(row[name]) for name in ALIASES["question"] if _present(row, name)), None)


def _below(metric: MetricComparison, least: float) -> str | None:
    if metric.after is None:
        return f"{metric.metric}: no row has a score in both; the mean must be at least {least:g}"
    if (metric.after > least) if metric.lower_is_better else (metric.after < least):
        return f"{metric.metric}: the mean {metric.after:.4f} is {_side(metric)} {least:g}"
    return None


def _dropped(metric: MetricComparison, most: float, significant: bool) -> str | None:
    if metric.drop is None:
        return f"{metric.metric}: no row has a score in both; the drop must be at most {most:g}"
    if metric.drop <= most + _ROUNDING or (significant and metric.verdict != "worse"):
        return None
    low, high = metric.interval or (math.nan, math.nan)
    return (
        f"{metric.metric}: the mean became worse by {metric.drop:.4f}, more than {most:g} "
        f"(difference {_signed(metric.difference)}, 95% interval {low:+.4f} to {high:+.4f})"
    )


def _lost(metric: MetricComparison, most: float) -> str | None:
    if metric.lost_share <= most:
        return None
    before = metric.pairs + metric.lost + metric.absent
    return (
        f"{metric.metric}: {metric.lost + metric.absent} of {before} rows that had a score have none now "
        f"({metric.absent} are not in the second evaluation), more than {most:.0%} (--max-lost)"
    )


def _side(metric: MetricComparison) -> str:
    return "above" if metric.lower_is_better else "below"


def _cells(metric: MetricComparison) -> list[str]:
    interval = "-" if metric.interval is None else f"{metric.interval[0]:+.3f} to {metric.interval[1]:+.3f}"
    means = ["-" if value is None else f"{value:.3f}" for value in (metric.before, metric.after)]
    counts = [str(metric.better), str(metric.worse)]
    return [metric.metric, str(metric.pairs), *means, _signed(metric.difference), interval, *counts, metric.verdict]


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def worsened(comparison: Comparison, count: int) -> Iterator[tuple[str, RowChange]]:
    """Yields (metric, row) of the rows that became worse most, at most `count` for each metric."""
    for metric in comparison.metrics:
        for change in metric.changes[:count]:
            yield metric.metric, change
