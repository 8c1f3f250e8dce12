"""When an objective's burn is told, and how often nothing is: seeded streams through the windows of the SLO monitor.

    python benchmarks/burn_rates.py [STREAMS]

The objective is "95% of answers are good". Each stream has a day of history with 2% bad answers, then a share of bad
answers that stays. Given are, of STREAMS (100) streams, how many were told of within a day (three hours for outages),
with the 95% interval of that share, and after how many minutes (median, and the 5th and 95th percentile). Streams under
suspicion-first sampling evaluate every bad answer and one in ten of the good ones: their weights must make up for it.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Sequence

from rag_otel.alert import AlertSeverity
from rag_otel.alerts.monitors.burn import Budget
from rag_otel.cli.terminal import table

START_S = 1_700_000_000
ALLOWED = 0.05
HISTORY_MINUTES = 24 * 60
LOOK_EVERY = 5
"""Minutes; the monitor looks four times a minute."""
DAY = 24 * 60
CASES = (
    # share of bad answers, answers a minute, minutes watched, suspicion-first
    (0.02, 1, DAY, False),
    (0.02, 5, DAY, False),
    (0.02, 5, DAY, True),
    (0.05, 1, DAY, False),
    (0.05, 5, DAY, False),
    (0.10, 5, DAY, False),
    (0.20, 5, DAY, False),
    (0.40, 5, DAY, False),
    (1.00, 1, 180, False),
    (1.00, 5, 180, False),
)


def fill(budget: Budget, coin: random.Random, minute: int, share: float, per_minute: int, suspicious: bool) -> None:
    """The answers of one minute that are evaluated, with their weights."""
    for _ in range(per_minute):
        bad = coin.random() < share
        probability = 0.1 if suspicious and not bad else 1.0
        if coin.random() < probability:
            budget.add(START_S + 60 * minute, bad=bad, weight=1 / probability)


def told_after(seed: int, share: float, per_minute: int, minutes: int, suspicious: bool) -> int | None:
    """Minutes until any pair of windows fires; None when none does."""
    coin, budget = random.Random(seed), Budget()
    for minute in range(HISTORY_MINUTES):
        fill(budget, coin, minute, 0.02, per_minute, suspicious)
    for minute in range(HISTORY_MINUTES, HISTORY_MINUTES + minutes):
        fill(budget, coin, minute, share, per_minute, suspicious)
        if minute % LOOK_EVERY:
            continue
        for severity in AlertSeverity:
            if budget.burning(START_S + 60 * (minute + 1), allowed=ALLOWED, severity=severity):
                return minute + 1 - HISTORY_MINUTES
    return None


def interval(found: int, of: int) -> str:
    """The 95% Wilson interval of a share, in percent."""
    z, share = 1.96, found / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{100 * max(0.0, middle - half):.0f}-{100 * min(1.0, middle + half):.0f}%"


def quantile(values: Sequence[int], q: float) -> int:
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("streams", nargs="?", type=int, default=100, help="seeded streams of each kind (default: 100)")
    streams = parser.parse_args().streams
    header = ("bad answers", "a minute", "sampling", "told of", "95% interval", "minutes: median (5th, 95th)")
    rows = []
    for share, per_minute, minutes, suspicious in CASES:
        delays = [told_after(seed, share, per_minute, minutes, suspicious) for seed in range(streams)]
        told = [delay for delay in delays if delay is not None]
        after = f"{quantile(told, 0.5)} ({quantile(told, 0.05)}, {quantile(told, 0.95)})" if told else "-"
        sampling = "suspicion first" if suspicious else "all"
        row = (f"{share:.0%}", str(per_minute), sampling, f"{len(told)}/{streams}", interval(len(told), streams), after)
        rows.append(row)
    print(table(rows, header=header))


if __name__ == "__main__":
    main()
