"""One monitor for many workers, with real processes: how soon a drop is told, and what kills do to it.

    python benchmarks/one_voice.py --seeds 6 --kills 20

Workers are forked, share a state folder and get prepared scores in turn through the delivery of the product; alarms
come in at a real HTTP receiver. With `--kills` the leader is killed with SIGKILL at a random answer around the drop.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

from rag_otel.drift.memory import NAME, VERSION  # noqa: E402
from rag_otel.durable.named_states import states_in  # noqa: E402
from testkit.drift_scores import START_S, scores  # noqa: E402
from testkit.fleet import Fleet, fleet  # noqa: E402
from testkit.http_receiver import Receiver, http_receiver  # noqa: E402
from testkit.polling import eventually  # noqa: E402

_GOOD, _MOST = 600, 1500
"""Answers before the drop, and at most after it."""


def alarms(receiver: Receiver) -> list[dict[str, Any]]:
    """Every delivery of an alarm, in order; those that came twice too. A process that is killed while it sends leaves a
    part of one, which is none."""
    bodies = []
    for request in receiver.requests:
        with contextlib.suppress(json.JSONDecodeError):
            bodies.append(json.loads(request.body))
    return [body for body in bodies if body["name"] == "drift_score" and not body["follow_up"]]


def give(workers: Fleet, index: int, score: float) -> None:
    alive = workers.alive
    workers.submit(alive[index % len(alive)], index, score)


def answers_to_the_alarm(count: int, seed: int) -> tuple[int, int]:
    """(answers after the drop until the detector noticed it, deliveries of the alarm)."""
    good, bad = scores(0.92, seed), scores(0.82, seed + 1000)
    with tempfile.TemporaryDirectory() as folder, http_receiver() as receiver:
        with fleet(count, Path(folder), receiver.url, drift_baseline_count=500) as workers:
            for index in range(_GOOD):
                give(workers, index, next(good))
            for index in range(_GOOD, _GOOD + _MOST):
                give(workers, index, next(bad))
                if alarms(receiver):
                    break
            eventually(lambda: alarms(receiver))
        return noticed_at(alarms(receiver)[0]) - _GOOD + 1, len(alarms(receiver))


def noticed_at(alarm: dict[str, Any]) -> int:
    """The answer that raised it."""
    return round((alarm["time_unix_ns"] / 1e9 - START_S) / 60)


def tell_two(found: list[dict[str, Any]]) -> None:
    """Print what was delivered, where it was not one alarm."""
    if len({body["id"] for body in found}) != 1:
        print(*(f"    {noticed_at(body)} {body['id']} {body['state']} {body['headline']}" for body in found), sep="\n")


def killed_in_mid_stream(seed: int, workers_count: int = 4, kills: int = 2) -> dict[str, Any]:
    """Leaders that die at random answers from the learning on; what was delivered."""
    rng = random.Random(seed)
    at = set(rng.sample(range(150, 520), kills))
    good, bad = scores(0.92, seed), scores(0.72, seed + 1000)
    with tempfile.TemporaryDirectory() as folder, http_receiver() as receiver:
        with fleet(workers_count, Path(folder), receiver.url) as workers:
            for index in range(700):
                give(workers, index, next(good if index < 400 else bad))
                if index in at:
                    workers.kill_leader()
            eventually(lambda: alarms(receiver))
        found = alarms(receiver)
        tell_two(found)
        (state,) = states_in(Path(folder), NAME, VERSION).values()
        return {
            "ids": len({body["id"] for body in found if body["state"] == "firing"}),
            "deliveries": sum(body["state"] == "firing" for body in found),
            "resolved": sum(body["state"] == "resolved" for body in found),
            "worse": sum(" fell further " in body["headline"] for body in found),
            "counted": state["family"]["count"],
        }


def killed_around_the_telling(seed: int, when: str) -> dict[str, Any]:
    """The leader dies within 100 ms around the answers that raise the alarm (`detection`), while the receiver answers
    (`telling`), or within 20 ms after (`told`); what was delivered."""
    rng = random.Random(seed)
    good, bad = scores(0.92, 7), scores(0.72, 8)
    with tempfile.TemporaryDirectory() as folder, http_receiver() as receiver:
        with fleet(3, Path(folder), receiver.url) as workers:
            if when == "telling":
                receiver.release.clear()
            for index in range(300):
                give(workers, index, next(good))
            workers.flush()  # else one worker's bad answers may be read before the others' good ones
            for index in range(300, 600):
                give(workers, index, next(bad))
                if len(workers.alive) == 3 and (index == 335 if when == "detection" else alarms(receiver)):
                    time.sleep(rng.uniform(0.0, {"detection": 0.1, "told": 0.02}.get(when, 0.0)))
                    workers.kill_leader()
                    receiver.release.set()
            eventually(lambda: alarms(receiver))
        found = alarms(receiver)
        tell_two(found)
        return {"ids": len({body["id"] for body in found}), "deliveries": len(found)}


def kills_around_the_telling(rounds: int) -> None:
    """Prints the counts."""
    for when in ("detection", "telling", "told"):
        found = [killed_around_the_telling(seed, when) for seed in range(rounds)]
        once = sum(each["ids"] == each["deliveries"] == 1 for each in found)
        twice = sum(each["ids"] == 1 and each["deliveries"] == 2 for each in found)
        print(f"killed at {when}: told once in {once} of {rounds}, twice under one id in {twice}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--tellings", type=int, default=8, help="kills at each of three moments around the telling")
    parser.add_argument("--workers", type=int, default=16)
    arguments = parser.parse_args()
    delays: dict[int, list[int]] = {1: [], arguments.workers: []}
    for seed in range(arguments.seeds):
        for count, found in delays.items():
            delay, deliveries = answers_to_the_alarm(count, seed)
            found.append(delay)
            print(f"seed {seed}: {count} workers, {delay} answers, told {deliveries} times", flush=True)
    for count, found in delays.items():
        if found:
            print(f"{count} workers: median {median(found):.0f} answers to the alarm ({min(found)} to {max(found)})")
    rounds = [killed_in_mid_stream(seed) for seed in range(arguments.kills)]
    for seed, each in enumerate(rounds):
        print(f"kill {seed}: {each}", flush=True)
    if rounds:
        once = sum(each["ids"] - each["worse"] == 1 for each in rounds)
        worse = sum(each["worse"] > 0 for each in rounds)
        doubled = sum(each["deliveries"] > each["ids"] for each in rounds)
        least = min(each["counted"] for each in rounds)
        print(f"one alarm in {once} of {len(rounds)}, followed by one that it got worse in {worse}")
        print(f"delivered twice under one id in {doubled}")
        print(f"at least {least} of 700 answers counted")
    if arguments.tellings:
        kills_around_the_telling(arguments.tellings)


if __name__ == "__main__":
    main()
