"""Evaluators that fail or fall silent are told: without them every other signal looks calm."""

from __future__ import annotations

from collections import Counter

import pytest

from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.monitors.health import FailureMonitor, SilenceMonitor, traces_seen
from rag_otel.alerts.monitors.monitor import Monitors
from rag_otel.model import Evaluation
from rag_otel.safety.guard import counters
from tests.support.results import a_result, an_evaluation

FIRING, RESOLVED = AlertState.FIRING, AlertState.RESOLVED
FAILED = an_evaluation(score=None, risk=None, label=None, claims=(), error_type="builtins.TimeoutError")


class Scene:
    """A clock, a count of traces, and what was raised."""

    def __init__(self) -> None:
        self.now = 1_700_049_600.0
        self.seen: Counter[str] = Counter()
        self.told: list[Alert] = []
        watching = [SilenceMonitor(silence_s=900, seen=lambda: self.seen), FailureMonitor()]
        self.monitors = Monitors(watching, raise_alert=self.takes, clock=lambda: self.now)

    def takes(self, alert: Alert) -> None:
        """As the inbox does: the end of what nobody was told of is no news."""
        firing = {each.fingerprint for each in self.told if each.state is FIRING}
        if alert.state is FIRING or alert.fingerprint in firing:
            self.told.append(alert)

    def passes(self, seconds: float, *, traces: int = 0, status: str = "skipped.no_response") -> None:
        """Time goes by, with so many traces a minute."""
        for _ in range(round(seconds / 60)):
            self.now += 60
            self.seen[status] += traces
            self.monitors.tick()

    def evaluates(self, *evaluations: Evaluation, times: int = 1) -> None:
        for _ in range(times):
            self.monitors.write([a_result(*evaluations)])


def test_traces_without_any_evaluation_are_told_with_their_reasons() -> None:
    """After a quarter of an hour, once; the first evaluation resolves it."""
    scene = Scene()
    scene.evaluates()
    scene.passes(840, traces=5)
    assert not scene.told
    scene.passes(3600, traces=5, status="late.timeout")
    (alert,) = scene.told
    assert (alert.name, alert.fingerprint, alert.state) == ("evaluators_silent", "evaluators_silent", FIRING)
    assert alert.details["skipped.no_response"] == 70
    assert "No evaluation for 15 min" in alert.headline
    scene.evaluates()
    scene.passes(60)
    assert [each.state for each in scene.told] == [FIRING, RESOLVED]
    assert scene.told[1].fingerprint == alert.fingerprint


def test_no_traffic_is_no_silence() -> None:
    """Nor are a handful of traces, nor a pause between two evaluations."""
    scene = Scene()
    scene.passes(7200)
    scene.passes(60, traces=19)
    scene.passes(7200)
    assert not scene.told
    scene.evaluates()
    for _ in range(10):
        scene.passes(840, traces=5)
        scene.evaluates()
    assert not scene.told


def test_a_trace_that_was_never_to_be_evaluated_is_no_sign() -> None:
    """The sampler's no and the cap's no are what somebody asked for."""
    before = traces_seen()
    for name in ("trace.skipped.not_sampled", "trace.skipped.rate_limited", "trace.skipped.no_chunks", "trace.late"):
        counters.add(name)
    grown = {what for what, count in traces_seen().items() if count > before.get(what, 0)}
    assert grown == {"skipped.no_chunks", "late"}


def test_an_evaluator_that_fails_is_told_and_its_recovery_too() -> None:
    """More than half in ten minutes, with what went wrong; below a quarter it is over."""
    scene = Scene()
    scene.evaluates(times=15)
    scene.evaluates(FAILED, times=14)
    scene.passes(60)
    assert not scene.told
    scene.evaluates(FAILED, times=10)
    scene.passes(60)
    (alert,) = scene.told
    assert (alert.name, alert.metric, alert.state) == ("evaluator_failing", "faithfulness", FIRING)
    assert alert.headline == "faithfulness: 62% of 39 evaluations failed in 10 min, mostly builtins.TimeoutError"
    scene.evaluates(times=30)
    scene.passes(60)
    assert len(scene.told) == 1
    scene.passes(600)
    scene.evaluates(times=30)
    scene.passes(60)
    assert [each.state for each in scene.told] == [FIRING, RESOLVED]


@pytest.mark.parametrize("times", [1, 19])
def test_a_few_failures_are_nothing(times: int) -> None:
    """All of them failed, but there were not many."""
    scene = Scene()
    scene.evaluates(FAILED, times=times)
    scene.passes(3600)
    assert not scene.told


def test_an_answer_that_cannot_be_scored_has_not_failed() -> None:
    """No claims, an abstention: a result without a score, not an error."""
    scene = Scene()
    scene.evaluates(an_evaluation(score=None, risk=None, label=None, claims=(), reason_code="no_claims"), times=100)
    scene.passes(60)
    assert not scene.told


def test_the_first_process_that_is_well_again_ends_what_the_last_one_told() -> None:
    """Both problems were told before a restart; the new process knows of neither, and is well."""
    raised: list[Alert] = []
    now = 1_700_049_600.0
    for monitor in (SilenceMonitor(seen=dict), FailureMonitor()):
        for _ in range(2):
            monitor.write([a_result()] * 20, now)
            raised += monitor.look(now + 60)
    assert [(alert.fingerprint, alert.state) for alert in raised] == [
        ("evaluators_silent", RESOLVED),
        ("evaluator_failing:faithfulness", RESOLVED),
    ]
