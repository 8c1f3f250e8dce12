"""`rag-otel evaluate FILE`: scores the questions, contexts and responses in a file and writes the rows with the scores.

Options on the command line override those of `--config config.yaml`, which may contain every setting.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from rag_otel.cli.interrupts import insistent_interrupts
from rag_otel.cli.options import judge_options, require_price_of_budget
from rag_otel.cli.terminal import CommandResult, progress, table
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.calibration import calibration_of, is_calibrated
from rag_otel.evaluation.directions import is_worse, learn_directions, lower_is_better
from rag_otel.model import WITHOUT_SCORE_BY_NATURE
from rag_otel_evaluators.build import build_evaluators, rows_at_once
from rag_otel_evaluators.offline.config import STANDARD_OUTPUT, EvaluationConfig, make_config, read_config_file
from rag_otel_evaluators.offline.dataset_rows import read_records
from rag_otel_evaluators.offline.dataset_writers import open_writer
from rag_otel_evaluators.offline.datasets import BAD_ROW, Row, parse_columns, read_rows
from rag_otel_evaluators.offline.results import Results, as_columns, result_columns
from rag_otel_evaluators.offline.rows import column_needs, evaluate_rows
from rag_otel_evaluators.offline.statistics import MetricSummary

_OF_JUDGE: Final = ("api_base", "strategy", "classifier")
"""Options that are settings of the judge."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, nargs="?", metavar="FILE", help="a file of JSON Lines, CSV or Parquet")
    parser.add_argument("--config", type=Path, metavar="YAML", help="settings file: these options and further settings")
    parser.add_argument("--output", help="file for the rows with their scores; - is standard output (the default)")
    parser.add_argument("--report", metavar="DIR", help="write an HTML report into this folder")
    parser.add_argument(
        "--columns",
        help="the column names, if they are not recognised: question=q,contexts=pred.docs,response=answer",
    )
    judge = judge_options(parser, server=True, limits=False)
    judge.add_argument("--classifier", help="for --strategy classifier: embedded (the default), hhem, hhem/DIR")
    judge.add_argument("--embedder", help="embedding model of response_relevancy (default: one that needs no key)")
    judge.add_argument("--language", help="language of the prompts (default: en)")
    judge.add_argument("--prompts", metavar="DIR", help="folder of prompts that replace built-in ones")
    judge.add_argument("--concurrency", type=int, help="rows, and calls of a model, at once (default: 20)")
    parser.add_argument("--cache", metavar="FILE", help="cache of the judges' answers (default: OUTPUT.cache)")
    parser.add_argument("--no-cache", dest="cache", action="store_false", help="do not cache the judges' answers")
    parser.add_argument(
        "--calibration-file",
        metavar="FILE",
        help="calibration of the risks and labels, by rag-otel labels calibrate",
    )
    parser.add_argument(
        "--fail-under",
        action="append",
        metavar="METRIC=MEAN",
        help="exit with code 1 if the metric's mean is worse (may be repeated)",
    )
    parser.add_argument(
        "--max-lost",
        type=float,
        metavar="SHARE",
        help="exit with code 1 if judging failed on more of the rows, 0..1 (default: 0.1)",
    )
    parser.add_argument(
        "--allow-bad-rows",
        action="store_true",
        help="exit with code 0 although rows cannot be read or lack a field",
    )
    parser.set_defaults(cache=None, allow_bad_rows=None)  # what is not given comes from the file


def run(arguments: argparse.Namespace) -> CommandResult:
    """Scores every row. Exit code 1 if a mean is below its threshold, rows were lost or cannot be read, else 0.

    Raises InputError if the file cannot be read, ConfigurationError for wrong settings (exit code 2 for both).
    """
    config = _read_config(arguments)
    if config.data is None:
        raise ConfigurationError("no file to evaluate: name one, or set `data` in the configuration")
    require_price_of_budget(config.budget_usd, config.judge, "budget_usd")
    with ExitStack() as resources:
        evaluators = build_evaluators(config, resources, described=config.described, cache_path=config.cache_path)
        learn_directions(evaluators)
        metrics = tuple(evaluator.name for evaluator in evaluators)
        rows = read_rows(
            read_records(config.data),
            columns=config.columns,
            needs=column_needs(evaluators),
            source=str(config.data),
        )
        if not rows:
            print(f"rag-otel evaluate: warning: {config.data} holds no rows", file=sys.stderr)
        _say_what_is_replaced(rows, metrics)
        run_of_rows = evaluate_rows(
            rows,
            evaluators,
            concurrency=rows_at_once(config),
            budget_usd=config.budget_usd,
            calibrate=calibration_of(config.calibration_file),
        )
        judged = resources.enter_context(closing(run_of_rows))
        results = []
        try:
            writing = open_writer(config.output, source=config.data, rows=rows, results=result_columns(metrics))
            with writing as writer, insistent_interrupts():
                for result in progress(judged, total=len(rows), description="evaluating"):
                    writer.write(result.row.values, as_columns(result.evaluations))
                    results.append(result)
        except KeyboardInterrupt:
            _say_how_to_resume(len(results), len(rows), config)
            raise
    return _conclude(Results(results=tuple(results), metrics=metrics), config)


def _read_config(arguments: argparse.Namespace) -> EvaluationConfig:
    """The settings of the file, overridden by the options that were given: their names are those of the settings."""
    given = {name: value for name, value in vars(arguments).items() if value is not None}
    file = given.pop("config", None)
    values = {} if file is None else read_config_file(file)
    if "columns" in given:
        given["columns"] = parse_columns(given["columns"])
    if "fail_under" in given:
        given["fail_under"] = dict(_minimum(text) for part in given["fail_under"] for text in part.split(","))
    of_judge = {name: given.pop(name) for name in _OF_JUDGE if name in given}
    if of_judge:
        judge = given.get("judge", values.get("judge"))
        given["judge"] = {**({"model": judge} if isinstance(judge, str) else judge or {}), **of_judge}
    return make_config(values | given, source="options" if file is None else str(file))


def _minimum(text: str) -> tuple[str, float]:
    metric, _, least = (part.strip() for part in text.partition("="))
    try:
        return metric, float(least)
    except ValueError:
        raise ConfigurationError(f"fail-under: {text!r} is not METRIC=MEAN, for example faithfulness=0.8") from None


def _say_what_is_replaced(rows: Sequence[Row], metrics: Sequence[str]) -> None:
    replaced = [name for name in result_columns(metrics) if any(name in row.values for row in rows)]
    if replaced:
        print(f"results replace these columns of the file: {', '.join(replaced)}", file=sys.stderr)


def _say_how_to_resume(done: int, total: int, config: EvaluationConfig) -> None:
    kept = ""
    if config.cache_path is not None and config.cache_path.exists():
        kept = f"; the judges' answers are in {config.cache_path}: run the same command again to continue"
    print(f"interrupted after {done} of {total} rows{kept}", file=sys.stderr)


def _conclude(results: Results, config: EvaluationConfig) -> CommandResult:
    """Prints the summary, beside the rows that may be on standard output, and writes the report."""
    summaries = results.summary()
    print(_table(summaries), file=sys.stderr)
    for summary in summaries:
        if summary.usage.calls:
            print(_cost(summary), file=sys.stderr)
    if config.calibration_file is not None:
        print(_calibrated(results, config), file=sys.stderr)
    if config.report is not None:
        title = f"Evaluation of {config.data.name}" if config.data else "Evaluation"
        print(f"report: {results.report(config.report, title=title)}", file=sys.stderr)
    if config.output != STANDARD_OUTPUT:
        print(f"rows: {config.output}", file=sys.stderr)
    found = _shortcomings(results, summaries, config)
    return CommandResult(notes=found, code=1 if found else 0)


def _shortcomings(results: Results, summaries: Sequence[MetricSummary], config: EvaluationConfig) -> list[str]:
    """The reasons for exit code 1, one sentence each. Empty if there are none.

    Lost rows are a reason of their own, because the mean is only that of the others (a metric that failed on every row:
    a wrong key, a server that is down). So are rows that cannot be read, and a metric with a threshold if its mean is
    lower or no row has a score.
    """
    found = []
    bad = [each for each in results if any(one.reason_code == BAD_ROW for one in each.evaluations)]
    if bad and not config.allow_bad_rows:
        first = next(one for one in bad[0].evaluations if one.reason_code == BAD_ROW)
        found.append(
            f"{len(bad)} of {len(results)} rows cannot be evaluated, the first is row {bad[0].row.label}: "
            f"{first.explanation} (--allow-bad-rows accepts them)"
        )
    for summary in summaries:
        least = config.fail_under.get(summary.metric)
        if summary.rows and summary.failures == summary.rows:
            first = results.evaluations(summary.metric)[0]
            found.append(f"{summary.metric} failed on every row: {first.explanation}")
            continue
        if summary.lost > config.max_lost * summary.rows:
            found.append(
                f"{summary.metric}: {summary.lost} of {summary.rows} rows were lost ({_reasons_of_loss(summary)}), "
                f"more than {config.max_lost:.0%}; the mean is that of the others (--max-lost)"
            )
        if least is not None and summary.mean is None:
            found.append(f"{summary.metric}: no row has a score; the mean must be at least {least:g}")
        elif least is not None and summary.mean is not None and is_worse(summary.metric, summary.mean, least):
            side = "above" if lower_is_better(summary.metric) else "below"
            found.append(f"{summary.metric}: the mean {summary.mean:.4f} is {side} {least:g}")
    return found


def _reasons_of_loss(summary: MetricSummary) -> str:
    left_out = WITHOUT_SCORE_BY_NATURE | {BAD_ROW}
    return ", ".join(f"{count} {reason}" for reason, count in summary.nulls.items() if reason not in left_out)


def _table(summaries: Sequence[MetricSummary]) -> str:
    """A line for each metric: rows, rows with a score, the distribution of scores, and the reasons for missing ones."""
    header = ["metric", "rows", "scored", "mean", "95% interval", "median", "std", "min", "max", "without a score"]
    lines = []
    for summary in summaries:
        interval = "-" if summary.interval is None else f"{summary.interval[0]:.3f} to {summary.interval[1]:.3f}"
        spread = (summary.median, summary.std, summary.minimum, summary.maximum)
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.nulls.items()) or "-"
        counts = [str(summary.rows), str(summary.scored)]
        figures = [_number(summary.mean), interval, *map(_number, spread)]
        lines.append([summary.metric, *counts, *figures, reasons])
    return table(lines, header=header)


def _calibrated(results: Results, config: EvaluationConfig) -> str:
    """Which results the calibration file changed."""
    counts = {metric: sum(map(is_calibrated, results.evaluations(metric))) for metric in results.metrics}
    changed = ", ".join(f"{metric} ({count} rows)" for metric, count in counts.items() if count)
    nothing = "no result: the file holds nothing of these metrics and judges"
    return f"calibration: {config.calibration_file} was applied to {changed or nothing}"


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}"


def _cost(summary: MetricSummary) -> str:
    usage = summary.usage
    price = "" if usage.cost_usd is None else f", ${usage.cost_usd:.4f}"
    tokens = f"{usage.input_tokens:,} input tokens, {usage.output_tokens:,} output tokens"
    return f"  {summary.metric}: {usage.calls:,} calls, {tokens}{price}"
