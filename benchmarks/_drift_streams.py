"""Streams of evaluations for the drift benchmarks: distributions whose means are exact, and how they are sampled."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

DATA = Path(__file__).parents[1] / "examples" / "data"
RARE = 0.1
"""Share of the unsuspicious traces that suspicion-first sampling evaluates; the suspicious ones all are."""


@dataclass(frozen=True)
class Stream:
    """What is evaluated: (value, inclusion probability) with weights."""

    outcomes: tuple[tuple[float, float], ...]
    weights: tuple[float, ...]

    def draw(self, count: int, rng: random.Random) -> list[tuple[float, float]]:
        return rng.choices(self.outcomes, self.weights, k=count)

    def endless(self, rng: random.Random) -> Iterator[tuple[float, float]]:
        while True:
            yield from self.draw(200, rng)


@dataclass(frozen=True)
class Population:
    """A distribution of scores in 0..1: value -> probability."""

    shares: dict[float, float]

    @property
    def mean(self) -> float:
        return sum(value * share for value, share in self.shares.items())

    @property
    def perfect(self) -> float:
        """Share of scores that are exactly 1."""
        return self.shares.get(1.0, 0.0)

    def all_evaluated(self) -> Stream:
        return Stream(tuple((value, 1.0) for value in self.shares), tuple(self.shares.values()))

    def suspicion_first(self) -> Stream:
        """A cheap look flags 70% of the scores below .7 and 5% of the others; flagged ones are always evaluated."""
        outcomes, weights = [], []
        for value, share in self.shares.items():
            suspicious = 0.7 if value < 0.7 else 0.05
            outcomes += [(value, 1.0), (value, RARE)]
            weights += [share * suspicious, share * (1.0 - suspicious) * RARE]
        return Stream(tuple(outcomes), tuple(weights))


def synthetic(mean: float) -> Population:
    """Answers of 2 to 8 claims: all supported, or one unsupported and each further one with probability .18."""
    flawed: Counter[float] = Counter()
    for claims in range(2, 9):
        for further in range(claims):
            ways = math.comb(claims - 1, further) * 0.18**further * 0.82 ** (claims - 1 - further)
            flawed[1 - (1 + further) / claims] += ways / 7
    flawed_mean = sum(value * share for value, share in flawed.items())
    perfect = (mean - flawed_mean) / (1 - flawed_mean)
    return Population({1.0: perfect, **{value: share * (1 - perfect) for value, share in flawed.items()}})


def tilted(values: Sequence[float], mean: float) -> Population:
    """Real scores, reweighed exponentially (the least that gives them this mean)."""
    low, high = -100.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        population = _weighed(values, middle)
        low, high = (middle, high) if population.mean < mean else (low, middle)
    return _weighed(values, (low + high) / 2)


def _weighed(values: Sequence[float], tilt: float) -> Population:
    weights = [math.exp(tilt * (value - 0.5)) for value in values]
    total = sum(weights)
    shares: Counter[float] = Counter()
    for value, weight in zip(values, weights, strict=True):
        shares[value] += weight / total
    return Population(dict(shares))


def dev_scores() -> Iterator[tuple[str, float, float]]:
    """(model, score, risk) of every answer of examples/data, by the embedded judge that never saw its question."""
    folds = OutOfFold.load(DATA / "out_of_fold.json")
    for line in (DATA / "ragtruth_qa_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        judge = Faithfulness(judge=folds.judge_for(row["source_id"]))
        found = asyncio.run(judge.evaluate(question=row["question"], chunks=row["contexts"], response=row["response"]))
        if found.score is not None and found.risk is not None:
            yield row["model"], found.score, found.risk
