"""`rag-otel compare BEFORE AFTER`: compares two evaluations of the same questions, row by row. For a build: fails if a
metric dropped or is too low."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_otel.cli.options import json_option
from rag_otel.cli.terminal import CommandResult, table, write_file
from rag_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from rag_otel_evaluators.offline.comparison import Comparison

_WORSE_ROWS = 3
_LENGTH = 70


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=Path, metavar="BEFORE", help="a file that `rag-otel evaluate` has written")
    parser.add_argument("after", type=Path, metavar="AFTER", help="the evaluation to compare with it")
    parser.add_argument("--metrics", help="comma-separated columns (default: all metrics that both files have)")
    parser.add_argument("--by", metavar="COLUMN", help="identifies a row (default: an id, else the question)")
    parser.add_argument(
        "--fail-below",
        action="append",
        default=[],
        metavar="METRIC=MEAN",
        help="exit with code 1 if the mean of AFTER is worse (may be repeated)",
    )
    parser.add_argument(
        "--max-drop",
        action="append",
        default=[],
        metavar="[METRIC=]DROP",
        help="exit with code 1 if a mean became worse by more; without a metric: any of them (may be repeated)",
    )
    parser.add_argument(
        "--max-lost",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="exit with code 1 if more of a metric's rows have lost their score or are missing, 0..1 (default: 0.1)",
    )
    parser.add_argument(
        "--significant", action="store_true", help="a drop counts only if its 95%% interval does not contain 0"
    )
    parser.add_argument(
        "--lower-is-better", action="append", default=[], metavar="METRIC", help="for a metric of your own"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="all figures and worsened rows as JSON")
    json_option(parser, "the same")


def run(arguments: argparse.Namespace) -> CommandResult:
    """Exit code 1 if a threshold is not met. Raises InputError, ConfigurationError."""
    from rag_otel_evaluators.offline.compare import compare

    if not 0.0 <= arguments.max_lost <= 1.0:
        raise ConfigurationError(f"max-lost: {arguments.max_lost:g} is not within 0..1")
    comparison = compare(
        arguments.before,
        arguments.after,
        metrics=None if arguments.metrics is None else [name.strip() for name in arguments.metrics.split(",")],
        by=arguments.by,
        lower_is_better=arguments.lower_is_better,
    )
    known = [each.metric for each in comparison.metrics]
    content = comparison.to_json()
    if arguments.output is not None:
        write_file(arguments.output, f"{content}\n", option="output")
    found = comparison.shortcomings(
        fail_below=_thresholds("fail-below", arguments.fail_below, known, metric_required=True),
        max_drop=_thresholds("max-drop", arguments.max_drop, known),
        significant=arguments.significant,
        max_lost=arguments.max_lost,
    )
    return CommandResult(
        text="\n".join(_lines(comparison)), data=json.loads(content), notes=found, code=1 if found else 0
    )


def _lines(comparison: Comparison) -> Iterator[str]:
    from rag_otel.rendering.text_cutting import shorten
    from rag_otel_evaluators.offline.comparison import worsened

    header, lines = comparison.table()
    yield table(lines, header=header)
    for each in comparison.metrics:
        if each.lost or each.gained:
            yield f"  {each.metric}: {each.lost} rows have lost their score, {each.gained} have got one"
    if comparison.unmatched:
        yield f"  {comparison.unmatched} rows are in one file only"
    rows = [
        [metric, f"{change.before:.3f}", f"{change.after:.3f}", shorten(change.question or change.row, _LENGTH)]
        for metric, change in worsened(comparison, _WORSE_ROWS)
    ]
    if rows:
        yield "\n" + table(rows, header=["worse most", "before", "after", "question"])


def _thresholds(
    option: str, texts: Sequence[str], known: Sequence[str], *, metric_required: bool = False
) -> dict[str, float]:
    """Metric -> threshold. A threshold without a metric is that of all metrics that have none of their own."""
    general: dict[str, float] = {}
    special: dict[str, float] = {}
    for text in (part for each in texts for part in each.split(",")):
        metric, separator, number = (part.strip() for part in text.rpartition("="))
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= 1.0 or (metric_required and not separator):
            raise ConfigurationError(f"{option}: {text!r} is not METRIC=NUMBER with a number in 0..1")
        if separator and metric not in known:
            raise ConfigurationError(f"{option}: {metric!r} was not compared; there are: {', '.join(known)}")
        if separator:
            special[metric] = value
        else:
            general = dict.fromkeys(known, value)
    return general | special
