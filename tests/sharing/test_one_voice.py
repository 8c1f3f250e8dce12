"""Several real processes with one state folder: one monitor, one alarm, whoever dies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from testkit.drift_scores import scores
from testkit.fleet import Fleet, fleet
from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually
from tests.support.states import text_of_state

pytestmark = pytest.mark.server


def told(receiver: Receiver) -> list[dict[str, Any]]:
    """The alarms that came in. One that is killed while the receiver answers comes again with the same id."""
    by_id = {request.headers["webhook-id"]: json.loads(request.body) for request in receiver.requests}
    return [body for body in by_id.values() if not body["follow_up"]]


def give(workers: Fleet, mean: float, first: int, count: int, *, seed: int = 0) -> None:
    """Answers in turn to every worker that lives, after all that came before."""
    workers.flush()
    source = scores(mean, seed)
    for index in range(first, first + count):
        alive = workers.alive
        workers.submit(alive[index % len(alive)], index, next(source))


def test_four_workers_tell_one_alarm(tmp_path: Path) -> None:
    """Each sees a quarter of the answers; the drop is told once, with what all have seen."""
    with http_receiver() as receiver, fleet(4, tmp_path, receiver.url) as workers:
        give(workers, 0.92, 0, 300)
        give(workers, 0.72, 300, 200, seed=1)
        eventually(lambda: told(receiver))
    (alarm,) = told(receiver)
    assert alarm["name"] == "drift_score"
    assert alarm["details"]["learned_from"].startswith("200 evaluations")
    assert alarm["examples"][0]["response"].startswith("Answer ")
    assert text_of_state(tmp_path, "drift", part="shared") is not None


def test_another_worker_goes_on_where_the_leader_was_killed(tmp_path: Path) -> None:
    """kill -9 while the baseline is learned, and again after the alarm: what was learned and told stays."""
    with http_receiver() as receiver, fleet(4, tmp_path, receiver.url) as workers:
        give(workers, 0.92, 0, 250)
        workers.kill_leader()
        give(workers, 0.92, 250, 50, seed=2)
        give(workers, 0.72, 300, 150, seed=1)
        eventually(lambda: told(receiver))
        workers.kill_leader()
        give(workers, 0.72, 450, 100, seed=3)
        eventually(lambda: workers.leader() is not None)
    (alarm,) = told(receiver)
    assert alarm["details"]["learned_from"].startswith("200 evaluations")
