"""`rag-otel labels calibrate`: compares a judge with people's labels, and fits a calibration file to them."""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rag_otel.alert import Alert, AlertSeverity
from rag_otel.alerts.channels.configured import configured_channels
from rag_otel.cli.options import json_option, phoenix_options, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.terminal import CommandResult, progress, table
from rag_otel.errors import ConfigurationError, InputError, PermanentError, RetryableError
from rag_otel.evaluation.calibration import Calibration, Labelled, parted, read_calibrations, write_calibrations
from rag_otel.settings import Settings
from rag_otel_collectors.stored.labels import LABELS, labels_in_file, labels_in_phoenix, names_in
from rag_otel_evaluators.calibration.agreement import Agreement, agreement, calibration_z, prevalence_z
from rag_otel_evaluators.calibration.fit import HeldOut, fit, held_out, named, threshold_of

_DRIFTED_FROM: Final = 3.0
"""Standard deviations: about one false alarm in 370 checks."""
_CHANCE: Final = 0.5
"""AUROC of risks that say nothing."""
_DEFAULT_THRESHOLD: Final = 0.5
_FEWEST_OF_A_SLICE: Final = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """What is said of one judge."""

    metric: str
    judge: str
    version: str
    """Of the evaluator; empty where the results do not say it."""
    others: str
    """Whose labels they are."""
    overall: Agreement
    slices: dict[str, Agreement]
    calibration: Calibration | None = None
    after: Agreement | None = None
    """With the calibration applied to the labels that it was fitted to."""
    held_out: HeldOut | None = None
    z: float | None = None
    """Of the labels against the risks of `--check`, in standard deviations."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="scored rows with a column of labels: JSON Lines, CSV")
    parser.add_argument("--metric", default="faithfulness", help="the metric whose results are compared")
    parser.add_argument("--label", default="label", metavar="COLUMN", help="column of the labels in files")
    parser.add_argument(
        "--annotation",
        default=LABELS,
        metavar="A,B",
        help=f"names of people's annotations in Phoenix; the first that says something counts (default: {LABELS})",
    )
    parser.add_argument(
        "--against", metavar="NAME", help="compare with another judge's annotations of this name, not with people"
    )
    parser.add_argument(
        "--other-judge", metavar="NAME", help="compare another judge's annotations of this name, not rag-otel's results"
    )
    parser.add_argument("--bad", action="append", default=[], metavar="VALUE", help="a label that means unfaithful")
    parser.add_argument("--slices", default="", metavar="A,B", help="columns or attributes to report on separately")
    parser.add_argument("--cost-miss", type=float, default=1.0, help="cost of an unfaithful answer that is not told")
    parser.add_argument("--cost-false-alarm", type=float, default=1.0, help="cost of a faithful answer that is told")
    parser.add_argument("--output", type=Path, metavar="FILE", help="fit a calibration and write it here")
    parser.add_argument(
        "--allow-inverted", action="store_true", help="with --output: fit also where bad answers have the lower risks"
    )
    parser.add_argument("--base", metavar="FILE", help="the calibration file that the stored results went through")
    parser.add_argument(
        "--check", metavar="FILE", help="exit with 1 if the labels no longer agree with this calibration"
    )
    parser.add_argument("--alert", action="store_true", help="with --check: send an alert to the configured channels")
    json_option(parser, "the figures")
    phoenix_options(parser)


def run(arguments: argparse.Namespace) -> CommandResult:
    """Exit code 1 if `--check` found that the judge has drifted from people, or a calibration was not written because
    it does harm. Raises ConfigurationError, InputError and the client's errors."""
    settings = settings_of(arguments)
    labelled = _uncalibrated(_labelled(arguments, settings), arguments.base, arguments.metric)
    if not labelled:
        raise InputError("found no answer with both a label and a result of this metric")
    reports, notes = _reports(arguments, labelled)
    harmful = [each for each in reports if each.held_out is not None and not each.held_out.helps]
    helpful = [each.calibration for each in reports if each.calibration is not None and each not in harmful]
    if arguments.output and helpful:
        write_calibrations(arguments.output, helpful)
    for each in reports:
        if each.overall.auroc.value < _CHANCE:
            notes.append(f"warning: {_inverted(each, in_files=bool(arguments.files))}")
        if each in harmful:
            notes.append(f"warning: {_named(each)}: not in {arguments.output}: it makes the log-loss worse")
    drifted = [each for each in reports if each.z is not None and abs(each.z) >= _DRIFTED_FROM]
    if drifted and arguments.alert:
        notes += _tell(drifted, settings)
    return CommandResult(
        text="\n\n".join(map(_as_text, reports)),
        data=[_finite(dataclasses.asdict(each)) for each in reports],
        notes=notes,
        code=1 if drifted or harmful else 0,
    )


def _labelled(arguments: argparse.Namespace, settings: Settings) -> list[Labelled]:
    slices = names_in(arguments.slices)
    if bool(arguments.files) == bool(arguments.project):
        raise ConfigurationError("give either files or --project NAME")
    if arguments.against or arguments.other_judge:
        if arguments.files:
            raise ConfigurationError("--against and --other-judge read annotations: give --project NAME")
        if arguments.output or arguments.check:
            raise ConfigurationError(
                "a calibration is fitted to people's labels of rag-otel's results: leave out --against"
            )
    if arguments.files:
        return [
            each
            for path in arguments.files
            for each in labels_in_file(
                path, metric=arguments.metric, label=arguments.label, slices=slices, bad_values=arguments.bad
            )
        ]
    project = phoenix_project(arguments, settings)
    found = labels_in_phoenix(
        project,
        metric=arguments.metric,
        annotations=names_in(arguments.annotation),
        against=arguments.against,
        other=arguments.other_judge,
        slices=slices,
    )
    return list(progress(found, description="reading"))


def _uncalibrated(labelled: Sequence[Labelled], base: str | None, metric: str) -> list[Labelled]:
    """The labels with the judge's own risks: a calibration that was applied to a stored result is taken back."""
    known = {} if base is None else {each.mark: each for each in read_calibrations(base).all if each.metric == metric}
    own = []
    for each in labelled:
        version, mark = parted(each.version)
        if not mark:
            own.append(each)
        elif (applied := known.get(mark)) is not None:
            own.append(dataclasses.replace(each, risk=applied.judged(each.risk), version=version))
        else:
            raise InputError(
                f"stored results went through a calibration ({mark}); name its file with --base, so that it is "
                "taken back before a new one is fitted"
            )
    return own


def _reports(arguments: argparse.Namespace, labelled: Sequence[Labelled]) -> tuple[list[Report], list[str]]:
    """One for each version of each judge, and what is to be told. Of a version with too few labels, or without a
    calibration to check, it is only told as long as there is another version of the same judge."""
    reports: list[Report] = []
    refused: list[tuple[str, InputError]] = []
    for judge, version in sorted({(each.judge, each.version) for each in labelled}):
        own = [each for each in labelled if (each.judge, each.version) == (judge, version)]
        try:
            reports.append(_report(arguments, judge, version, own))
        except InputError as error:
            refused.append((judge, error))
    for judge, refusal in refused:
        if all(each.judge != judge for each in reports):
            raise refusal
    return reports, [f"warning: {refusal}" for _, refusal in refused]


def _report(arguments: argparse.Namespace, judge: str, version: str, labelled: list[Labelled]) -> Report:
    threshold = threshold_of(cost_miss=arguments.cost_miss, cost_false_alarm=arguments.cost_false_alarm)
    report = Report(
        metric=arguments.other_judge or arguments.metric,
        others=f"{arguments.against}, another judge" if arguments.against else "people",
        judge=judge,
        version=version,
        overall=agreement(labelled, threshold=_DEFAULT_THRESHOLD),
        slices={
            name: agreement(rows, threshold=_DEFAULT_THRESHOLD)
            for name in sorted({name for each in labelled for name in each.slices})
            if len(rows := [each for each in labelled if name in each.slices]) >= _FEWEST_OF_A_SLICE
        },
    )
    if arguments.check:
        expected = read_calibrations(arguments.check).of(arguments.metric, judge, version)
        if expected is None:
            raise InputError(f"{arguments.check}: holds no calibration of {_named(report)}: fit one with --output FILE")
        calibrated = [dataclasses.replace(each, risk=expected.risk(each.risk)) for each in labelled]
        z = max(calibration_z(calibrated), prevalence_z(calibrated), key=abs)
        report = dataclasses.replace(report, z=z, calibration=expected)
    if arguments.output:
        if report.overall.auroc.value < _CHANCE and not arguments.allow_inverted:
            raise InputError(
                f"{_inverted(report, in_files=bool(arguments.files))}; to fit all the same, add --allow-inverted"
            )
        made = fit(labelled, metric=arguments.metric, judge=judge, version=version, threshold=threshold)
        calibrated = [dataclasses.replace(each, risk=made.risk(each.risk)) for each in labelled]
        report = dataclasses.replace(
            report, calibration=made, after=agreement(calibrated, threshold=threshold), held_out=held_out(labelled)
        )
    return report


def _inverted(report: Report, *, in_files: bool) -> str:
    wanted = (
        "a number is read as a score, so that 1 is good: if 1 means unfaithful, add --bad 1"
        if in_files
        else "a score below 0.5 is bad: look at what the annotations mean"
    )
    return (
        f"{_named(report)}: answers whose label is bad have the lower risks (AUROC {report.overall.auroc.value:.2f}), "
        f"as if the labels were read the wrong way round; {wanted}"
    )


def _named(report: Report) -> str:
    return named(report.metric, report.judge, report.version)


def _as_text(report: Report) -> str:
    rows = [_row("all", report.overall), *(_row(name, each) for name, each in report.slices.items())]
    if report.after is not None:
        rows.append(_row("calibrated", report.after))
    lines = [
        f"{_named(report)}: agreement with {report.others} (95% intervals)",
        table(rows, header=("answers", "labels", "bad", "kappa", "AUROC", "precision", "recall")),
    ]
    if report.held_out is not None and report.calibration is not None:
        lines.append(
            f"log-loss on labels that the fit did not use: {report.held_out.before:.3f} before, "
            f"{report.held_out.after:.3f} calibrated. At these costs tell answers from risk "
            f"{report.calibration.threshold:.2f}: alert_rules risk>={report.calibration.threshold:.2f}."
        )
    if report.z is not None:
        verdict = "has drifted from people" if abs(report.z) >= _DRIFTED_FROM else "agrees with its calibration"
        lines.append(f"The judge {verdict}: {report.z:+.1f} standard deviations (drift from {_DRIFTED_FROM:.0f}).")
    return "\n".join(lines)


def _row(name: str, of: Agreement) -> tuple[str, ...]:
    return (name, str(of.labels), str(of.bad), str(of.kappa), str(of.auroc), str(of.precision), str(of.recall))


def _finite(value: Any) -> Any:
    """With None in place of NaN, which is no JSON."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


def _tell(drifted: Sequence[Report], settings: Settings) -> list[str]:
    """One alert for each judge, to every configured channel. Returns what could not be sent."""
    failed = []
    for report in drifted:
        alert = Alert(
            name="judge_drift",
            fingerprint=f"rag-otel/judge_drift/{report.metric}/{report.judge}",
            metric=report.metric,
            severity=AlertSeverity.WARNING,
            headline=f"{report.metric} by {report.judge}: the judge no longer agrees with people",
            details={
                "deviation": f"{report.z or 0.0:+.1f} standard deviations from its calibration",
                "labels": str(report.overall.labels),
                "kappa": str(report.overall.kappa),
                "next": "read some of the labelled answers, then fit again: rag-otel labels calibrate --output FILE",
            },
            time_ns=time.time_ns(),
        )
        for channel in configured_channels(settings):
            try:
                channel.send(alert)
            except (RetryableError, PermanentError) as error:
                failed.append(f"the alert was not sent: {channel.name}: {error}")
    return failed
