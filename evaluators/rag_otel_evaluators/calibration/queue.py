"""Which answers a person should label next, and how much more labels would tell.

Every answer has a probability to be picked, so that figures over the queue are unbiased: each label counts
1 / probability (Horvitz and Thompson, "A generalization of sampling without replacement", 1952). Two things make these
figures more exact than those of as many answers picked at random:

- Probabilities are in proportion to how far a label is expected to move the AUROC and the share of unfaithful answers
  (Neyman's allocation, "On the two different aspects of the representative method", 1934), as far as the judge's risks
  tell. A share is even, because risks may be wrong: uneven weights cost more than telling labels gain.
- Answers are picked in the order of their risks, so that every range of risk has its share of the queue (the ordered
  pivotal method: Deville and Tille, "Unequal probability sampling without replacement through a splitting method",
  Biometrika 85, 1998).

The probabilities are those of one round: rounds over the same answers would mix them, so each round should be given new
answers. `benchmarks/review_queue.py` measures the queue.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

COIN: Final = 0.5
"""Share of the queue that is drawn from all answers alike: what a judge is wrong about is labelled too."""
_TELLING: Final = 1.25
"""From so many times an even probability on, an answer is named as telling."""
_APART: Final = 0.5
"""Difference of risks from which judges disagree."""
_LEAST: Final = 0.01
"""Risks are taken to lie this far within 0 and 1: no judge is that sure."""
_NEARLY: Final = 1e-9
MORE: Final = 50
"""Labels of the next round, for `worth`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One answer that has results and no label."""

    key: str
    """Identifies the answer; decides on its place among equal risks."""
    risks: tuple[float, ...]
    """Of each judge that has judged the answer, 0..1. At least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """An answer in the queue."""

    key: str
    probability: float
    """With which it was picked, in (0, 1]."""
    reason: str
    """`judges disagree`, `telling`, or `coin`."""


def pick(candidates: Sequence[Candidate], *, count: int, coin: float = COIN, seed: int = 0) -> list[Picked]:
    """`count` answers, or all of fewer; most telling first.

    `coin` is the share of the queue that is drawn from all answers alike, in (0, 1]. The same answers, `seed` and
    `count` give the same queue.
    """
    risks = [sum(each.risks) / len(each.risks) for each in candidates]
    probabilities = _probabilities(_expected_moves(risks), count=count, coin=coin)
    order = sorted(range(len(risks)), key=lambda n: (risks[n], _place(candidates[n].key, seed)))
    chosen = _in_order([(n, probabilities[n]) for n in order], random.Random(f"{seed}/{len(risks)}/{count}"))
    even = count / max(1, len(risks))
    picked = [
        Picked(
            key=candidates[n].key, probability=probabilities[n], reason=_reason(candidates[n], probabilities[n] / even)
        )
        for n in chosen
    ]
    return sorted(picked, key=lambda each: -each.probability)


def _reason(candidate: Candidate, times_even: float) -> str:
    if max(candidate.risks) - min(candidate.risks) >= _APART:
        return "judges disagree"
    return "telling" if times_even >= _TELLING else "coin"


def _expected_moves(risks: Sequence[float]) -> list[float]:
    """By answer, how far its label is expected to move the two figures: the root of the expected square of what it adds
    to the AUROC (as the mean of its influence function) and to the share of unfaithful answers, both on one scale."""
    if not risks:
        return []
    bad = [min(max(risk, _LEAST), 1.0 - _LEAST) for risk in risks]
    size, all_bad = len(bad), sum(bad)
    share = all_bad / size
    below_good, above_bad = _ranks(bad)
    auroc = sum(risk * rank for risk, rank in zip(bad, below_good, strict=True)) / all_bad
    of_auroc = [
        risk * ((good - auroc) / share) ** 2 + (1.0 - risk) * ((other - auroc) / (1.0 - share)) ** 2
        for risk, good, other in zip(bad, below_good, above_bad, strict=True)
    ]
    of_share = [risk * (1.0 - share) ** 2 + (1.0 - risk) * share**2 for risk in bad]
    scale_auroc, scale_share = sum(of_auroc) or 1.0, sum(of_share)
    return [math.sqrt(a / scale_auroc + s / scale_share) for a, s in zip(of_auroc, of_share, strict=True)]


def _ranks(bad: Sequence[float]) -> tuple[list[float], list[float]]:
    """By answer, where `bad` are the probabilities to be unfaithful: the expected share of faithful answers with a
    lower risk, and of unfaithful ones with a higher risk; equal risks count half."""
    all_bad = sum(bad)
    all_good = len(bad) - all_bad
    below_good, above_bad = [0.0] * len(bad), [0.0] * len(bad)
    good_before = bad_before = 0.0
    for risk, group in groupby(sorted(range(len(bad)), key=bad.__getitem__), key=bad.__getitem__):
        same = list(group)
        bad_here, good_here = risk * len(same), (1.0 - risk) * len(same)
        for n in same:
            below_good[n] = (good_before + good_here / 2) / all_good
            above_bad[n] = 1.0 - (bad_before + bad_here / 2) / all_bad
        good_before, bad_before = good_before + good_here, bad_before + bad_here
    return below_good, above_bad


def _probabilities(moves: Sequence[float], *, count: int, coin: float) -> list[float]:
    """Inclusion probabilities whose sum is `count`, as far as none is above 1.

    A coin's share is for all alike, the rest in proportion to `moves`. What one answer cannot take goes to others.
    """
    total, size = sum(moves), len(moves)
    weights = [coin / size + (1 - coin) * value / total for value in moves]
    sure: set[int] = set()
    while True:
        left = sum(weight for n, weight in enumerate(weights) if n not in sure)
        scale = (count - len(sure)) / left if left > 0 else 0.0
        more = {n for n, weight in enumerate(weights) if n not in sure and weight * scale >= 1.0}
        if not more:
            return [1.0 if n in sure else max(weight * scale, 0.0) for n, weight in enumerate(weights)]
        sure |= more


def _in_order(probabilities: Sequence[tuple[int, float]], rng: random.Random) -> list[int]:
    """Picks with these probabilities, as many as their sum: of two neighbours, one gives the other what it has."""
    picked: list[int] = []
    waiting, has = -1, 0.0
    for n, probability in probabilities:
        both = has + probability
        if both < 1.0 - _NEARLY:
            if both > 0.0 and rng.random() < probability / both:
                waiting = n
            has = both
            continue
        first = both > 2.0 - _NEARLY or rng.random() < (1.0 - probability) / (2.0 - both)
        picked.append(waiting if first and has > 0.0 else n)
        waiting, has = (n if first else waiting), both - 1.0
    if has > _NEARLY and rng.random() < has + _NEARLY:
        picked.append(waiting)
    return picked


def _place(key: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}/{key}".encode(), digest_size=8).digest()


def worth(*, labels: int, low: float, high: float, more: int = MORE) -> tuple[float, float]:
    """(half-width of an interval now, and expected with `more` labels): it shrinks with the root of their number."""
    half = (high - low) / 2
    return half, half * math.sqrt(labels / (labels + more)) if labels else half
