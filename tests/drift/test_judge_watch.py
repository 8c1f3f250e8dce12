"""The anchors: reproducible, in the wheel, and they tell whether app or judge has moved."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
import random
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_otel.alert import Alert, AlertState
from rag_otel.drift.anchors import AnchorReading, Readings, load_anchors, shift
from rag_otel.drift.family import FamilySettings
from rag_otel.drift.judge_watch import Cause, JudgeWatch
from rag_otel.drift.monitor import DriftMonitor
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.model import Chunk, Evaluation
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from testkit.drift_scores import START_S, results

SCRIPT = Path(__file__).parents[2] / "examples" / "data" / "make_anchors.py"


class StrictLater:
    """Judges by length; from `stricten` on, all scores are .2 lower."""

    name, judge_name, version = "faithfulness", "function", "1"

    def __init__(self) -> None:
        self.strict = 0.0
        self.calls = 0

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        self.calls += 1
        return Evaluation(
            name=self.name,
            score=max(0.0, 0.9 - len(response) % 7 / 50 - self.strict),
            evaluator="StrictLater",
            version=self.version,
        )


class Clock:
    """A time that the test sets."""

    def __init__(self) -> None:
        self.now = START_S

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def worker() -> Iterator[BackgroundWorker]:
    made = BackgroundWorker()
    yield made
    made.shutdown(5.0)


def wait_for_reading(watch: JudgeWatch) -> None:
    """Ask for a reading and wait until it is there."""
    read = threading.Event()
    watch.check(read.set)
    assert read.wait(60)


def at_once(job: Callable[[], Coroutine[Any, Any, None]]) -> bool:
    """Run a job here and now."""
    asyncio.run(job())
    return True


def test_the_packaged_anchors_are_those_of_the_script() -> None:
    """24 of them, half faithful; the script gives the very same."""
    spec = importlib.util.spec_from_file_location("make_anchors", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    anchors = load_anchors()
    made = json.loads(json.dumps(script.anchors()))
    assert [(each.id, each.response, each.faithful) for each in anchors] == [
        (row["id"], row["response"], row["faithful"]) for row in made
    ]
    assert (len(anchors), sum(each.faithful for each in anchors)) == (24, 12)


@pytest.mark.parametrize("content", ["", "[]", '{"anchors": []}', '{"anchors": [{"id": 1}]}'])
def test_anchors_that_cannot_be_read_are_named(tmp_path: Path, content: str) -> None:
    """The set-up fails with the setting's name."""
    (tmp_path / "anchors.json").write_text(content)
    with pytest.raises(ConfigurationError, match="judge_anchors"):
        load_anchors(tmp_path / "anchors.json")


def test_the_embedded_judge_reads_the_same_twice(worker: BackgroundWorker) -> None:
    """On the worker, through its own evaluator: no shift at all, and it agrees with people better than chance."""
    watch = JudgeWatch([Faithfulness()], load_anchors(), worker.submit)
    wait_for_reading(watch)
    wait_for_reading(watch)
    moved = watch.readings.shift("faithfulness", "risk")
    assert moved is not None
    assert (moved.mean, moved.moved, moved.count) == (0.0, False, 24)
    agreement = watch.readings.latest["faithfulness"].agreement
    assert agreement is not None
    assert agreement > 0.6


def monitored(judge: StrictLater, told: list[Alert], clock: Clock) -> DriftMonitor:
    """A monitor with a settled baseline and a reference reading."""
    watch = JudgeWatch([judge], load_anchors(), at_once, clock=clock)
    settings = FamilySettings(baseline_count=200, average_run_length=1000.0)
    monitor = DriftMonitor(settings, told.append, judge=watch, clock=clock)
    monitor.write(results(0.92, 300, judge="function", evaluator="StrictLater"))
    assert judge.calls == 24
    clock.now = START_S + 60 * 600
    return monitor


def test_an_alarm_says_that_the_app_has_moved() -> None:
    """Told at once; the anchors are scored again, read as before, and that follows."""
    judge, told, clock = StrictLater(), list[Alert](), Clock()
    monitor = monitored(judge, told, clock)
    monitor.write(results(0.72, 200, at=300, seed=1, judge="function", evaluator="StrictLater"))
    assert judge.calls == 48
    moved = [(alert.name, alert.details["moved"], alert.follow_up) for alert in told]
    assert moved == [("drift_score", "unknown", False), ("drift_score", "app", True)]
    assert str(told[1].details["judge_on_anchors"]).startswith("+0.000")


def test_an_alarm_says_that_the_judge_has_moved() -> None:
    """The judge is .2 stricter on the anchors too: told by itself, and as the cause of the drop."""
    judge, told, clock = StrictLater(), list[Alert](), Clock()
    monitor = monitored(judge, told, clock)
    judge.strict = 0.2
    monitor.write(results(0.72, 200, at=300, seed=1, judge="function", evaluator="StrictLater"))
    by_name = {alert.name: alert for alert in told}
    assert by_name["judge_moved"].details["change"] == pytest.approx(-0.2)
    assert by_name["drift_score"].follow_up
    assert by_name["drift_score"].details["moved"] == "judge"
    assert "the judge moved" in by_name["drift_score"].headline


def test_a_new_version_is_asked_at_once_and_its_return_is_told() -> None:
    """Results of another version of the judge: the anchors are scored before any series has moved."""
    judge, told, clock = StrictLater(), list[Alert](), Clock()
    monitor = monitored(judge, told, clock)
    judge.strict, judge.version = 0.2, "2"
    monitor.write(results(0.92, 1, at=300, judge="function", evaluator="StrictLater", version="2"))
    assert [(alert.name, alert.state) for alert in told] == [("judge_moved", AlertState.FIRING)]
    judge.strict, judge.version = 0.0, "3"
    monitor.write(results(0.92, 1, at=301, judge="function", evaluator="StrictLater", version="3"))
    assert [alert.state for alert in told] == [AlertState.FIRING, AlertState.RESOLVED]


def test_the_schedule_scores_again() -> None:
    """A day later the tick asks; in between it does not."""
    judge, told, clock = StrictLater(), list[Alert](), Clock()
    monitor = monitored(judge, told, clock)
    monitor.tick()
    assert judge.calls == 24
    clock.now += 86_401
    due = monitor.due()
    assert due is not None
    assert due <= clock.now
    monitor.tick()
    assert judge.calls == 48


def test_a_judge_that_cannot_be_asked_leaves_the_cause_open() -> None:
    """No worker takes the job: the alert goes out all the same, and says `unknown`."""
    told: list[Alert] = []
    watch = JudgeWatch([StrictLater()], load_anchors(), lambda job: False)
    monitor = DriftMonitor(FamilySettings(baseline_count=200, average_run_length=1000.0), told.append, judge=watch)
    monitor.write([*results(0.92, 300), *results(0.72, 200, at=300, seed=1)])
    assert [(alert.name, alert.details["moved"]) for alert in told] == [("drift_score", "unknown")]


def test_anchors_wait_for_the_cap() -> None:
    """No more evaluations than the cap admits, one question to it for each."""
    admitted = iter([False, *[True] * 24])
    judge = StrictLater()
    watch = JudgeWatch([judge], load_anchors(), at_once, admit=lambda: next(admitted))
    watch.check()
    assert judge.calls == 24
    assert next(admitted, None) is None


def test_without_a_reference_from_before_nothing_is_claimed() -> None:
    """A first reading that is taken at the alarm cannot tell who has moved."""
    watch = JudgeWatch([StrictLater()], load_anchors(), at_once)
    watch.check()
    assert watch.verdict("faithfulness.score", 0.1, since_s=START_S, latest_s=START_S + 60).cause is Cause.UNKNOWN


def reading(judged: Sequence[float], *, time_s: float) -> AnchorReading:
    """Scores of as many anchors."""
    scores = {str(number): score for number, score in enumerate(judged)}
    return AnchorReading(identity="judge", time_s=time_s, scores=scores, risks={})


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("moved", [0.05, 0.1])
def test_a_judge_that_has_moved_alone_is_not_called_the_app(noise: float, moved: float) -> None:
    """At most one in twenty, however noisy the judge; who is not known is not named."""
    rng = random.Random(1)
    truth = [0.85 if number < 12 else 0.3 for number in range(24)]
    wrong = 0
    for _ in range(200):
        watch = JudgeWatch((), (), lambda job: False)
        watch.readings = Readings(
            references={"f": reading([mean + rng.gauss(0, noise) for mean in truth], time_s=1.0)},
            latest={"f": reading([mean - moved + rng.gauss(0, noise) for mean in truth], time_s=3.0)},
        )
        verdict = watch.verdict("f.score", moved, since_s=2.0, latest_s=2.5)
        assert verdict.explained is not None
        wrong += verdict.cause is Cause.APP
    assert wrong <= 10


def test_a_steady_judge_leaves_the_app() -> None:
    """The anchors read as before: the app has moved, and the judge explains nothing of it."""
    watch = JudgeWatch((), (), lambda job: False)
    rng = random.Random(2)
    watch.readings = Readings(
        references={"f": reading([0.8 + rng.gauss(0, 0.02) for _ in range(24)], time_s=1.0)},
        latest={"f": reading([0.8 + rng.gauss(0, 0.02) for _ in range(24)], time_s=3.0)},
    )
    verdict = watch.verdict("f.score", 0.1, since_s=2.0, latest_s=2.5)
    assert verdict.cause is Cause.APP
    assert verdict.explained is not None
    assert verdict.explained[0] < 0.1 < 0.5
    assert verdict.explained[1] < 0.5


@pytest.mark.parametrize("taken", [1, 30, 365])
def test_the_cause_of_an_alarm_is_known_however_many_readings_there_were(taken: int) -> None:
    """The app has moved, the judge has not: after a year of daily readings it is named as often as after one."""
    rng, named = random.Random(3), 0
    for _ in range(200):
        truth = [min(0.95, max(0.05, (0.85 if n < 12 else 0.25) + rng.gauss(0, 0.1))) for n in range(24)]
        first, last = ([min(1.0, max(0.0, mean + rng.gauss(0, 0.1))) for mean in truth] for _ in range(2))
        watch = JudgeWatch((), (), lambda job: False)
        watch.readings = Readings(
            references={"f": reading(first, time_s=1.0)}, latest={"f": reading(last, time_s=3.0)}, taken={"f": taken}
        )
        cause = watch.verdict("f.score", 0.15, since_s=2.0, latest_s=2.5).cause
        assert cause is not Cause.JUDGE
        named += cause is Cause.APP
    assert named >= 120


def test_every_reading_spends_less() -> None:
    """Readings may be taken as often as one likes: later intervals are wider; quantiles are Student's."""
    before = reading([0.8 + number / 100 for number in range(24)], time_s=1.0)
    now = reading([0.8 + (number * 7 % 24) / 100 for number in range(24)], time_s=3.0)
    widths = []
    for number in (1, 2, 50):
        found = shift(before, now, "score", reading=number)
        assert found is not None
        widths.append(found.interval[1] - found.mean)
    assert widths == sorted(widths)
    deviation = math.sqrt(
        sum((a - b) ** 2 for a, b in zip(now.scores.values(), before.scores.values(), strict=True)) / 23
    )
    assert widths[0] == pytest.approx(2.398 * deviation / math.sqrt(24), rel=0.01)  # 1.25% on one side, 23 free


def test_a_judge_that_hangs_delays_no_alarm() -> None:
    """The anchors are asked and never answered: the alarm is out."""
    told: list[Alert] = []
    watch = JudgeWatch([StrictLater()], load_anchors(), lambda job: True)
    monitor = DriftMonitor(FamilySettings(baseline_count=200, average_run_length=1000.0), told.append, judge=watch)
    monitor.write([*results(0.92, 300), *results(0.72, 200, at=300, seed=1)])
    assert [(alert.name, alert.follow_up) for alert in told] == [("drift_score", False)]
