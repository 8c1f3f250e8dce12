"""The results of a data set: rows and their evaluations, as columns, data frames, a summary or a report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from rag_otel.model import Evaluation
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.report import write_report
from rag_otel_evaluators.offline.report.notebook import render_result, render_results
from rag_otel_evaluators.offline.statistics import MetricSummary, summarise


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """One row and its evaluations."""

    row: Row
    evaluations: tuple[Evaluation, ...]
    """One per metric, in the order of the metrics."""

    def __getitem__(self, metric: str) -> Evaluation:
        """The evaluation by one metric. Raises KeyError if the metric was not evaluated."""
        for evaluation in self.evaluations:
            if evaluation.name == metric:
                return evaluation
        raise KeyError(f"{metric!r} was not evaluated; there are: {', '.join(each.name for each in self.evaluations)}")

    def to_dict(self) -> dict[str, Any]:
        """The original columns of the row, with `<metric>` and `<metric>_detail` for each metric."""
        return {**self.row.values, **as_columns(self.evaluations)}

    def to_json(self) -> str:
        """`to_dict` as JSON text. A value of the row that is not JSON becomes text."""
        return _json(self.to_dict())

    def __repr__(self) -> str:
        scores = ", ".join(f"{each.name}={_brief(each)}" for each in self.evaluations)
        return f"Result(row {self.row.label}: {scores})"

    def _repr_html_(self) -> str:
        return render_result(self.row, self.evaluations)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Results(Sequence[Result]):
    """Every row of a data set with its evaluations, in the order of the rows."""

    results: tuple[Result, ...]
    metrics: tuple[str, ...]
    """Names of the metrics, in the order of each result's evaluations."""

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    @overload
    def __getitem__(self, index: str) -> list[float | None]: ...
    def __getitem__(self, index: int | slice | str) -> Result | Results | list[float | None]:
        """One result, the results of a slice, or by the name of a metric its `scores`."""
        if isinstance(index, str):
            return self.scores(index)
        if isinstance(index, slice):
            return Results(results=self.results[index], metrics=self.metrics)
        return self.results[index]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def evaluations(self, metric: str) -> list[Evaluation]:
        """The evaluations of one metric, in the order of the rows. Raises KeyError if the metric was not evaluated."""
        if metric not in self.metrics:
            raise KeyError(f"{metric!r} was not evaluated; there are: {', '.join(self.metrics)}")
        position = self.metrics.index(metric)
        return [result.evaluations[position] for result in self.results]

    def scores(self, metric: str) -> list[float | None]:
        """The scores of one metric in 0..1, in the order of the rows. None for a row without a score."""
        return [evaluation.score for evaluation in self.evaluations(metric)]

    def summary(self) -> list[MetricSummary]:
        """For each metric: counts, missing scores by reason, mean with its interval, spread and cost."""
        questions = [result.row.question for result in self.results]
        return [summarise(metric, self.evaluations(metric), questions) for metric in self.metrics]

    def _figures(self) -> list[MetricSummary]:
        """`summary` without the intervals, which take time."""
        return [summarise(metric, self.evaluations(metric)) for metric in self.metrics]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows with their original columns and with `<metric>` and `<metric>_detail` for each metric."""
        return [result.to_dict() for result in self.results]

    def to_dict(self) -> dict[str, Any]:
        """The whole evaluation as JSON values: `metrics`, the `summary` of each metric, and the `rows` of
        `to_dicts`."""
        return {
            "metrics": list(self.metrics),
            "summary": {summary.metric: summary.to_dict() for summary in self.summary()},
            "rows": self.to_dicts(),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text. A value of a row that is not JSON becomes text."""
        return _json(self.to_dict())

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self):,} rows"
        means = (
            f"{summary.metric} {'none' if summary.mean is None else format(summary.mean, '.3f')}"
            + (f" ({summary.scored} scored)" if summary.scored < summary.rows else "")
            for summary in self._figures()
        )
        return f"Results({rows}: {', '.join(means)})"

    def _repr_html_(self) -> str:
        rows = [result.row for result in self.results]
        return render_results(rows, [(summary, self.evaluations(summary.metric)) for summary in self.summary()])

    def to_pandas(self) -> Any:
        """Like `to_dicts`, as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.to_dicts())

    def save(self, path: str | Path) -> None:
        """Writes the rows with their results. The extension selects the format: .jsonl, .csv, .tsv or .parquet."""
        from rag_otel_evaluators.offline.dataset_writers import open_writer

        rows = [result.row for result in self.results]
        with open_writer(str(path), source=None, rows=rows, results=result_columns(self.metrics)) as writer:
            for result in self.results:
                writer.write(result.row.values, as_columns(result.evaluations))

    def report(self, folder: str | Path, *, title: str = "Evaluation") -> Path:
        """Writes an HTML report, one file, into `folder`. Returns its path.

        Raises ConfigurationError if the folder cannot be written.
        """
        rows = [result.row for result in self.results]
        metrics = [(summary, self.evaluations(summary.metric)) for summary in self.summary()]
        return write_report(rows, metrics, Path(folder), title=title)


def result_columns(metrics: Iterable[str]) -> list[str]:
    """The names of the columns that results add to a row, in order."""
    return [column for metric in metrics for column in (metric, f"{metric}_detail")]


def as_columns(evaluations: Iterable[Evaluation]) -> dict[str, Any]:
    """`<metric>` and `<metric>_detail` for each evaluation, as plain JSON values."""
    columns: dict[str, Any] = {}
    for evaluation in evaluations:
        columns[evaluation.name] = evaluation.score
        columns[f"{evaluation.name}_detail"] = evaluation.to_dict()
    return columns


def _brief(evaluation: Evaluation) -> str:
    return str(evaluation.reason_code) if evaluation.score is None else f"{evaluation.score:.3f}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
