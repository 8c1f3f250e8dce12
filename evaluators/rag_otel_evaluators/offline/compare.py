"""Compares two evaluations of the same questions: by how much has each metric changed, and how sure is that?

    comparison = compare("before.jsonl", "after.jsonl")
    print(comparison["faithfulness"].difference, comparison["faithfulness"].interval)

The rows are compared in pairs, so that what makes one question harder than another does not blur the difference.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.evaluation.directions import lower_is_better_metrics
from rag_otel_evaluators.offline.comparison import ROUNDING, Comparison, MetricComparison, RowChange
from rag_otel_evaluators.offline.dataset_paths import MISSING, look_up
from rag_otel_evaluators.offline.dataset_rows import records_of
from rag_otel_evaluators.offline.datasets import ALIASES, IDS
from rag_otel_evaluators.offline.results import Results
from rag_otel_evaluators.offline.statistics import bootstrap_interval, expanded_tail

Scored: TypeAlias = Results | str | Path | Sequence[Mapping[str, Any]]
"""Results, or a file or rows with a column for each metric, as `Results.save` and `Results.to_dicts` give them."""
_DETAIL: Final = "_detail"

Key: TypeAlias = tuple[str, int]
"""What identifies a row, and its number among the rows with the same value."""


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
    return [record.value for record in records_of(scored) if record.value is not None]


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
        better=sum(each > ROUNDING for each in moved),
        worse=sum(each < -ROUNDING for each in moved),
        changes=tuple(changes[position] for each, position in worse if each < -ROUNDING),
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
