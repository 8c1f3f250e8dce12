"""What a comparison of two evaluations says: by how much each metric has changed, and what falls short."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final

MAX_LOST: Final = 0.1
"""Share of a metric's rows that may lose their score: beyond it the means are those of other rows."""
ROUNDING: Final = 1e-9
"""Differences up to this one are none."""


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


def _below(metric: MetricComparison, least: float) -> str | None:
    if metric.after is None:
        return f"{metric.metric}: no row has a score in both; the mean must be at least {least:g}"
    if (metric.after > least) if metric.lower_is_better else (metric.after < least):
        return f"{metric.metric}: the mean {metric.after:.4f} is {_side(metric)} {least:g}"
    return None


def _dropped(metric: MetricComparison, most: float, significant: bool) -> str | None:
    if metric.drop is None:
        return f"{metric.metric}: no row has a score in both; the drop must be at most {most:g}"
    if metric.drop <= most + ROUNDING or (significant and metric.verdict != "worse"):
        return None
    interval = "no interval from so few questions"
    if metric.interval is not None:
        interval = "95% interval {:+.4f} to {:+.4f}".format(*metric.interval)
    return (
        f"{metric.metric}: the mean became worse by {metric.drop:.4f}, more than {most:g} "
        f"(difference {_signed(metric.difference)}, {interval})"
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
