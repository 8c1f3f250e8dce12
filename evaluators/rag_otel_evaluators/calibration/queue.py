"""Which answers a person should label next, and how much more labels would tell.

Every answer has a probability to be picked, and a coin of its own decides (Poisson sampling). So the queue prefers
answers whose label teaches most, and figures over the labels are still unbiased, because each label counts
1 / probability (Horvitz and Thompson, "A generalization of sampling without replacement", 1952). The probabilities are
those of one round: rounds over the same answers would mix them, so each round should be given new answers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_SCALE: Final = 2.0**64
_TELLING: Final = 0.5
"""From this uncertainty or disagreement on, it is named as the reason."""
MORE: Final = 50
"""Labels of the next round, for `worth`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One answer that has results and no label."""

    key: str
    """Identifies the answer; decides its coin."""
    risks: tuple[float, ...]
    """Of each judge that has judged the answer, 0..1. At least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """An answer in the queue."""

    key: str
    probability: float
    """With which it was picked, in (0, 1]."""
    reason: str
    """`uncertain`, `judges disagree`, or `coin`."""


def pick(candidates: Sequence[Candidate], *, count: int, threshold: float, coin: float, seed: int = 0) -> list[Picked]:
    """About `count` answers, most useful first.

    `coin` is the share of the queue that is drawn from all answers alike, in (0, 1]: without it, answers of which the
    judge is sure would never be labelled, and what it misses never be found. `threshold` is the risk from which an
    answer is told as unfaithful. The same answers, `seed` and `count` give the same queue.
    """
    useful = [_usefulness(each, threshold) for each in candidates]
    probabilities = _probabilities([value for value, _ in useful], count=count, coin=coin)
    picked = [
        (value, Picked(key=each.key, probability=probability, reason=reason))
        for each, (value, reason), probability in zip(candidates, useful, probabilities, strict=True)
        if _coin(each.key, seed) < probability
    ]
    return [each for _, each in sorted(picked, key=lambda pair: -pair[0])]


def _usefulness(candidate: Candidate, threshold: float) -> tuple[float, str]:
    """(0..1, reason): how close the risk is to the threshold, or how far the judges are apart."""
    lowest, highest = min(candidate.risks), max(candidate.risks)
    mean = sum(candidate.risks) / len(candidate.risks)
    reach = threshold if mean < threshold else 1.0 - threshold
    uncertain = max(0.0, 1.0 - abs(mean - threshold) / reach) if reach else 0.0
    apart = highest - lowest
    # Squared, so that the many answers of which the judge is nearly sure do not fill the queue.
    useful = max(uncertain, apart) ** 2
    if apart >= _TELLING:
        return useful, "judges disagree"
    return useful, "uncertain" if uncertain >= _TELLING else "coin"


def _probabilities(useful: Sequence[float], *, count: int, coin: float) -> list[float]:
    """Inclusion probabilities whose sum is `count`, as far as none is above 1.

    A coin's share is for all alike, the rest in proportion to usefulness. What one answer cannot take goes to others.
    """
    total, size = sum(useful), len(useful)
    weights = [coin / size + ((1 - coin) * value / total if total else (1 - coin) / size) for value in useful]
    sure: set[int] = set()
    while True:
        left = sum(weight for n, weight in enumerate(weights) if n not in sure)
        scale = (count - len(sure)) / left if left > 0 else 0.0
        more = {n for n, weight in enumerate(weights) if n not in sure and weight * scale >= 1.0}
        if not more:
            return [1.0 if n in sure else max(weight * scale, 0.0) for n, weight in enumerate(weights)]
        sure |= more


def _coin(key: str, seed: int) -> float:
    digest = hashlib.blake2b(f"{seed}/{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / _SCALE


def worth(*, labels: int, low: float, high: float, more: int = MORE) -> tuple[float, float]:
    """(half-width of an interval now, and expected with `more` labels): it shrinks with the root of their number."""
    half = (high - low) / 2
    return half, half * math.sqrt(labels / (labels + more)) if labels else half
