"""What watching for drift costs: `python benchmarks/drift_cost.py`.

Memory of 1,000 slices, the most while they learn their baselines and after; processor time of a score of one slice, and
of a whole result (score, risk and unjudged share, each for all traffic and five slices).
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Sequence

from rag_otel.cli.terminal import table
from rag_otel.drift.family import Family, FamilySettings
from rag_otel.drift.observation import Observation
from rag_otel.drift.records import to_record

SLICES = 1000
MEGABYTE = 2**20


def one_score(index: int, rng: random.Random) -> Observation:
    """A score of one of a thousand tenants."""
    score = rng.choice((1.0, 1.0, 1.0, 0.5, 0.75, 0.8))
    values = (("faithfulness.score", score),)
    return Observation(time_s=1.8e9 + index, probability=1.0, slices=(f"tenant={index % SLICES}",), values=values)


def whole_result(index: int, rng: random.Random) -> Observation:
    """Three signals of a result with five slices."""
    score = rng.choice((1.0, 1.0, 1.0, 0.5, 0.75, 0.8))
    return Observation(
        time_s=1.8e9 + index,
        probability=1.0,
        slices=(
            "service=shop", f"route={index % 3}", "model=large", "prompt_version=7", f"tenant={index % 20}",
        ),
        values=(
            ("faithfulness.unscored", 1.0), ("faithfulness.score", score), ("faithfulness.risk", 0.8 + score / 5),
        ),
    )  # fmt: skip


def seconds(family: Family, observations: Sequence[Observation]) -> float:
    """Processor time of feeding them, the best of five parts, for one of them."""
    part = len(observations) // 5
    best = float("inf")
    for start in range(0, 5 * part, part):
        begun = time.process_time()
        for each in observations[start : start + part]:
            family.observe(each)
        best = min(best, (time.process_time() - begun) / part)
    return best


def resident() -> int:
    """Most memory of this process so far, in bytes: what was freed since counts too."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=int, default=600, help="scores of each slice")
    count = SLICES * parser.parse_args().scores
    rng = random.Random(1)
    before = resident()
    family = Family(FamilySettings(dimensions=("tenant",)))
    for index in range(count):
        family.observe(one_score(index, rng))
    most = resident() - before
    state = json.dumps(to_record(family))
    one = seconds(family, [one_score(index, rng) for index in range(20_000)])
    whole = Family(FamilySettings(baseline_count=200))
    for index in range(8_000):
        whole.observe(whole_result(index, rng))
    result = seconds(whole, [whole_result(index, rng) for index in range(10_000)])
    rows = [
        [f"memory of {SLICES:,} slices", f"{most / MEGABYTE:.1f} MB"],
        ["their state on disk", f"{len(state) / MEGABYTE:.1f} MB"],
        ["a score, for all traffic and one slice", f"{one * 1e6:.1f} us"],
        ["a score, for all traffic and five slices", f"{result / 3 * 1e6:.1f} us"],
        ["a result of three signals", f"{result * 1e6:.1f} us"],
    ]
    print(table(rows, header=["what", "cost"]))


if __name__ == "__main__":
    main()
