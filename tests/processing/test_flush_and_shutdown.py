"""Flush and shutdown release everything within their time."""

from __future__ import annotations

import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider

from rag_otel.processing import processor as processor_module
from rag_otel.processing.attach import attach
from rag_otel.processing.processor import RagSpanProcessor
from testkit.polling import eventually
from tests.processing.kit import REASON, SCORE, STATUS, Bench, Direct, Exported, attribute, batching, observed


def test_force_flush_waits_for_scores() -> None:
    """The provider's own force_flush exports held spans with their scores."""
    exported, bench = Exported(), Bench()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(batching(exported))
    attach(provider, bench.runtime)
    for n in range(20):
        with observed(provider, f"answer {n}"):
            pass
    assert provider.force_flush()
    assert [attribute(span, SCORE) for span in exported.spans] == [1.0] * 20


def test_force_flush_gives_up_in_its_time() -> None:
    """With an evaluator that never answers, everything is exported before the time is up, as late."""
    exported, bench = Exported(), Bench()
    bench.judge.block.clear()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(batching(exported))
    attach(provider, bench.runtime)
    for n in range(5):
        with observed(provider, f"answer {n}"):
            pass
    assert provider.force_flush(500)
    assert {attribute(span, REASON) for span in exported.spans} == {"flush"}
    assert len(exported.spans) == 5
    bench.judge.block.set()
    eventually(lambda: len(bench.results.all) == 5)


def test_flush_without_evaluating_waits_for_nothing() -> None:
    """With evaluate=False held spans leave at once; their results follow."""
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(batching(exported))
    attachment = attach(provider, bench.runtime)
    with observed(provider):
        pass
    assert attachment.flush(600, evaluate=False)
    assert attribute(exported.one("answer"), STATUS) == "late"
    assert attribute(exported.one("answer"), REASON) == "flush", "it waited until the deadline"
    bench.judge.gate.set()
    eventually(lambda: bench.results.all)


def test_a_flush_that_runs_out_of_time_says_so() -> None:
    """With no time at all force_flush returns False, and the span is out all the same."""
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    provider = TracerProvider(shutdown_on_exit=False)
    rag = RagSpanProcessor(Direct(exported), runtime=bench.runtime)
    provider.add_span_processor(rag)
    with observed(provider):
        pass
    assert rag.force_flush(0) is False
    assert exported.names() == ["answer"]
    bench.judge.gate.set()


def test_shutdown_evaluates_what_it_can() -> None:
    """The provider's shutdown exports scored spans, delivers the results and closes every exporter once."""
    one, two, bench = Exported(), Exported(), Bench()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(batching(one))
    provider.add_span_processor(batching(two))
    attach(provider, bench.runtime)
    for n in range(10):
        with observed(provider, f"answer {n}"):
            pass
    provider.shutdown()
    provider.shutdown()
    for exported in (one, two):
        assert [attribute(span, SCORE) for span in exported.spans] == [1.0] * 10
        assert exported.closed == 1
    assert len(bench.results.all) == 10


def test_what_ends_during_shutdown_says_so() -> None:
    """Another thread answers while the provider's shutdown waits for the judge: that answer has a status, too."""
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    provider = TracerProvider(shutdown_on_exit=False)
    rag = RagSpanProcessor(Direct(exported), runtime=bench.runtime)
    provider.add_span_processor(rag)
    with observed(provider, "before"):
        pass
    shutting_down = threading.Thread(target=rag.shutdown)
    shutting_down.start()
    eventually(lambda: not rag._active)
    with observed(provider, "meanwhile"):
        pass
    bench.judge.gate.set()
    shutting_down.join()
    assert attribute(exported.one("before"), SCORE) == 1.0
    assert attribute(exported.one("meanwhile"), STATUS) == "skipped"
    assert attribute(exported.one("meanwhile"), REASON) == "shutdown"


def test_shutdown_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an evaluator that hangs, the spans are exported with a status that says shutdown."""
    monkeypatch.setattr(processor_module, "SHUTDOWN_S", 0.3)
    exported, bench = Exported(), Bench()
    bench.judge.block.clear()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(batching(exported))
    attach(provider, bench.runtime)
    with observed(provider):
        pass
    provider.shutdown()
    assert attribute(exported.one("answer"), STATUS) == "skipped"
    assert attribute(exported.one("answer"), REASON) == "shutdown"
    assert exported.closed == 1
    bench.judge.block.set()


def test_after_shutdown_nothing_is_held() -> None:
    """A span that ends after shutdown goes straight on, to be dropped by whoever is closed."""
    exported, bench = Exported(), Bench()
    direct = Direct(exported)
    provider = TracerProvider(shutdown_on_exit=False)
    rag = RagSpanProcessor(direct, runtime=bench.runtime)
    provider.add_span_processor(rag)
    rag.shutdown()
    direct.closed = 0
    with observed(provider):
        pass
    assert exported.names() == ["answer"]
    assert bench.judge.seen == []


def test_after_a_flush_every_result_is_queued() -> None:
    """Whoever flushes the spans and then the delivery has everything delivered."""
    bench = Bench()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(batching(Exported()))
    attachment = attach(provider, bench.runtime)
    for round_number in range(1, 11):
        for _ in range(3):
            with observed(provider):
                pass
        assert attachment.flush(10)
        assert bench.runtime.delivery.flush(10)
        assert len(bench.results.all) == 3 * round_number
