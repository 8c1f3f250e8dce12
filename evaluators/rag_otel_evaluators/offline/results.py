"""The results of a data set: rows and their evaluations, as columns, data frames, a summary or a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_otel.model import ClaimVerdict, Evaluation
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.report import write_report
from rag_otel_evaluators.offline.statistics import MetricSummary, summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One row and its evaluations."""

    row: Row
    evaluations: tuple[Evaluation, ...]
    """One per metric, in the order of the metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(Sequence[Result]):
    """Every row of a data set with its evaluations, in the order of the rows."""

    results: tuple[Result, ...]
    metrics: tuple[str, ...]
    """Names of the metrics, in the order of each result's evaluations."""

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, index: Any) -> Any:
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

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows with their original columns and with `<metric>` and `<metric>_detail` for each metric."""
        return [{**result.row.values, **as_columns(result.evaluations)} for result in self.results]

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
        columns[f"{evaluation.name}_detail"] = detail(evaluation)
    return columns


def detail(evaluation: Evaluation) -> dict[str, Any]:
    """Returns all fields of one evaluation as JSON values. Optional fields (label, chunk scores, prompts, error) are
    absent if they are empty."""
    values: dict[str, Any] = {"score": evaluation.score, "risk": evaluation.risk}
    if evaluation.label is not None:
        values["label"] = evaluation.label
    values |= {
        "reason_code": None if evaluation.reason_code is None else str(evaluation.reason_code),
        "explanation": evaluation.explanation,
        "claims": [_claim(verdict) for verdict in evaluation.claims],
        "judge": evaluation.judge,
        "version": evaluation.version,
    }
    return values | _optional_fields(evaluation)


def _optional_fields(evaluation: Evaluation) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if evaluation.prompts:
        values["prompts"] = list(evaluation.prompts)
    if evaluation.usage is not None and evaluation.usage.calls:
        values["usage"] = {
            "calls": evaluation.usage.calls,
            "input_tokens": evaluation.usage.input_tokens,
            "output_tokens": evaluation.usage.output_tokens,
            "cost_usd": evaluation.usage.cost_usd,
        }
    if evaluation.chunk_scores:
        values["chunk_scores"] = list(evaluation.chunk_scores)
    if evaluation.error_type is not None:
        values["error_type"] = evaluation.error_type
    return values


def _claim(verdict: ClaimVerdict) -> Mapping[str, Any]:
    return {
        "text": verdict.claim.text,
        "sentence_index": verdict.claim.sentence_index,
        "start": verdict.claim.start,
        "end": verdict.claim.end,
        "verdict": str(verdict.verdict),
        "support_probability": verdict.support_probability,
        "chunk_ids": list(verdict.chunk_ids),
        "quotes": [
            {"chunk_id": quote.chunk_id, "start": quote.start, "end": quote.end, "text": quote.text}
            for quote in verdict.quotes
        ],
        "explanation": verdict.explanation,
        **({} if verdict.judge is None else {"judge": verdict.judge}),
    }
