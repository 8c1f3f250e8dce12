"""`rag-otel evaluate FILE`: score questions, contexts and responses in a file; the rows come back with the scores."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TextIO

from rag_otel.cli.terminal import progress, table
from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation
from rag_otel_evaluators.datasets import Row, parse_columns, read_jsonl
from rag_otel_evaluators.offline import as_columns, evaluate_rows
from rag_otel_evaluators.registry import build


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="JSON Lines: one object a line")
    parser.add_argument("--metrics", default="faithfulness", help="comma-separated names (default: faithfulness)")
    parser.add_argument(
        "--output", default="-", help="file for the rows with their scores; - is standard output (the default)"
    )
    parser.add_argument(
        "--columns",
        help="which column holds what, where the names are unusual: question=q,contexts=docs,response=answer",
    )
    parser.add_argument("--judge", default="embedded", help="who judges (default: embedded)")


def run(arguments: argparse.Namespace) -> int:
    """Score every row. Raises InputError or ConfigurationError (exit code 2) for what is wrong with the whole."""
    metrics = list(dict.fromkeys(name.strip() for name in arguments.metrics.split(",") if name.strip()))
    if not metrics:
        raise ConfigurationError("metrics: give at least one name")
    evaluators = build(metrics, judge=arguments.judge)
    rows = read_jsonl(arguments.file, parse_columns(arguments.columns))
    results = evaluate_rows(rows, evaluators)
    with _opened(arguments.output, arguments.file) as output:
        evaluations = _write(progress(results, total=len(rows), description="evaluating"), output)
    print(_summary(metrics, evaluations), file=sys.stderr)
    return 0


def _opened(output: str, source: Path) -> AbstractContextManager[TextIO]:
    if output == "-":
        return nullcontext(sys.stdout)
    path = Path(output)
    if path.exists() and path.samefile(source):
        raise ConfigurationError(f"output: {output} is the file that is read; name another one")
    try:
        # A lone surrogate of the input cannot be encoded; as an escape it is what it was, and valid JSON.
        return path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise ConfigurationError(f"output: {output} cannot be written: {error.strerror}") from error


def _write(results: Iterable[tuple[Row, tuple[Evaluation, ...]]], output: TextIO) -> list[tuple[Evaluation, ...]]:
    """One line per row, as soon as it is judged; returns the evaluations."""
    written = []
    for row, evaluations in results:
        line = json.dumps({**row.values, **as_columns(evaluations)}, ensure_ascii=False, allow_nan=False)
        output.write(line + "\n")
        written.append(evaluations)
    return written


def _summary(metrics: Sequence[str], results: Sequence[tuple[Evaluation, ...]]) -> str:
    """Per metric: rows, how many have a score, their mean, and why the others have none."""
    lines = []
    for position, metric in enumerate(metrics):
        evaluations = [result[position] for result in results]
        scores = [evaluation.score for evaluation in evaluations if evaluation.score is not None]
        nulls = Counter(str(e.reason_code) for e in evaluations if e.score is None)
        mean = f"{sum(scores) / len(scores):.3f}" if scores else "-"
        reasons = ", ".join(f"{count} {reason}" for reason, count in nulls.most_common()) or "-"
        lines.append([metric, str(len(evaluations)), str(len(scores)), mean, reasons])
    return table(lines, header=["metric", "rows", "scored", "mean", "without a score"])
