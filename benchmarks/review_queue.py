"""What a queue of `rag-otel labels review` tells, against as many answers picked at random.

    python benchmarks/review_queue.py [--pairs FILE] [--count 80] [--runs 1000]

From each set of labelled answers a queue is drawn again and again, and its labels, weighted, estimate what all labels
say: the AUROC of the judge's risks, and the share of unfaithful answers. Printed: root mean square errors of both, and
how many unfaithful answers were found. Sets: examples/data (335 answers, risks of the embedded judge out of fold), and
with `--pairs` every source of a file of JSON Lines (also .gz) with `source`, `evidence`, `claim` and `unsupported`, of
which up to 700 pairs are judged by the embedded judge and unfaithful ones left out until a fifth is.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import math
import random
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from calibration import labelled

from rag_otel.cli.terminal import table
from rag_otel.evaluation.calibration import Labelled, risk_of
from rag_otel_evaluators.calibration.agreement import auroc
from rag_otel_evaluators.calibration.queue import COIN, Candidate, pick
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

MOST = 700
SHARE = 0.2

Design = Callable[[Sequence[Labelled], int, int], list[Labelled]]
"""(all labels, count, seed) -> the picked ones, with their weights."""


def at_random(every: Sequence[Labelled], count: int, seed: int) -> list[Labelled]:
    return random.Random(seed).sample(every, count)


def queue_with(coin: float) -> Design:
    def queue(every: Sequence[Labelled], count: int, seed: int) -> list[Labelled]:
        candidates = [Candidate(key=str(n), risks=(each.risk,)) for n, each in enumerate(every)]
        picked = pick(candidates, count=count, coin=coin, seed=seed)
        found = ((every[int(each.key)], each.probability) for each in picked)
        return [Labelled(risk=each.risk, bad=each.bad, weight=1 / probability) for each, probability in found]

    return queue


DESIGNS: dict[str, Design] = {
    "at random": at_random,
    f"queue (coin {COIN:g})": queue_with(COIN),
    "queue, coin 0.3": queue_with(0.3),
    "queue, coin 1": queue_with(1.0),
}


async def judged_pairs(path: Path) -> dict[str, list[Labelled]]:
    """By source, labels with the embedded judge's risks."""
    by_source: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            by_source[(row := json.loads(line))["source"]].append(row)
    rng, judge, sets = random.Random(0), Faithfulness(), {}
    for source, rows in by_source.items():
        rng.shuffle(rows)
        found = []
        for row in rows[:MOST]:
            risk = risk_of(await judge.evaluate(question=None, chunks=[row["evidence"]], response=row["claim"]))
            if risk is not None:
                found.append(Labelled(risk=risk, bad=bool(row["unsupported"])))
        good = [each for each in found if not each.bad]
        bad = [each for each in found if each.bad][: round(len(good) * SHARE / (1 - SHARE))]
        if len(good) > len(bad) > 0:
            sets[source] = [*good, *bad]
    return sets


def measured(every: Sequence[Labelled], design: Design, count: int, runs: int) -> tuple[float, float, float]:
    """Root mean square errors of AUROC and share, and the mean number of unfaithful answers in a queue."""
    share = sum(each.bad for each in every) / len(every)
    of_auroc, of_share, bad = [], [], []
    for seed in range(runs):
        picked = design(every, count, seed)
        if not math.isnan(found := auroc(picked)):
            of_auroc.append((found - auroc(every)) ** 2)
        weight = sum(each.weight for each in picked)
        of_share.append((sum(each.weight for each in picked if each.bad) / weight - share) ** 2)
        bad.append(sum(each.bad for each in picked))
    return math.sqrt(statistics.fmean(of_auroc)), math.sqrt(statistics.fmean(of_share)), statistics.fmean(bad)


async def main(pairs: Path | None, count: int, runs: int) -> None:
    sets = {"examples/data": await labelled()}
    if pairs is not None:
        sets |= await judged_pairs(pairs)
    lines = []
    for name, every in sets.items():
        for design_name, design in DESIGNS.items():
            of_auroc, of_share, bad = measured(every, design, min(count, len(every)), runs)
            lines.append([name, design_name, f"{of_auroc:.4f}", f"{of_share:.4f}", f"{bad:.1f}"])
    print(f"queues of {count}, {runs} runs; root mean square errors")
    print(table(lines, header=["answers", "picked", "AUROC", "share unfaithful", "unfaithful found"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, help="a file of evidence and claims with labels")
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--runs", type=int, default=1_000)
    given = parser.parse_args()
    asyncio.run(main(given.pairs, given.count, given.runs))
