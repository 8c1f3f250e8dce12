"""Series of slices: one budget, one attribution, one state."""

from __future__ import annotations

import dataclasses
import json
import random

import pytest

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.family import Family, FamilySettings
from rag_otel.drift.observation import ALL, RISK, SCORE, UNJUDGED, observation
from rag_otel.drift.records import from_record, to_record
from rag_otel.model import SamplingReason
from testkit.drift_scores import START_S, feed, result, scores, seen

SETTINGS = FamilySettings(baseline_count=200, average_run_length=1000.0)


def test_the_budget_is_spent_once() -> None:
    """The shares of all signals and dimensions sum up to one, however many metrics there are."""
    settings = FamilySettings(metrics=3)
    places = [ALL, *(f"{name}=x" for name in settings.dimensions)]
    shares = [settings.share_of((f"m.{signal}", place)) for signal in (SCORE, RISK, UNJUDGED) for place in places]
    assert 3 * sum(shares) == pytest.approx(1.0)


def test_a_model_swap_is_found_and_named() -> None:
    """Half of the traffic goes to a worse model: an alarm on all traffic, since about then, by that model."""
    family = Family(SETTINGS)
    assert feed(family, 0.92, 400, "model=large", "route=/ask") == []
    good, bad = scores(0.92, 5), scores(0.65, 6)
    events = []
    for index in range(400, 900):
        small = index % 2 == 0
        model = "model=small" if small else "model=large"
        events += family.observe(seen(index, next(bad if small else good), model, "route=/ask"))
    alarm = next(event for event in events if event.slice == ALL)
    assert not alarm.resolved
    assert alarm.earliest_s <= seen(400, 1.0).time_s <= alarm.latest_s + 60 * 40
    assert alarm.movements[0].slice == "model=small"
    assert alarm.movements[0].explained > 0.7
    assert alarm.estimate is not None
    assert alarm.interval is not None
    assert alarm.interval[0] < 0.79 < alarm.interval[1] + 0.05
    assert alarm.estimate < alarm.floor < alarm.baseline


@pytest.mark.parametrize("clock", ["even", "stopped", "jumpy"])
def test_what_moved_does_not_depend_on_clocks(clock: str) -> None:
    """One model is replaced by a worse one: it is named as new, in whatever order a burst's results are ready and
    whatever their clocks say."""
    good, bad = scores(0.95, 1), scores(0.72, 2)
    stream = [("model=a", next(good)) for _ in range(60)] + [("model=b", next(bad)) for _ in range(200)]
    for seed in range(20):
        rng = random.Random(seed)
        # Twelve are judged at a time.
        arrivals = sorted(range(60), key=lambda index: index + rng.uniform(0, 12))
        arrivals += sorted(range(60, 260), key=lambda index: index + rng.uniform(0, 12))
        family, alarms = Family(FamilySettings(baseline_count=50, average_run_length=1000.0)), []
        for index in arrivals:
            shift = {"even": index, "stopped": 0, "jumpy": index / 1000 + rng.uniform(0, 0.05)}[clock]
            model, score = stream[index]
            given = dataclasses.replace(seen(0, score, model), time_s=START_S + shift)
            alarms += [event for event in family.observe(given) if event.slice == ALL]
        first = alarms[0].movements[0]
        assert (first.slice, first.before) == ("model=b", None)


def test_a_baseline_of_few_answers_is_soon_used() -> None:
    """Who has set it to 50 answers is told of a large drop within the next 60, and of none without a drop."""
    for seed in range(20):
        family = Family(FamilySettings(baseline_count=50))
        good, bad = scores(0.97, seed), scores(0.7, 100 + seed)
        values = [next(good if index < 56 else bad) for index in range(115)]
        events = [
            event
            for index, value in enumerate(values)
            for event in family.observe(dataclasses.replace(seen(index, value), cluster=index))
        ]
        assert ALL in [event.slice for event in events], seed
        family = Family(FamilySettings(baseline_count=50))
        assert feed(family, 0.97, 600, seed=seed) == []


def test_an_alarm_ends_when_the_scores_are_back() -> None:
    """Not before, and with evidence of its own."""
    family = Family(SETTINGS)
    feed(family, 0.92, 300)
    assert [event.resolved for event in feed(family, 0.75, 400, at=300, seed=1)] == [False]
    events = feed(family, 0.92, 900, at=700, seed=2)
    assert [event.resolved for event in events] == [True]
    assert not family[("faithfulness.score", ALL)].firing


def test_a_steady_stream_raises_nothing() -> None:
    """5,000 values of one mean in ten slices."""
    family = Family(FamilySettings())
    source = scores(0.9, 11)
    for index in range(5000):
        assert family.observe(seen(index, next(source), f"tenant={index % 10}", risk=0.9)) == []


def test_slices_beyond_the_cap_are_counted_together() -> None:
    """Ten tenants, room for three: the rest is `other`, and not more than that."""
    family = Family(FamilySettings(max_slices=3))
    for index in range(100):
        family.observe(seen(index, 1.0, f"tenant={index % 10}"))
    slices = {name for (_, name), _ in family}
    assert slices == {ALL, "tenant=0", "tenant=1", "tenant=2", "tenant=other"}
    assert sum(bucket.count for bucket in family[("faithfulness.score", "tenant=other")].history.buckets) == 70


def test_a_baseline_that_is_given_is_not_learned() -> None:
    """The alarm comes at once when traffic was bad from the start."""
    given = {("faithfulness.score", ALL): Baseline.given(0.9)}
    family = Family(FamilySettings(baselines=given, average_run_length=1000.0))
    events = feed(family, 0.7, 150)
    assert [(event.slice, event.resolved) for event in events] == [(ALL, False)]


def test_a_restored_family_goes_on_as_if_nothing_had_happened() -> None:
    """Learning, watching and in alarm: the same events at the same values."""
    for cut in (100, 350, 620):
        whole, first = Family(SETTINGS), Family(SETTINGS)
        expected, source = [], scores(0.92, 1)
        values = [next(source) for _ in range(500)] + [0.7] * 200 + [next(source) for _ in range(500)]
        for index, value in enumerate(values):
            expected += whole.observe(seen(index, value, "route=/ask"))
        found = []
        for index, value in enumerate(values[:cut]):
            found += first.observe(seen(index, value, "route=/ask"))
        second = from_record(json.loads(json.dumps(to_record(first))), Family)
        second.adopt(SETTINGS)
        for index, value in enumerate(values[cut:], start=cut):
            found += second.observe(seen(index, value, "route=/ask"))
        assert [(e.slice, e.resolved, e.time_s) for e in found] == [(e.slice, e.resolved, e.time_s) for e in expected]
        assert len(expected) >= 2


def test_what_a_result_is_watched_for() -> None:
    """Score, risk and the unjudged share, with the slices that it has; a failure is unjudged."""
    good = observation(result(0, 0.8, risk=0.3, tags={"tenant": "acme"}, probability=0.5))
    assert good is not None
    assert good.probability == 0.5
    assert set(good.slices) == {"service=shop", "route=/ask", "model=large", "tenant=acme"}
    assert dict(good.values) == pytest.approx(
        {"faithfulness.unscored": 1.0, "faithfulness.score": 0.8, "faithfulness.risk": 0.7}
    )
    failed = observation(result(1, None, reason_code="timeout"))
    assert failed is not None
    assert dict(failed.values) == {"faithfulness.unscored": 0.0}


@pytest.mark.parametrize("reason", [SamplingReason.RATED, SamplingReason.EXTRA])
def test_what_is_no_part_of_the_sample_is_no_part_of_the_means(reason: str) -> None:
    """It counts for the slice of feedback alone, where that is watched; a trace rated in time counts everywhere."""
    late = result(0, 0.1, tags={"tenant": "acme"})
    late = dataclasses.replace(
        late,
        trace=dataclasses.replace(late.trace, rating=0.0),
        decision=dataclasses.replace(late.decision, reason=reason),
    )
    assert observation(late) is None
    seen_late = observation(late, ("tenant", "feedback"))
    assert seen_late is not None
    assert seen_late.slices == ("feedback=complaint",)
    family = Family(FamilySettings(dimensions=("tenant", "feedback")))
    family.observe(seen_late)
    assert {slice_name for (_, slice_name), _ in family} == {"feedback=complaint"}
    in_time = dataclasses.replace(late, decision=dataclasses.replace(late.decision, reason=SamplingReason.FORCED))
    seen_in_time = observation(in_time, ("tenant", "feedback"))
    assert seen_in_time is not None
    family.observe(seen_in_time)
    assert {slice_name for (_, slice_name), _ in family} == {ALL, "tenant=acme", "feedback=complaint"}
