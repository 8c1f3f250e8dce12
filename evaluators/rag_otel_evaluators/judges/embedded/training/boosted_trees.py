"""Gradient boosting of small trees on pairs of answers of which the second is unfaithful, and on single claims.

Friedman, Greedy Function Approximation: A Gradient Boosting Machine, 2001, with second-order steps and a penalty on the
values as in Chen and Guestrin, XGBoost, 2016. The loss of a pair is logistic on each answer and on the difference of
the two (RankNet; Burges et al., Learning to Rank using Gradient Descent, 2005). An answer is as risky as its riskiest
claim, so only that one learns. The loss of a single claim is logistic.

Gradients are whole numbers, whose sums do not depend on an order: the same trees on every machine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rag_otel_evaluators.judges.embedded.trees import Tree, Trees

Features = Sequence[float]
Pair = tuple[Sequence[Features], Sequence[Features]]
"""The claims of the faithful answer and those of the unfaithful one."""
Numbers = NDArray[Any]

TREES: Final = 120
DEPTH: Final = 3
RATE: Final = 0.08
PENALTY: Final = 5.0
LEAST_CLAIMS: Final = 20.0
"""Claims in each leaf that learn."""
SHARE_OF_FEATURES: Final = 0.5
"""Of the features, so many are tried for a tree, by chance."""
MOST_BINS: Final = 24
DIGITS: Final = 4
_ONE: Final = 1 << 20
"""What a gradient of 1 counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """All claims, their features in bins."""

    values: Numbers
    """Claims x features."""
    thresholds: list[Numbers]
    """By feature."""
    bins: Numbers
    """Claims x features: the number of thresholds that a value reaches, counted over the bins of all features."""
    first_bin: Numbers
    owner: Numbers
    """By claim of a pair, the number of its answer: faithful ones are even. Single claims follow those of the pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Singles:
    """Claims that stand alone."""

    claims: Sequence[Features]
    unsupported: Sequence[int]
    """By claim, 0 or 1."""
    weight: float
    """How much each counts beside a pair."""
    share: float
    """Of unsupported claims, in 0..1, where these come from."""


def fit_trees(
    pairs: Sequence[Pair],
    *,
    weights: Sequence[float],
    counts: Sequence[float],
    singles: Sequence[Singles],
    rising: Collection[int],
) -> Trees:
    """Trees whose log-odds are higher for the unfaithful answer of a pair and for unsupported claims.

    The log-odds are those at equal shares of supported and unsupported ones. `weights`: of the line to begin with.
    `counts`: how much each pair counts. `rising`: features of which a higher value never lowers what the trees say.
    """
    table = _tabulate(pairs, singles)
    pair_weights, line = np.asarray(counts), np.round(np.asarray(weights), DIGITS)
    unsupported = np.array([label for group in singles for label in group.unsupported], dtype=float)
    of_group = [len(group.claims) for group in singles]
    single_weights = np.repeat([group.weight for group in singles], of_group)
    shifts = np.repeat([math.log(group.share / (1.0 - group.share)) for group in singles], of_group)
    log_odds = np.round(table.values @ line, DIGITS)
    chance = random.Random(1)
    features = table.values.shape[1]
    trees: list[Tree] = []
    for _ in range(TREES):
        tried = sorted(chance.sample(range(features), max(1, round(features * SHARE_OF_FEATURES))))
        of_pairs = _gradients_of_pairs(log_odds[: len(table.owner)], table.owner, pair_weights)
        of_singles = _gradients_of_singles(log_odds[len(table.owner) :] + shifts, unsupported, single_weights)
        sums = [np.concatenate(each) for each in zip(of_pairs, of_singles, strict=True)]
        tree = _Growing(table, sums, tried, frozenset(rising)).grow()
        trees.append(tree)
        log_odds += _values_of(tree, table.values)
    return Trees(weights=tuple(map(float, line)), trees=tuple(trees), intercept=0.0)


def _tabulate(pairs: Sequence[Pair], singles: Sequence[Singles]) -> _Table:
    sides = [side for pair in pairs for side in pair]
    claims = [*(claim for side in sides for claim in side), *(claim for group in singles for claim in group.claims)]
    values = np.round(np.array(claims, dtype=float), DIGITS)
    thresholds = [_thresholds(column) for column in values.T]
    first_bin = np.cumsum([0, *(len(each) + 1 for each in thresholds)])
    bins = [np.searchsorted(each, column, side="right") for each, column in zip(thresholds, values.T, strict=True)]
    return _Table(
        values=values,
        thresholds=thresholds,
        bins=np.stack(bins, axis=1) + first_bin[:-1],
        first_bin=first_bin,
        owner=np.repeat(np.arange(len(sides)), [len(side) for side in sides]),
    )


def _thresholds(column: Numbers) -> Numbers:
    """Between neighbouring values; of many values, at even steps of their ranks."""
    distinct = np.unique(column)
    if len(distinct) > MOST_BINS:
        ordered = np.sort(column)
        distinct = np.unique(ordered[np.arange(1, MOST_BINS) * len(ordered) // MOST_BINS])
    return np.unique(np.round((distinct[1:] + distinct[:-1]) / 2, DIGITS))


def _gradients_of_pairs(log_odds: Numbers, owner: Numbers, weights: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """First and second derivatives of the loss by claim, in parts of `_ONE`, and which claims learn."""
    order = np.lexsort((log_odds, owner))
    ends = np.append(owner[order][1:] != owner[order][:-1], True)
    riskiest = order[ends]
    good, bad = riskiest[0::2], riskiest[1::2]
    wrong = _sigmoid(log_odds[good] - log_odds[bad])  # of the pair
    of_good, of_bad = _sigmoid(log_odds[good]), _sigmoid(log_odds[bad])
    first, second, learns = (np.zeros(len(log_odds)) for _ in range(3))
    first[good] = weights * (wrong + of_good)
    first[bad] = weights * (of_bad - 1.0 - wrong)
    second[good] = weights * (wrong * (1.0 - wrong) + of_good * (1.0 - of_good))
    second[bad] = weights * (wrong * (1.0 - wrong) + of_bad * (1.0 - of_bad))
    learns[riskiest] = 1.0
    return np.rint(first * _ONE), np.rint(second * _ONE), learns


def _gradients_of_singles(
    log_odds: Numbers, unsupported: Numbers, weights: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """The same for single claims, whose log-odds are those at their own share of unsupported ones."""
    probability = _sigmoid(log_odds)
    first, second = weights * (probability - unsupported), weights * probability * (1.0 - probability)
    return np.rint(first * _ONE), np.rint(second * _ONE), np.ones(len(log_odds))


def _sigmoid(values: Numbers) -> Numbers:
    return np.asarray(1.0 / (1.0 + np.exp(-values)))


class _Growing:
    """One tree, grown split by split."""

    def __init__(self, table: _Table, sums: list[Numbers], tried: list[int], rising: frozenset[int]) -> None:
        """`sums`: by claim, first and second derivatives and whether it learns."""
        self._table = table
        self._sums = sums
        self._tried = tried
        self._rising = rising

    def grow(self) -> Tree:
        return self._node(np.flatnonzero(self._sums[2]), 0, -np.inf, np.inf)

    def _node(self, claims: Numbers, depth: int, least: float, most: float) -> Tree:
        """`least`, `most`: what the value must lie between, so that rising features rise."""
        split = self._best_split(claims) if depth < DEPTH else None
        if split is None:
            first, second, _ = (values[claims].sum() for values in self._sums)
            return round(float(RATE * min(max(_value(first, second), least), most)), DIGITS)
        number, at, below, above = split
        reaches = self._table.bins[claims, number] > self._table.first_bin[number] + at
        limits = (least, most, least, most)
        if number in self._rising:
            middle = (min(max(below, least), most) + min(max(above, least), most)) / 2
            limits = (least, middle, middle, most)
        return (
            number,
            float(self._table.thresholds[number][at]),
            self._node(claims[~reaches], depth + 1, *limits[:2]),
            self._node(claims[reaches], depth + 1, *limits[2:]),
        )

    def _best_split(self, claims: Numbers) -> tuple[int, int, float, float] | None:
        """(feature, number of the threshold, value below it, value from there), or None where none helps."""
        bins, size = self._table.bins[claims][:, self._tried].ravel(), int(self._table.first_bin[-1])
        by_bin = [np.bincount(bins, np.repeat(each[claims], len(self._tried)), size) for each in self._sums]
        best, found = 0.0, None
        for number in self._tried:
            start, end = self._table.first_bin[number], self._table.first_bin[number + 1]
            below = [np.cumsum(each[start:end]) for each in by_bin]
            (first, second, claims_below), all_of_them = ([part[:-1] for part in below], [part[-1] for part in below])
            if not len(first):
                continue
            gain = (
                _gain(first, second)
                + _gain(all_of_them[0] - first, all_of_them[1] - second)
                - _gain(all_of_them[0], all_of_them[1])
            )
            here, there = _value(first, second), _value(all_of_them[0] - first, all_of_them[1] - second)
            allowed = (claims_below >= LEAST_CLAIMS) & (all_of_them[2] - claims_below >= LEAST_CLAIMS)
            if number in self._rising:
                allowed &= there >= here
            gain = np.where(allowed, gain, 0.0)
            at = int(np.argmax(gain))
            if gain[at] > best:
                best, found = float(gain[at]), (number, at, float(here[at]), float(there[at]))
        return found


def _value(first: Any, second: Any) -> Any:
    return -first / (second + PENALTY * _ONE)


def _gain(first: Any, second: Any) -> Any:
    return first * first / (second + PENALTY * _ONE)


def _values_of(tree: Tree, values: Numbers) -> Numbers:
    if not isinstance(tree, tuple):
        return np.full(len(values), tree)
    number, threshold, below, from_there = tree
    reaches = values[:, number] >= threshold
    return np.where(reaches, _values_of(from_there, values), _values_of(below, values))
