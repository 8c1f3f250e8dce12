"""Counters and gauges of the process, as the instruments report them."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Sequence

import pytest

import rag_otel
from rag_otel.model import Chunk, Evaluation
from rag_otel.safety.guard import counters
from rag_otel.telemetry import names
from rag_otel.telemetry.gauges import Sample, gauges
from rag_otel.telemetry.instruments import gauge_samples, total_samples
from tests.telemetry.kit import CHUNK, a_provider


class Source:
    """A source with given samples."""

    def __init__(self, name: str, *samples: Sample) -> None:
        self.samples = list(samples)
        gauges.offer(name, self.read)

    def read(self) -> list[Sample]:
        return self.samples


def _total(row: names.Instrument, **labels: str) -> float:
    return sum(value for value, found in total_samples(row) if dict(found) == labels)


@pytest.mark.parametrize(
    ("counted", "row", "labels"),
    [
        ("trace.evaluated", names.TRACES, {"status": "evaluated"}),
        ("trace.skipped.not_sampled", names.TRACES, {"status": "skipped", "reason": "not_sampled"}),
        ("guarded.blocked.unsupported", names.GUARDED, {"outcome": "blocked", "finding": "unsupported"}),
        (
            "guarded.passed.not_judged.timeout",
            names.GUARDED,
            {"outcome": "passed", "finding": "not_judged", "reason": "timeout"},
        ),
        ("judge.cache.hit", names.JUDGE_CACHE, {"outcome": "hit"}),
        ("delivery.alert_slack.retries", names.DELIVERY, {"destination": "alert_slack", "outcome": "retries"}),
        ("delivery.alert_slack.lost", names.DROPPED, {"what": "alert", "reason": "lost"}),
        ("delivery.phoenix_annotations.refused", names.DROPPED, {"what": "result", "reason": "refused"}),
        ("spans.not_kept", names.DROPPED, {"what": "span", "reason": "not_kept"}),
        ("alerts.raised.unfaithful_answer", names.ALERTS, {"name": "unfaithful_answer", "outcome": "raised"}),
    ],
)
def test_a_count_shows_under_its_labels(counted: str, row: names.Instrument, labels: dict[str, str]) -> None:
    """A counter with a dotted name becomes a total with labels."""
    before = _total(row, **labels)
    counters.add(counted, 3)
    assert _total(row, **labels) == before + 3


def _now(row: names.Instrument) -> float:
    ((value, _),) = gauge_samples(row)
    return value


def test_what_was_delivered_is_not_dropped() -> None:
    """Sent and retried items are not counted as dropped."""
    before = sum(value for value, _ in total_samples(names.DROPPED))
    counters.add("delivery.webhook.sent")
    counters.add("delivery.webhook.retries")
    assert sum(value for value, _ in total_samples(names.DROPPED)) == before


def test_sources_of_one_gauge_are_added_up_or_the_largest_counts() -> None:
    """The sizes of two queues are added. Of their ages the largest is reported."""
    before = _now(names.QUEUE_ITEMS)
    first = [Source(names.QUEUE_ITEMS.name, (2.0, {})), Source(names.QUEUE_AGE.name, (7e9, {}))]
    second = [Source(names.QUEUE_ITEMS.name, (3.0, {})), Source(names.QUEUE_AGE.name, (4e9, {}))]
    assert _now(names.QUEUE_ITEMS) == before + 5
    assert _now(names.QUEUE_AGE) == 7e9
    assert len(first) == len(second) == 2  # alive until here


def test_a_series_without_a_source_is_absent_and_a_lone_number_is_nought() -> None:
    """A gauge with labels and without a source is absent. A gauge without labels is 0."""
    gc.collect()
    source = Source(names.DRIFT_ALARM.name, (1.0, {"series": "faithfulness", "slice": "of this test"}))
    assert source.samples[0] in gauge_samples(names.DRIFT_ALARM)
    wanted = source.samples[0]
    del source
    gc.collect()
    assert wanted not in gauge_samples(names.DRIFT_ALARM)
    assert [labels for _, labels in gauge_samples(names.BREAKER_OPEN)] == [{}]


def test_a_source_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a source is counted, and the other sources are reported."""
    monkeypatch.setenv("RAG_OTEL_RAISE_INTERNAL_ERRORS", "0")

    class Broken(Source):
        def read(self) -> list[Sample]:
            raise RuntimeError("no reading today")

    broken, good = Broken(names.HELD_SPANS.name), Source(names.HELD_SPANS.name, (1.0, {}))
    before = counters.get(f"internal_error.reading.{names.HELD_SPANS.name}")
    assert (broken.samples, good.samples) == ([], [(1.0, {})])
    assert sum(value for value, _ in gauge_samples(names.HELD_SPANS)) >= 1.0
    assert counters.get(f"internal_error.reading.{names.HELD_SPANS.name}") == before + 1


def test_a_trace_that_waits_is_held_counted_and_grows_old() -> None:
    """During an evaluation one span is held, one trace waits, and its age increases."""
    asked, go_on = threading.Event(), threading.Event()

    class Slow:
        name = "slow"
        version = "1"
        judge_name = "function"

        async def evaluate(
            self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
        ) -> Evaluation:
            asked.set()
            await asyncio.to_thread(go_on.wait, 60)
            return Evaluation(name="slow", score=1.0)

    held, waiting = _now(names.HELD_SPANS), _now(names.QUEUE_ITEMS)
    provider, _ = a_provider()
    rag_otel.instrument(provider, metrics=[], evaluators=[Slow()], spans=rag_otel.SpanSettings(hold=60))

    @rag_otel.observe
    def answer(question: str) -> str:
        rag_otel.record_chunks([CHUNK])
        return "It orbits."

    answer("What does the moon do?")
    assert asked.wait(60)
    assert _now(names.HELD_SPANS) == held + 1
    assert _now(names.QUEUE_ITEMS) == waiting + 1
    assert 0 < _now(names.QUEUE_AGE) < _now(names.QUEUE_AGE)
    go_on.set()
    assert rag_otel.flush(timeout=60)
    assert (_now(names.HELD_SPANS), _now(names.QUEUE_ITEMS)) == (held, waiting)
