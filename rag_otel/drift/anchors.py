"""The anchors: a frozen set of labelled answers that tells whether the judge has moved."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rag_otel.drift.observation import RISK, SCORE
from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation

_T99: Final = (
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169,
    3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
    2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.75,
)  # fmt: skip
"""Two-sided 99% points of Student's distribution by degrees of freedom, from 1 on; 2.576 and a bit beyond."""
_PACKAGED: Final = Path(__file__).with_name("anchors.json")
TOLERANCE: Final = 0.02
"""Smaller shifts of a mean over the anchors are no move, however sure they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One answer whose truth is known."""

    id: str
    question: str
    contexts: tuple[str, ...]
    response: str
    faithful: bool
    """As people said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a judge made of the anchors at one time, for one metric."""

    identity: str
    """Evaluator, version, judge and prompts."""
    time_s: float
    scores: Mapping[str, float]
    """Goodness in 0..1 by anchor: the score."""
    risks: Mapping[str, float]
    """Goodness in 0..1 by anchor: 1 - risk."""
    agreement: float | None = None
    """Share of pairs of a faithful and an unfaithful anchor that it puts in the right order (AUROC), 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How far a judge has moved on the anchors that both readings have: goodness, negative is stricter."""

    mean: float
    interval: tuple[float, float]
    """About 99%, paired (Student)."""
    count: int

    @property
    def moved(self) -> bool:
        """True when it is neither chance nor too small to matter."""
        return abs(self.mean) >= TOLERANCE and (self.interval[0] > 0.0 or self.interval[1] < 0.0)


def load_anchors(path: str | Path | None = None) -> tuple[Anchor, ...]:
    """Those of a file, or the packaged ones (24 short answers of RAGTruth). Raises ConfigurationError."""
    try:
        rows = json.loads(Path(path or _PACKAGED).read_text(encoding="utf-8"))["anchors"]
        anchors = tuple(
            Anchor(
                id=str(row["id"]),
                question=str(row["question"]),
                contexts=tuple(str(context) for context in row["contexts"]),
                response=str(row["response"]),
                faithful=bool(row["faithful"]),
            )
            for row in rows
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ConfigurationError(f"judge_anchors {str(path)!r} cannot be read: {problem}") from None
    if len(anchors) < 2:
        raise ConfigurationError(f"judge_anchors {str(path)!r}: at least two anchors are needed")
    return anchors


def identity_of(evaluation: Evaluation) -> str:
    """Who judged: another identity may judge otherwise."""
    parts = (evaluation.evaluator, evaluation.version, evaluation.judge, *evaluation.prompts)
    return " ".join(part for part in parts if part)


def reading_of(anchors: Sequence[Anchor], evaluations: Mapping[str, Evaluation], *, time_s: float) -> Reading | None:
    """What the evaluations of one metric, by anchor id, say; None where fewer than half of the anchors were judged."""
    judged = {name: each for name, each in evaluations.items() if each.score is not None or each.risk is not None}
    if 2 * len(judged) < len(anchors):
        return None
    scores = {name: each.score for name, each in judged.items() if each.score is not None}
    risks = {name: 1.0 - each.risk for name, each in judged.items() if each.risk is not None}
    return Reading(
        identity=identity_of(next(iter(judged.values()))),
        time_s=time_s,
        scores=scores,
        risks=risks,
        agreement=_agreement(anchors, risks or scores),
    )


def shift(before: Reading, now: Reading, signal: str) -> Shift | None:
    """How far `now` is from `before` in the score or the risk; None for other signals and without common anchors."""
    if signal not in (SCORE, RISK):
        return None
    old, new = (each.scores if signal == SCORE else each.risks for each in (before, now))
    differences = [new[name] - old[name] for name in old if name in new]
    count = len(differences)
    if count < 2:
        return None
    mean = sum(differences) / count
    variance = sum((each - mean) ** 2 for each in differences) / (count - 1)
    point = _T99[count - 2] if count - 1 <= len(_T99) else 2.7
    half = point * math.sqrt(variance / count)
    return Shift(mean=mean, interval=(mean - half, mean + half), count=count)


def _agreement(anchors: Sequence[Anchor], goodness: Mapping[str, float]) -> float | None:
    faithful = [goodness[each.id] for each in anchors if each.faithful and each.id in goodness]
    unfaithful = [goodness[each.id] for each in anchors if not each.faithful and each.id in goodness]
    if not faithful or not unfaithful:
        return None
    right = sum((good > bad) + 0.5 * (good == bad) for good in faithful for bad in unfaithful)
    return right / (len(faithful) * len(unfaithful))


def reading_state(reading: Reading) -> dict[str, Any]:
    """The reading as JSON."""
    return {
        "identity": reading.identity,
        "time_s": reading.time_s,
        "scores": dict(reading.scores),
        "risks": dict(reading.risks),
        "agreement": reading.agreement,
    }
