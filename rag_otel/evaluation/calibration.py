"""What people's labels say about a judge, applied to its results: a risk that means what it says, and a threshold.

`rag-otel calibrate` fits the file, the setting `calibration_file` applies it. Platt scaling: the calibrated risk is

    sigmoid(slope * logit(judge's risk) + intercept)

Source: J. Platt, "Probabilistic outputs for support vector machines", 1999.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.directions import goodness
from rag_otel.model import Evaluation, ReasonCode

_LEAST: Final = 1e-4
"""A risk closer to 0 or 1 than this counts as this: the logit of 0 and 1 is infinite."""
_VERSION: Final = 1
MARK: Final = "+c"
"""Begins the mark of a calibration in an evaluator's version."""
_MARKED: Final = re.compile(re.escape(MARK) + r"[0-9a-f]{6}")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The calibration of one metric as one judge gives it."""

    metric: str
    judge: str
    slope: float
    intercept: float
    threshold: float
    """From this calibrated risk on an answer is labelled `unfaithful`."""
    labels: int
    """How many labels it was fitted to."""
    bad: int
    """How many of them said that the answer is not faithful."""

    def risk(self, judged: float) -> float:
        """The calibrated risk, 0..1."""
        return sigmoid(self.slope * logit(judged) + self.intercept)

    def judged(self, calibrated: float) -> float:
        """The judge's own risk of which `risk` makes this one."""
        return sigmoid((logit(calibrated) - self.intercept) / self.slope) if self.slope else calibrated

    @property
    def mark(self) -> str:
        """Stands behind the evaluator's version in results: results of different calibrations are not comparable."""
        text = f"{self.slope:.6g} {self.intercept:.6g} {self.threshold:.6g}"
        return MARK + hashlib.blake2b(text.encode(), digest_size=3).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrations:
    """The calibrations of a file."""

    all: tuple[Calibration, ...] = ()

    def apply(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with its calibrated risk, and the label at the calibrated threshold.

        Unchanged: a failure, an evaluation without risk and score, a score by definition (`no_context`), and a metric
        or judge of which the file holds nothing. An answer with unjudged claims is still never labelled `faithful`.
        """
        found = self.of(evaluation.name, evaluation.judge)
        judged = risk_of(evaluation)
        if found is None or judged is None or evaluation.reason_code == ReasonCode.NO_CONTEXT:
            return evaluation
        risk = found.risk(judged)
        label = "unfaithful" if risk >= found.threshold else "faithful"
        known = label == "unfaithful" or evaluation.label is not None
        return dataclasses.replace(
            evaluation, risk=risk, label=label if known else None, version=evaluation.version + found.mark
        )

    def of(self, metric: str, judge: str) -> Calibration | None:
        """The calibration of a metric and a judge; None if the file holds none."""
        return next((each for each in self.all if (each.metric, each.judge) == (metric, judge)), None)


def risk_of(evaluation: Evaluation) -> float | None:
    """The judge's risk, or for a judge without risks how bad its score is; None where there is neither."""
    if evaluation.error_type is not None or evaluation.score is None:
        return None
    return 1.0 - goodness(evaluation.name, evaluation.score) if evaluation.risk is None else evaluation.risk


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
    """What applies the file of `rag-otel calibrate` to a result; None without a file. Raises ConfigurationError."""
    return None if path is None else read_calibrations(path).apply


def is_calibrated(evaluation: Evaluation) -> bool:
    """Whether a calibration was applied to a result, as the end of its version says."""
    return _MARKED.fullmatch(evaluation.version[-len(MARK) - 6 :]) is not None


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
        if not all(math.isfinite(each.slope + each.intercept + each.threshold) for each in calibrations):
            raise ValueError("a number that is not finite")
    except OSError as error:
        raise ConfigurationError(f"calibration_file = {str(path)!r}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"calibration_file (environment: RAG_OTEL_CALIBRATION_FILE) = {str(path)!r}: not a file of "
            f"`rag-otel calibrate`: {error}"
        ) from None
    return Calibrations(all=calibrations)
