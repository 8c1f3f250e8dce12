"""Several collectors behind a router by trace id: what the death of one loses, doubles or leaves incomplete.

    python -m benchmarks.several_collectors [--rounds 20]

Two collectors, one backend that records what it gets, and a router that does what the OpenTelemetry Collector's
load-balancing exporter does. In each round one of the collectors is killed with -9 under load; the router's list of
endpoints changes a second later, and once more when the collector is there again with its folder. First every trace
comes as two requests, half a second apart; then as one, as the processor `groupbytrace` makes it.
"""

from __future__ import annotations

import argparse

from testkit.several_collectors import kill_rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    for whole, what in ((False, "two requests a trace"), (True, "one request a trace")):
        print(f"{what}, {rounds} rounds: {kill_rounds(rounds, whole=whole)}", flush=True)


if __name__ == "__main__":
    main()
