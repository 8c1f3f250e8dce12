"""What of a result is watched: signals (score, risk, the unjudged share) and the slices it counts for."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from typing import Final

from rag_otel.evaluation.directions import goodness, lower_is_better
from rag_otel.evaluation.support import UNFAITHFUL
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import EvaluatedTrace, Evaluation, RagTrace
from rag_otel.ratings.words import COMPLAINT_BELOW

ALL: Final = "all"
SCORE: Final = "score"
RISK: Final = "risk"
UNJUDGED: Final = "unscored"
DIMENSIONS: Final = ("service", "route", "model", "prompt_version", "tenant")
"""By default: attributes of a trace, else its tags of these names."""
FEEDBACK: Final = "feedback"
"""A dimension: `complaint` or `content`, of answers that a user has rated."""
_FIELDS: Final = frozenset({"service", "route", "model", "convention", "user_id", "session_id"})
_NS: Final = 1_000_000_000
_BAD: Final = 0.5
"""An answer of less goodness is bad by itself, where nobody has labelled it."""
_LONGEST: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer behind an observation, for a page that shows examples."""

    trace_id: str
    question: str
    explanations: tuple[tuple[str, str], ...] = ()
    """(metric, why it scored so)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A result as the series see it."""

    time_s: float
    """Start of the target span, seconds since the epoch."""
    probability: float
    """With which it was picked, in (0, 1]."""
    slices: tuple[str, ...]
    """`dimension=value`, without `all`."""
    values: tuple[tuple[str, float], ...]
    """(`<metric>.<signal>`, value in 0..1 as goodness: higher is better)."""
    in_sample: bool = True
    """False: evaluated because of what a user said later. It counts for the slices of `feedback` alone."""
    bad: tuple[str, ...] | None = None
    """The series whose value says that this answer is bad by itself, such as labelled unfaithful. None: a goodness
    below .5 says so."""
    cluster: int | None = None
    """Answers in a row with the same key depend on each other and count as one: those with the same chunks, or of one
    session. None: no key is known."""
    answer: Answered | None = None
    """Of stored answers only: live monitoring keeps no texts."""

    def says_bad(self, series: str, value: float) -> bool:
        """Whether the answer is bad by itself, as a series of it sees it."""
        return value < _BAD if self.bad is None else series in self.bad


def observation(result: EvaluatedTrace, dimensions: Sequence[str] = DIMENSIONS) -> Observation | None:
    """What the series learn of a result; None where nothing was evaluated, or where it stands for no traffic."""
    values = [value for evaluation in result.evaluations for value in _values(evaluation)]
    if not values:
        return None
    trace, probability, in_sample = result.trace, result.decision.probability, result.decision.in_sample
    found = [name for name in dimensions if in_sample or name == FEEDBACK]
    slices = tuple(f"{name}={value}" for name in found if (value := dimension_of(trace, name)))
    if not (in_sample or slices):
        return None
    return Observation(
        time_s=trace.start_ns / _NS if trace.start_ns else time.time(),
        probability=probability if 0.0 < probability <= 1.0 else 1.0,
        slices=slices,
        values=tuple(values),
        in_sample=in_sample,
        bad=tuple(series for evaluation in result.evaluations for series in bad_series(evaluation)),
        cluster=cluster_of(trace),
    )


def cluster_of(trace: RagTrace) -> int | None:
    """A hash of the session, else of the chunks' ids (their texts where the store gives none); None without both."""
    if trace.session_id:
        parts = ["session", trace.session_id]
    elif trace.chunks:
        parts = ["chunks", *sorted(chunk.id if chunk.has_id else chunk.text[:_LONGEST] for chunk in trace.chunks)]
    else:
        return None
    return int.from_bytes(hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=6).digest(), "big")


def dimension_of(trace: RagTrace, name: str) -> str | None:
    """The trace's value of a dimension, else its tag of this name; None where it has neither."""
    if name == FEEDBACK:
        return None if trace.rating is None else "complaint" if trace.rating < COMPLAINT_BELOW else "content"
    value = getattr(trace, name) if name in _FIELDS else None
    value = trace.tags.get(name) if value is None else value
    return None if value is None else str(value)[:_LONGEST]


def _values(evaluation: Evaluation) -> list[tuple[str, float]]:
    """A claim that got no verdict is as unjudged as an answer that got no score."""
    if evaluation.claims:
        judged = evaluation.judged_claims / len(evaluation.claims)
    else:
        judged = 0.0 if evaluation.score is None else 1.0
    values = [(f"{evaluation.name}.{UNJUDGED}", judged)]
    if evaluation.score is not None:
        values.append((f"{evaluation.name}.{SCORE}", goodness(evaluation.name, evaluation.score)))
    if evaluation.risk is not None:
        values.append((f"{evaluation.name}.{RISK}", 1.0 - evaluation.risk))
    return values


def bad_series(evaluation: Evaluation) -> Iterator[str]:
    """Of score and risk where the label says so, or without a label where the number is below .5 as goodness; of the
    unjudged share where there is no score."""
    return (name for name, value in _values(evaluation) if is_bad(name, value, evaluation.label))


def is_bad(series: str, value: float, label: str | None) -> bool:
    """Whether a value (goodness) of a series says that its answer is bad by itself. `label`: of the metric's result."""
    if signal_of(series) == UNJUDGED:
        return value <= 0.0
    return value < _BAD if label is None else label == UNFAITHFUL


def identity_of(evaluation: Evaluation) -> str:
    """Who judged: another identity may judge otherwise."""
    parts = (evaluation.evaluator, evaluation.version, evaluation.judge, *evaluation.prompts)
    return " ".join(part for part in parts if part)


def signal_of(series: str) -> str:
    """`score`, `risk` or `unscored` of a series' name."""
    return series.rpartition(".")[2]


def falls(series: str) -> bool:
    """Whether a fall of what people know is bad: of most scores, of no risk and no unjudged share."""
    metric, _, signal = series.rpartition(".")
    return signal == SCORE and not lower_is_better(metric)


def shown(series: str, goodness: float) -> float:
    """A goodness as people know it: a risk is a risk, an unjudged share a share of what was not judged."""
    return goodness if falls(series) else 1.0 - goodness
