"""A history keeps its sums whatever it merges, stays small, and tells since when."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.drift.change import change_point
from rag_otel.drift.history import History, moments, total
from rag_otel.drift.records import from_record, to_record
from testkit.drift_scores import scores

triples = st.tuples(st.floats(0, 1e9), st.floats(0, 1), st.floats(1, 1000))


@given(st.lists(triples, max_size=300))
def test_merging_loses_nothing(values: list[tuple[float, float, float]]) -> None:
    """The sums over all buckets are those over all values."""
    history = History()
    for each in values:
        history.add(*each)
    together, exact = total(history.buckets), moments(values)
    assert together.count == exact.count == len(values)
    assert together.weight == pytest.approx(exact.weight)
    assert together.x == pytest.approx(exact.x)
    assert together.x2 == pytest.approx(exact.x2)
    if values:
        assert (together.start_s, together.end_s) == (exact.start_s, exact.end_s)


@given(st.lists(triples, min_size=1, max_size=100))
def test_the_interval_holds_the_mean(values: list[tuple[float, float, float]]) -> None:
    """Mean and interval are within 0..1, and the interval has a width."""
    found = moments(values)
    assert found.mean is not None
    assert found.interval is not None
    low, high = found.interval
    assert 0.0 <= low <= found.mean <= high <= 1.0
    assert low < high


def test_a_hundred_thousand_values_stay_small_and_recent_ones_fine() -> None:
    """Few buckets, the last ones of eight values."""
    history = History()
    for index in range(100_000):
        history.add(float(index), 0.5, 1.0)
    assert len(history.buckets) < 130
    assert history.buckets[-2].count == 8
    assert history.between(99_900).count >= 96


def test_a_state_comes_back_as_it_was() -> None:
    """Through JSON; what does not fit together is refused."""
    history = History()
    for index in range(203):
        history.add(float(index), index / 203, 1.0 + index % 3)
    stored = json.loads(json.dumps(to_record(history)))
    assert from_record(stored, History).buckets == history.buckets
    for wrong in ({"_rows": 1, "is": "History"}, {**stored, "more": 1}, {**stored, "is": "Path"}, [stored], None, "x"):
        with pytest.raises((ValueError, KeyError, TypeError)):
            from_record(wrong, History)
    with pytest.raises(ValueError, match="padding"):
        from_record({**stored, "_rows": {"is": "array", "of": "d", "data": "AA"}}, History)


def test_a_weighted_mean_undoes_the_sampling() -> None:
    """A tenth of the good ones picked, all of the bad ones: the mean is that of the traffic."""
    picked = [(0.0, 0.5, 1.0)] * 100 + [(0.0, 1.0, 10.0)] * 90
    mean = moments(picked).mean
    assert mean == pytest.approx((0.5 * 100 + 900) / 1000)


def test_the_beginning_of_a_drop_is_found() -> None:
    """500 good values, then 100 that are worse: the beginning is within two buckets, the interval holds it."""
    good, bad = scores(0.95, 1), scores(0.75, 2)
    history = History()
    for index in range(600):
        history.add(float(index), next(good) if index < 500 else next(bad), 1.0)
    found = change_point(history.buckets, 0.93)
    assert found is not None
    assert found.earliest_s <= 500.0 <= found.latest_s
    assert abs(found.at_s - 500.0) <= 32.0
    assert found.since.mean == pytest.approx(0.75, abs=0.06)


def test_without_a_drop_there_is_no_beginning() -> None:
    """Everything above the floor speaks for nothing."""
    assert change_point([moments([(float(i), 1.0, 1.0)]) for i in range(20)], 0.9) is None
