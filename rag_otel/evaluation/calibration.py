"""What people's labels say about a judge, applied to its results: a risk that means what it says.

`rag-otel labels calibrate` fits the file, the setting `calibration_file` applies it. Platt scaling: the calibrated
risk is

    sigmoid(slope * logit(judge's risk) + intercept)

From 1,000 labels on it is a rising curve through a few points instead (isotonic regression), where that does better
on labels that the fit did not use.

It changes neither score nor verdicts nor label: those are decided by claim (`evaluation.support`).

Source: J. Platt, "Probabilistic outputs for support vector machines", 1999.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.directions import goodness
from rag_otel.model import Evaluation, ReasonCode
from rag_otel.safety.guard import counters, logger

_LEAST: Final = 1e-4
"""A risk closer to 0 or 1 than this counts as this: the logit of 0 and 1 is infinite."""
_VERSION: Final = 1
MARK: Final = "+c"
"""Begins the mark of a calibration in an evaluator's version."""
_MARKED: Final = re.compile(re.escape(MARK) + r"[0-9a-f]{6}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One answer with the judge's risk and a person's label."""

    risk: float
    """The judge's risk, 0..1; for a judge without risks 1 - score."""
    bad: bool
    """True if the person says that the answer is not faithful."""
    judge: str = ""
    weight: float = 1.0
    """1 / probability that the answer was picked for a label."""
    slices: tuple[str, ...] = ()
    """`dimension=value`."""
    version: str = ""
    """The evaluator's version, with the mark of the calibration that was applied already, if one was."""
    question: str | None = None
    """Answers to one question depend on each other: they are held out and resampled together. None: not known."""


def by_question(labelled: Sequence[Labelled]) -> list[list[Labelled]]:
    """The labels, those of one question together; one whose question is not known is by itself."""
    groups: dict[object, list[Labelled]] = {}
    for number, each in enumerate(labelled):
        groups.setdefault(number if each.question is None else each.question, []).append(each)
    return list(groups.values())


Knot: TypeAlias = tuple[float, float]
"""(logit of the judge's risk, logit of the calibrated one)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The calibration of one metric as one version of one judge gives it."""

    metric: str
    judge: str
    slope: float
    intercept: float
    threshold: float
    """From this calibrated risk on an answer is worth telling, by what a miss and a false alarm cost: a limit for
    `alert_rules` and `Guard(risk_above=...)`."""
    labels: int
    """How many labels it was fitted to."""
    bad: int
    """How many of them said that the answer is not faithful."""
    version: str = ""
    """The version of the evaluator whose results these were; of others it says nothing. Files of earlier releases do
    not say it: they are applied to nothing."""
    knots: tuple[Knot, ...] = ()
    """Of many labels: points of a rising curve that takes the place of slope and intercept."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", tuple((float(x), float(y)) for x, y in self.knots))

    def risk(self, judged: float) -> float:
        """The calibrated risk, 0..1."""
        return sigmoid(mapped(self.knots, logit(judged)) if self.knots else self.slope * logit(judged) + self.intercept)

    def judged(self, calibrated: float) -> float:
        """The judge's own risk of which `risk` makes this one."""
        if self.knots:
            return sigmoid(mapped(tuple((y, x) for x, y in self.knots), logit(calibrated)))
        return sigmoid((logit(calibrated) - self.intercept) / self.slope) if self.slope else calibrated

    @property
    def mark(self) -> str:
        """Stands behind the evaluator's version in results: results of different calibrations are not comparable."""
        text = f"{self.slope:.6g} {self.intercept:.6g} {self.threshold:.6g}"
        text += "".join(f" {x:.6g},{y:.6g}" for x, y in self.knots)
        return MARK + hashlib.blake2b(text.encode(), digest_size=3).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrations:
    """The calibrations of a file."""

    all: tuple[Calibration, ...] = ()

    def apply(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with its calibrated risk.

        Unchanged: a failure, an evaluation without risk and score, a score by definition (`no_context`), and a metric,
        judge or version of which the file holds nothing.
        """
        judge = evaluation.answered_by or evaluation.judge
        found = self.of(evaluation.name, judge, evaluation.version)
        judged = risk_of(evaluation)
        if evaluation.answered_by is not None and self.all and counters.add("calibration.alias") == 1:
            logger.warning(
                "rag-otel: %s was answered by %s: a calibration holds for one version, %s; name the version as judge",
                evaluation.judge,
                evaluation.answered_by,
                "and the file has none of this" if found is None else "and the next has none",
            )
        if found is None:
            self._tell_of_other_versions(evaluation.name, judge, evaluation.version)
        if found is None or judged is None or evaluation.reason_code == ReasonCode.NO_CONTEXT:
            return evaluation
        return dataclasses.replace(evaluation, risk=found.risk(judged), version=evaluation.version + found.mark)

    def of(self, metric: str, judge: str, version: str) -> Calibration | None:
        """The calibration of a metric, a judge and a version of the evaluator; None if the file holds none."""
        wanted = (metric, judge, version)
        return next((each for each in self.all if (each.metric, each.judge, each.version) == wanted), None)

    def _tell_of_other_versions(self, metric: str, judge: str, version: str) -> None:
        """Once: the file was fitted to results of a version that judged otherwise."""
        others = [each.version or "not known" for each in self.all if (each.metric, each.judge) == (metric, judge)]
        if others and counters.add("calibration.version") == 1:
            logger.warning(
                "rag-otel: the calibration of %s by %s is not applied: it was fitted to version %s, and results are of "
                "version %s; label some of these and fit it again: rag-otel labels calibrate --output FILE",
                metric,
                judge,
                ", ".join(others),
                version,
            )


def risk_of(evaluation: Evaluation) -> float | None:
    """The judge's risk, or for a judge without risks how bad its score is; None where there is neither."""
    if evaluation.error_type is not None or evaluation.score is None:
        return None
    return 1.0 - goodness(evaluation.name, evaluation.score) if evaluation.risk is None else evaluation.risk


def mapped(knots: Sequence[Knot], value: float) -> float:
    """The curve through the knots at `value`: straight between two, parallel to the diagonal beyond them; the value
    itself without any."""
    if not knots:
        return value
    at = bisect_right(knots, (value, math.inf))
    if at in (0, len(knots)):
        x, y = knots[0 if at == 0 else -1]
        return y + value - x
    (left, low), (right, high) = knots[at - 1], knots[at]
    return low + (high - low) * (value - left) / (right - left)


def sigmoid(value: float) -> float:
    if value >= 0:
        return 1.0 / (1.0 + math.exp(-value))
    power = math.exp(value)
    return power / (1.0 + power)


def logit(risk: float) -> float:
    """ln(p / (1 - p)), with p at least .0001 and at most .9999."""
    bounded = min(max(risk, _LEAST), 1.0 - _LEAST)
    return math.log(bounded / (1.0 - bounded))


def calibration_of(path: str | Path | None) -> Callable[[Evaluation], Evaluation] | None:
    """What applies the file of `rag-otel labels calibrate`; None without a file. Raises ConfigurationError."""
    return None if path is None else read_calibrations(path).apply


def is_calibrated(evaluation: Evaluation) -> bool:
    """Whether a calibration was applied to a result, as the end of its version says."""
    return bool(parted(evaluation.version)[1])


def parted(version: str) -> tuple[str, str]:
    """An evaluator's version without the mark of a calibration, and that mark; an empty one where there is none."""
    found = _MARKED.search(version)
    return (version, "") if found is None else (version[: found.start()], found.group())


def write_calibrations(path: Path, calibrations: Sequence[Calibration]) -> None:
    """Writes the file. Raises OSError."""
    content = {"version": _VERSION, "calibrations": [dataclasses.asdict(each) for each in calibrations]}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_calibrations(path: str | Path) -> Calibrations:
    """Reads the file. Raises ConfigurationError that says what is wrong with it."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["version"] != _VERSION:
            raise ValueError(f"version {content['version']!r}, not {_VERSION}")
        calibrations = tuple(Calibration(**each) for each in content["calibrations"])
        numbers = (
            number
            for each in calibrations
            for number in (each.slope, each.intercept, each.threshold, *(part for knot in each.knots for part in knot))
        )
        if not all(map(math.isfinite, numbers)):
            raise ValueError("a number that is not finite")
    except OSError as error:
        raise ConfigurationError(f"calibration_file = {str(path)!r}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"calibration_file (environment: RAG_OTEL_CALIBRATION_FILE) = {str(path)!r}: not a file of "
            f"`rag-otel labels calibrate`: {error}"
        ) from None
    return Calibrations(all=calibrations)
