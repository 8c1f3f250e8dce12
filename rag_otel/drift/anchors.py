"""The anchors: a frozen set of labelled answers that tells whether the judge has moved."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final, TypeVar

from rag_otel.drift.observation import RISK, SCORE, identity_of
from rag_otel.drift.records import stored
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.directions import goodness
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Evaluation

T = TypeVar("T")
_ERROR: Final = 0.05
"""Probability that any interval of any reading is wrong, over all readings since a reference."""
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


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorReading:
    """What a judge made of the anchors at one time, for one metric."""

    identity: str
    """Evaluator, version, judge and prompts."""
    time_s: float
    scores: Mapping[str, float]
    """Goodness in 0..1 by anchor: the score, or 1 less it where lower is better."""
    risks: Mapping[str, float]
    """Goodness in 0..1 by anchor: 1 - risk."""
    agreement: float | None = None
    """Share of pairs of a faithful and an unfaithful anchor that it puts in the right order (AUROC), 0..1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How far a judge has moved on the anchors that both readings have: goodness, negative is stricter."""

    mean: float
    interval: tuple[float, float]
    """Paired (Student). That of the j-th reading is at a level at which all readings' intervals together hold with 95%:
    it may be read at any time, any number of times. Assumes that the differences are normal."""
    count: int

    @property
    def moved(self) -> bool:
        """True when it is neither chance nor too small to matter."""
        return abs(self.mean) >= TOLERANCE and (self.interval[0] > 0.0 or self.interval[1] < 0.0)


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What judges made of the anchors, by metric. Replaced as a whole: any thread may look at it."""

    references: Mapping[str, AnchorReading] = field(default_factory=dict)
    """Those that the baselines belong to."""
    latest: Mapping[str, AnchorReading] = field(default_factory=dict)
    taken: Mapping[str, int] = field(default_factory=dict)
    """Readings since the reference: the more there are, the surer each must be."""

    def with_reading(self, metric: str, reading: AnchorReading) -> Readings:
        """The first one of a metric is its reference."""
        taken = self.taken.get(metric, 0) + 1 if metric in self.references else 0
        return Readings(
            references={metric: reading, **self.references},
            latest={**self.latest, metric: reading},
            taken={**self.taken, metric: taken},
        )

    def accepted(self) -> Readings:
        """The latest ones are what baselines are learned with from now on."""
        return Readings(references=self.latest, latest=self.latest)

    def without(self, metric: str) -> Readings:
        """Baselines of the metric are learned anew: so is their reference."""
        return Readings(
            references=_but(self.references, metric), latest=_but(self.latest, metric), taken=_but(self.taken, metric)
        )

    def shift(self, metric: str, signal: str) -> Shift | None:
        """How far the latest reading is from the reference; None where there are not both."""
        before, now = self.references.get(metric), self.latest.get(metric)
        if before is None or now is None:
            return None
        return shift(before, now, signal, reading=max(1, self.taken.get(metric, 1)))


def _but(kept: Mapping[str, T], metric: str) -> dict[str, T]:
    return {name: each for name, each in kept.items() if name != metric}


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


def reading_of(
    anchors: Sequence[Anchor], evaluations: Mapping[str, Evaluation], *, time_s: float
) -> AnchorReading | None:
    """What the evaluations of one metric, by anchor id, say; None where fewer than half of the anchors were judged."""
    judged = {name: each for name, each in evaluations.items() if each.score is not None or each.risk is not None}
    if 2 * len(judged) < len(anchors):
        return None
    scores = {name: goodness(each.name, each.score) for name, each in judged.items() if each.score is not None}
    risks = {name: 1.0 - each.risk for name, each in judged.items() if each.risk is not None}
    return AnchorReading(
        identity=identity_of(next(iter(judged.values()))),
        time_s=time_s,
        scores=scores,
        risks=risks,
        agreement=_agreement(anchors, risks or scores),
    )


def shift(before: AnchorReading, now: AnchorReading, signal: str, *, reading: int = 1) -> Shift | None:
    """How far `now`, the `reading`-th since `before`, is from it in the score or the risk; None for other signals and
    without common anchors. The j-th reading has 1/(j*(j+1)) of the error: over any number of readings it is spent once.
    """
    if signal not in (SCORE, RISK):
        return None
    old, new = (each.scores if signal == SCORE else each.risks for each in (before, now))
    differences = [new[name] - old[name] for name in old if name in new]
    count = len(differences)
    if count < 2:
        return None
    mean = sum(differences) / count
    variance = sum((each - mean) ** 2 for each in differences) / (count - 1)
    half = _student(_ERROR / (2 * reading * (reading + 1)), count - 1) * math.sqrt(variance / count)
    return Shift(mean=mean, interval=(mean - half, mean + half), count=count)


def _student(tail: float, free: int) -> float:
    """The point of Student's distribution with `free` degrees of freedom beyond which a share of `tail` lies."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if 1.0 - _within(angle, free) > 2.0 * tail else (low, angle)
    return math.tan(low) * math.sqrt(free)


def _within(angle: float, free: int) -> float:
    """How much of Student's distribution lies within sqrt(free) * tan(angle) on both sides of 0 (Abramowitz and Stegun,
    "Handbook of Mathematical Functions", 26.7.3 and 26.7.4)."""
    odd = free % 2
    total, term = 0.0, math.cos(angle) ** odd
    for power in range(odd, free - 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (power + 1) / (power + 2)
    inside = math.sin(angle) * total
    return 2.0 / math.pi * (angle + inside) if odd else inside


def _agreement(anchors: Sequence[Anchor], goodness: Mapping[str, float]) -> float | None:
    faithful = [goodness[each.id] for each in anchors if each.faithful and each.id in goodness]
    unfaithful = [goodness[each.id] for each in anchors if not each.faithful and each.id in goodness]
    if not faithful or not unfaithful:
        return None
    right = sum((good > bad) + 0.5 * (good == bad) for good in faithful for bad in unfaithful)
    return right / (len(faithful) * len(unfaithful))
