"""Traffic that is not independent: what is told of it, and what is not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from rag_otel.drift.family import Family, FamilySettings
from rag_otel.drift.observation import ALL, Observation, cluster_of
from rag_otel.model import Chunk, RagTrace, SpanRef
from testkit.drift_scores import START_S, scores, seen, told

SETTINGS = FamilySettings(dimensions=())


def stream(mean: Callable[[int], float], count: int, seed: int, *slices: str) -> list[Observation]:
    """Independent scores whose mean is given."""
    rng = random.Random(seed)
    chances = ((mean(index) - 0.6) / 0.4 for index in range(count))
    return [
        seen(index, 1.0 if rng.random() < chance else rng.choice((0.5, 0.6, 0.7)), *slices)
        for index, chance in enumerate(chances)
    ]


def in_runs(count: int, seed: int, hard: Callable[[int], float], *, keys: bool) -> list[Observation]:
    """Runs of 50 answers on one document, hard ones with the given chance."""
    rng, found = random.Random(seed), []
    for document in range(count // 50):
        level = 0.5 if rng.random() < hard(50 * document) else 0.97
        for _ in range(50):
            found.append(
                Observation(
                    time_s=START_S + 60 * len(found),
                    probability=1.0,
                    slices=(),
                    values=(("faithfulness.score", min(1.0, max(0.0, rng.gauss(level, 0.05)))),),
                    cluster=document if keys else None,
                )
            )
    return found


def test_runs_on_hard_documents_are_no_drift() -> None:
    """With the keys of runs and without: at most one alarm in four streams of 10,000 answers."""
    for keys in (True, False):
        alarms = [told(Family(SETTINGS), in_runs(10_000, seed, lambda at: 0.1, keys=keys)) for seed in range(4)]
        assert sum(not event.resolved for each in alarms for _, event in each) <= 1


def test_a_drop_is_found_in_runs() -> None:
    """Three times as many hard documents from the 6,000th answer on: told, and what the answers are worth."""
    for keys in (True, False):
        events = told(Family(SETTINGS), in_runs(16_000, 5, lambda at: 0.1 if at < 6000 else 0.6, keys=keys))
        first = next(event for index, event in events if index >= 6000)
        assert first.worth < first.count / 5
        assert first.learned.worth < 500


def test_a_popular_document_is_no_run() -> None:
    """Half of the answers have the same chunks, but not in a row: a drop is found as fast as ever."""
    rng, family = random.Random(2), Family(SETTINGS)
    values = []
    for each in stream(lambda at: 0.92 if at < 3000 else 0.8, 3400, 3):
        key = 1 if rng.random() < 0.5 else rng.randrange(10**9)
        values.append(Observation(time_s=each.time_s, probability=1.0, slices=(), values=each.values, cluster=key))
    ((index, _),) = told(family, values)
    assert 3000 <= index < 3200


def test_a_second_deeper_drop_is_told() -> None:
    """And belongs to the same problem; its before is what the first one had left."""
    events = told(Family(SETTINGS), stream(lambda at: 0.92 if at < 2000 else 0.85 if at < 4000 else 0.62, 4500, 7))
    assert [event.deeper for _, event in events] == [False, True]
    index, deeper = events[1]
    assert index < 4100
    assert deeper.before is not None
    assert abs(deeper.before - 0.85) < 0.03


def test_a_gain_that_is_lost_again_is_told() -> None:
    """.88, .96, .88: the second baseline is the higher one."""
    family = Family(SETTINGS)
    events = told(family, stream(lambda at: 0.96 if 2000 <= at < 5000 else 0.88, 5600, 1))
    assert [event.resolved for _, event in events] == [False]
    assert events[0][1].baseline > 0.93


def test_the_end_is_told_soon() -> None:
    """A drop of .12 for a thousand answers is over within two hundred."""
    events = told(Family(SETTINGS), stream(lambda at: 0.80 if 2000 <= at < 3000 else 0.92, 3300, 4))
    assert [event.resolved for _, event in events] == [False, True]
    assert events[1][0] < 3200


def test_a_mix_that_changes_is_no_drift() -> None:
    """The worse of two models answers more often; neither is worse than it was: no alarm."""
    rng, good, bad = random.Random(3), scores(0.97, 1), scores(0.85, 2)
    family, values = Family(FamilySettings(dimensions=("model",))), []
    for index in range(6000):
        small = rng.random() < (0.3 if index < 3000 else 0.75)
        values.append(seen(index, next(bad if small else good), "model=small" if small else "model=large"))
    assert told(family, values) == []
    family = Family(FamilySettings(dimensions=("model",)))
    worse = [seen(index, 0.5, *each.slices) if index >= 3000 else each for index, each in enumerate(values)]
    assert told(family, worse)


def test_a_drop_while_learning_is_said() -> None:
    """The learning window holds the change: the event says so, and blames the right day."""
    events = told(Family(SETTINGS), stream(lambda at: 0.96 if at < 350 else 0.80 if at < 500 else 0.70, 1500, 2))
    event = events[0][1]
    assert event.learned.change_s is not None
    assert abs(event.learned.change_s - START_S - 60 * 350) < 60 * 40


def test_what_is_wrong_while_learning_is_not_learned() -> None:
    """A drop of .10 at the 2,000th answer: the baseline of 5,000 answers is the one of before, or it has been told."""
    family = Family(SETTINGS)
    events = told(family, stream(lambda at: 0.92 if at < 2000 else 0.82, 6000, 8))
    assert events
    baseline = family[("faithfulness.score", ALL)].baseline
    assert baseline is not None
    assert baseline.mean > 0.9


def test_learning_ends_and_says_what_is_missing() -> None:
    """After 5,000 answers, in three hours: neither a day nor a week is known."""
    family = Family(SETTINGS)
    for index, each in enumerate(stream(lambda at: 0.92, 5001, 2)):
        family.observe(replace(each, time_s=START_S + 2 * index))
    series = family[("faithfulness.score", ALL)]
    assert series.baseline is not None
    assert series.baseline.count == 5000
    assert series.baseline.unknown == ("less than a day was seen", "less than a week was seen")


def test_one_run_that_was_never_seen_is_no_alarm() -> None:
    """100 answers on the first hard document, after 1,200 on easy ones; a drop of that size that stays is told."""
    rng = random.Random(1)
    for hard in (100, 1000):
        values = []
        for index in range(2200):
            level = 0.5 if 1200 <= index < 1200 + hard else 0.96
            values.append(seen(index, min(1.0, rng.gauss(level, 0.04))))
        assert bool(told(Family(SETTINGS), values)) is (hard == 1000)


def test_the_interval_holds_at_the_alarm() -> None:
    """Of ten drops of .05, in nine at least the interval that is told holds the new mean."""
    held = 0
    for seed in range(10):
        events = told(Family(SETTINGS), stream(lambda at: 0.92 if at < 2000 else 0.87, 4000, seed))
        interval = events[0][1].interval
        assert interval is not None
        held += interval[0] <= 0.87 <= interval[1]
    assert held >= 9


def test_clusters_are_sessions_or_chunks() -> None:
    """The same chunks in any order have one key, other chunks another; a session has its own."""

    def trace(*ids: str, session: str | None = None) -> RagTrace:
        chunks = tuple(Chunk(id=each, text=each, position=at) for at, each in enumerate(ids))
        return RagTrace(target=SpanRef(trace_id="1" * 32, span_id="1" * 16), chunks=chunks, session_id=session)

    assert cluster_of(trace("a", "b")) == cluster_of(trace("b", "a")) != cluster_of(trace("a", "c"))
    assert cluster_of(trace("a", session="s")) == cluster_of(trace("b", session="s")) != cluster_of(trace("a"))
    assert cluster_of(trace()) is None


def test_one_document_for_all_answers_is_no_key() -> None:
    """An app that always retrieves the same passages is watched answer by answer."""
    values = [
        Observation(time_s=each.time_s, probability=1.0, slices=(), values=each.values, cluster=1)
        for each in stream(lambda at: 0.92 if at < 1000 else 0.75, 1300, 6)
    ]
    ((index, _),) = told(Family(SETTINGS), values)
    assert 1000 <= index < 1200
