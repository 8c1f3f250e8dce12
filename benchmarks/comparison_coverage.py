"""How often the 95% interval of `rag-otel compare` contains the true difference, by the number of questions.

python benchmarks/comparison_coverage.py [--samples 1000]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable

from rag_otel_evaluators.offline.statistics import bootstrap_interval, expanded_tail

PLAIN = 0.025
BEFORE = (0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0)
AFTER = (0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0)


def shares(draw: random.Random) -> float:
    """Scores that are shares of few claims, most of them 1."""
    return draw.choice(AFTER) - draw.choice(BEFORE)


def smooth(draw: random.Random) -> float:
    """Scores of a similarity, skewed towards 1."""
    return draw.random() ** 0.3 - draw.random() ** 0.35


KINDS: dict[str, tuple[Callable[[random.Random], float], float]] = {
    "shares": (shares, sum(AFTER) / len(AFTER) - sum(BEFORE) / len(BEFORE)),
    "smooth": (smooth, 1 / 1.3 - 1 / 1.35),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    samples = parser.parse_args().samples
    print("scores  questions  plain  widened")
    for name, (difference, truth) in KINDS.items():
        for questions in (10, 30, 100):
            draw = random.Random(questions)
            contained = [0, 0]
            for seed in range(samples):
                groups = [[difference(draw)] for _ in range(questions)]
                for position, tail in enumerate((PLAIN, expanded_tail(questions))):
                    interval = bootstrap_interval(groups, seed=seed, tail=tail)
                    contained[position] += interval is not None and interval[0] <= truth <= interval[1]
            plain, widened = (count / samples for count in contained)
            print(f"{name:<6}  {questions:>9}  {plain:.3f}  {widened:.3f}", flush=True)


if __name__ == "__main__":
    main()
