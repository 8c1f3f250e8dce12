"""What is held, for how long, and how it leaves."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanContext, TraceFlags

from rag_otel.model import EvaluationStatus, SpanRecord
from rag_otel.processing import held_traces
from rag_otel.processing.processor import RagSpanProcessor
from rag_otel.safety.guard import RAISE_ENV, counters
from rag_otel.sampling.amount import EvaluationCap
from rag_otel.writers.evaluation_span import EvaluationSpanWriter
from testkit.polling import eventually
from tests.processing.kit import (
    REASON,
    SCORE,
    STATUS,
    Bench,
    Direct,
    Exported,
    Judge,
    attribute,
    batching,
    chain,
    observed,
    retrieve,
    tracer,
)


def provider_with(bench: Bench, *processors: object) -> tuple[TracerProvider, RagSpanProcessor]:
    """A provider whose only processor is ours, before `processors`."""
    provider = TracerProvider(shutdown_on_exit=False)
    processor = RagSpanProcessor(processors, runtime=bench.runtime)  # type: ignore[arg-type]
    provider.add_span_processor(processor)
    return provider, processor


def test_scores_leave_on_the_span_itself() -> None:
    """The span that is exported carries the score, its status and the sampling decision, once."""
    exported = Exported()
    provider, processor = provider_with(Bench(), batching(exported))
    with observed(provider):
        pass
    assert processor.flush(10)
    span = exported.one("answer")
    assert attribute(span, SCORE) == 1.0
    assert attribute(span, STATUS) == "evaluated"
    assert attribute(span, "rag.sampling.reason") == "always"
    assert attribute(span, "rag.sampling.probability") == 1.0
    assert attribute(span, "input.value") == "What does the moon orbit?"


def test_only_the_target_is_held() -> None:
    """Children and unrelated spans pass at once and in order while the target waits for its scores."""
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    provider, processor = provider_with(bench, Direct(exported))
    with tracer(provider).start_as_current_span("request"):
        with observed(provider, chunks=None):
            retrieve(provider, "The moon orbits the earth once a month.")
            with tracer(provider).start_as_current_span("inner"):
                pass
        with tracer(provider).start_as_current_span("after"):
            pass
    assert exported.names() == ["retrieve", "inner", "after", "request"]
    bench.judge.gate.set()
    assert processor.flush(10)
    assert exported.names() == ["retrieve", "inner", "after", "request", "answer"]
    assert attribute(exported.one("answer"), SCORE) == 1.0


def test_a_framework_chain_with_a_retriever_is_evaluated() -> None:
    """A framework's own spans are enough: the topmost one with a retrieval below it is scored."""
    exported, bench = Exported(), Bench()
    provider, processor = provider_with(bench, batching(exported))
    with chain(provider):
        retrieve(provider, "The moon orbits the earth once a month.")
    with chain(provider, "no retrieval"):
        pass
    assert processor.flush(10)
    assert attribute(exported.one("chain"), SCORE) == 1.0
    assert [chunk.text for chunk in bench.judge.seen[0]["chunks"]] == ["The moon orbits the earth once a month."]
    assert attribute(exported.one("no retrieval"), STATUS) is None


def test_what_was_there_stays() -> None:
    """Ids, times, events, links, status, scope and dropped counts are those of the original span."""
    exported = Exported()
    provider, processor = provider_with(Bench(), Direct(exported))
    before: list[object] = []

    class Before(Direct):
        def on_end(self, span: object) -> None:
            before.append(span)

    provider.add_span_processor(Before(exported))
    with observed(provider) as live:
        live.add_event("cache", {"hit": True})
        live.add_link(SpanContext(1, 2, is_remote=False, trace_flags=TraceFlags(1)))
        for n in range(200):
            live.set_attribute(f"many.{n}", n)
    assert processor.flush(10)
    original, copy = before[0], exported.one("answer")
    for name in ("name", "context", "parent", "kind", "resource", "events", "links", "start_time", "end_time"):
        assert getattr(copy, name) == getattr(original, name), name
    for name in ("status", "instrumentation_scope", "dropped_attributes", "dropped_events", "dropped_links"):
        assert getattr(copy, name) == getattr(original, name), name
    assert copy.dropped_attributes > 0
    assert copy.attributes is not None
    assert {**copy.attributes}.items() >= {**original.attributes}.items()  # type: ignore[attr-defined]


def test_the_deadline_lets_the_span_go_late_and_the_result_follows() -> None:
    """A span never waits longer than its deadline; its scores are delivered, marked late, when they come."""
    exported, bench = Exported(), Bench(settings={"hold": 0.05})
    bench.judge.gate.clear()
    provider, _ = provider_with(bench, Direct(exported))
    with observed(provider):
        pass
    eventually(exported.names)
    assert attribute(exported.one("answer"), STATUS) == "late"
    assert attribute(exported.one("answer"), REASON) == "deadline"
    assert bench.results.all == []
    bench.judge.gate.set()
    eventually(lambda: bench.results.all)
    assert bench.results.all[0].status is EvaluationStatus.LATE
    assert bench.results.all[0].evaluations[0].score == 1.0
    assert exported.names() == ["answer"]


def test_a_hanging_evaluator_does_not_stop_the_deadline() -> None:
    """The scheduler keeps the time: an evaluator that blocks the worker for good holds up no span."""
    exported, bench = Exported(), Bench(settings={"hold": 0.05})
    bench.judge.block.clear()
    provider, _ = provider_with(bench, Direct(exported))
    for n in range(3):
        with observed(provider, f"answer {n}"):
            pass
    eventually(lambda: len(exported.spans) == 3)
    assert {attribute(span, STATUS) for span in exported.spans} == {"late"}
    bench.judge.block.set()


def test_hold_0_never_holds() -> None:
    """With hold=0 the span leaves in the very call that ends it, and the result is late."""
    exported, bench = Exported(), Bench(settings={"hold": 0.0})
    bench.judge.gate.clear()
    provider, _ = provider_with(bench, Direct(exported))
    with observed(provider):
        pass
    assert exported.names() == ["answer"]
    assert attribute(exported.one("answer"), STATUS) == "late"
    bench.judge.gate.set()
    eventually(lambda: bench.results.all)
    assert bench.results.all[0].status is EvaluationStatus.LATE


def test_hold_0_still_says_why_there_is_no_score() -> None:
    """A span that left as late and cannot be evaluated is followed by the reason, and that is counted."""
    exported, bench = Exported(), Bench(settings={"hold": 0.0})
    provider, _ = provider_with(bench, Direct(exported))
    before = counters.get("late.skipped.no_chunks")
    with observed(provider, chunks=None):
        pass
    eventually(lambda: bench.results.all)
    assert counters.get("late.skipped.no_chunks") == before + 1
    assert exported.names() == ["answer"]
    told = bench.results.all[0]
    assert (told.status, told.trace.unevaluable_reason, told.evaluations) == ("skipped", "no_chunks", ())
    EvaluationSpanWriter(emit=lambda span: pytest.fail("sent elsewhere"), resource=Resource.get_empty).write([told])
    assert exported.names() == ["answer", "evaluation skipped"]
    assert attribute(exported.one("evaluation skipped"), STATUS) == "skipped"
    assert attribute(exported.one("evaluation skipped"), REASON) == "no_chunks"


@pytest.mark.parametrize(("how", "reason"), [({"failed": True}, "error"), ({"incomplete": True}, "incomplete")])
def test_a_call_that_gave_no_answer_says_so_at_once(how: dict[str, bool], reason: str) -> None:
    """Also with hold=0 the span of a failed or abandoned call carries its reason itself."""
    exported, bench = Exported(), Bench(settings={"hold": 0.0})
    provider, _ = provider_with(bench, Direct(exported))
    with observed(provider, **how):
        pass
    assert attribute(exported.one("answer"), STATUS) == "skipped"
    assert attribute(exported.one("answer"), REASON) == reason


def test_full_slots_turn_new_traces_away_and_keep_admitted_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """When every slot is taken the newcomer passes at once as queue_full; what was admitted is still evaluated."""
    monkeypatch.setattr(held_traces, "MAX_HELD", 2)
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    provider, processor = provider_with(bench, Direct(exported))
    before = counters.get("trace.skipped.queue_full")
    for n in range(5):
        with observed(provider, f"answer {n}"):
            pass
    assert exported.names() == ["answer 2", "answer 3", "answer 4"]
    assert {attribute(span, REASON) for span in exported.spans} == {"queue_full"}
    assert {attribute(span, "rag.sampling.reason") for span in exported.spans} == {"queue_full"}
    assert counters.get("trace.skipped.queue_full") == before + 3
    bench.judge.gate.set()
    assert processor.flush(10)
    assert {attribute(exported.one(f"answer {n}"), SCORE) for n in range(2)} == {1.0}


def test_slots_are_bounded_in_bytes() -> None:
    """A few huge traces fill the slots just as many small ones do."""
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    provider, processor = provider_with(bench, Direct(exported))
    for n in range(3):
        with observed(provider, f"answer {n}", chunks=["x" * 12 * 2**20]):
            pass
    assert exported.names() == ["answer 2"]
    assert attribute(exported.spans[0], REASON) == "queue_full"
    bench.judge.gate.set()
    assert processor.flush(10)


def test_slots_are_at_most_half_the_inner_queue() -> None:
    """A release of all of them fits into the exporters' smallest queue."""
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    batch = batching(exported, max_queue_size=20, max_export_batch_size=20)
    provider, processor = provider_with(bench, batch, batching(Exported()))
    for n in range(30):
        with observed(provider, f"answer {n}"):
            pass
        if n >= 10:  # those that are turned away leave at once, and are exported here
            batch.force_flush()
    assert len(exported.spans) == 20
    assert processor.flush(1, evaluate=False)
    assert len(exported.spans) == 30
    bench.judge.gate.set()


def test_a_flush_leaves_room_in_a_half_full_queue() -> None:
    """Releasing every slot into a queue that other spans have half filled loses none of either."""
    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    provider, processor = provider_with(bench, batching(exported, max_queue_size=20, max_export_batch_size=20))
    for n in range(10):
        with observed(provider, f"answer {n}"):
            pass
    for n in range(14):
        with tracer(provider).start_as_current_span(f"other {n}"):
            pass
    assert processor.flush(1, evaluate=False)
    assert len(exported.spans) == 24
    bench.judge.gate.set()


def test_unsampled_traces_pass_at_once_and_say_so() -> None:
    """The seeded coin's no is written on the span that it was about."""
    exported = Exported()
    provider, _ = provider_with(Bench(ratio=0.0), Direct(exported))
    with observed(provider):
        pass
    span = exported.one("answer")
    assert attribute(span, STATUS) == "skipped"
    assert attribute(span, "rag.sampling.reason") == "not_sampled"


def test_the_cap_passes_the_rest() -> None:
    """Over the cap, spans pass at once as rate_limited; an unevaluable trace gives its turn back."""
    exported, cap = Exported(), EvaluationCap(60, burst=1, clock=lambda: 0.0)
    provider, processor = provider_with(Bench(cap=cap), Direct(exported))
    with observed(provider, "no answer", response=None):
        pass
    assert processor.flush(10)
    with observed(provider, "first"):
        pass
    with observed(provider, "second"):
        pass
    assert processor.flush(10)
    assert attribute(exported.one("no answer"), REASON) == "no_response"
    assert attribute(exported.one("first"), STATUS) == "evaluated"
    assert attribute(exported.one("second"), REASON) == "rate_limited"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"failed": True}, "error"),
        ({"incomplete": True}, "incomplete"),
        ({"response": None}, "no_response"),
        ({"chunks": None}, "no_chunks"),
    ],
)
def test_an_unevaluable_trace_says_why(more: dict[str, object], reason: str) -> None:
    """What cannot be judged is not: the span leaves with the reason, and nothing is delivered."""
    exported, bench = Exported(), Bench()
    provider, processor = provider_with(bench, Direct(exported))
    with observed(provider, **more):  # type: ignore[arg-type]
        pass
    assert processor.flush(10)
    assert attribute(exported.one("answer"), STATUS) == "skipped"
    assert attribute(exported.one("answer"), REASON) == reason
    assert bench.judge.seen == []


def test_a_failing_evaluator_is_a_failed_evaluation() -> None:
    """The span leaves with the status failed and the error's type; the failure is delivered as data."""
    exported, bench = Exported(), Bench()
    bench.judge.error = ValueError("no")
    provider, processor = provider_with(bench, Direct(exported))
    with observed(provider):
        pass
    assert processor.flush(10)
    assert attribute(exported.one("answer"), STATUS) == "failed"
    assert attribute(exported.one("answer"), REASON) == "builtins.ValueError"
    eventually(lambda: bench.results.all)
    assert bench.results.all[0].status is EvaluationStatus.FAILED


@pytest.mark.parametrize("error", [None, asyncio.CancelledError()])
def test_an_evaluator_that_gives_no_evaluation_fails_alone(error: BaseException | None) -> None:
    """One that returns something else, or whose own call was cancelled; the other metric's score is written."""

    class Forgetful(Judge):
        name = "forgetful"

        async def evaluate(self, **given: Any) -> Any:
            if error is not None:
                raise error

    bench = Bench()
    evaluators = (bench.judge, Forgetful())
    pipeline = dataclasses.replace(bench.runtime.pipeline, evaluators=evaluators)
    exported, provider = Exported(), TracerProvider(shutdown_on_exit=False)
    runtime = dataclasses.replace(bench.runtime, pipeline=pipeline)
    provider.add_span_processor(RagSpanProcessor(batching(exported), runtime=runtime))
    with observed(provider):
        pass
    assert provider.force_flush()
    span = exported.one("answer")
    assert (attribute(span, STATUS), attribute(span, SCORE)) == ("evaluated", 1.0)
    assert attribute(span, "rag.evaluation.forgetful.reason_code") == "judge_error"


def test_an_evaluator_that_exits_does_not_end_the_worker() -> None:
    """SystemExit inside an evaluator is one failed trace; the next one is evaluated."""
    exported, bench = Exported(), Bench()
    bench.judge.error = SystemExit(3)
    provider, processor = provider_with(bench, Direct(exported))
    with observed(provider, "first"):
        pass
    assert processor.flush(10)
    bench.judge.error = None
    with observed(provider, "second"):
        pass
    assert processor.flush(10)
    assert attribute(exported.one("first"), STATUS) == "failed"
    assert attribute(exported.one("second"), SCORE) == 1.0


def test_disabled_passes_everything_untouched() -> None:
    """With enabled=False spans pass as they are."""
    exported = Exported()
    provider, _ = provider_with(Bench(settings={"enabled": False}), Direct(exported))
    with observed(provider):
        pass
    assert attribute(exported.one("answer"), STATUS) is None


class BrokenConvention:
    """A dialect that raises wherever it is asked."""

    name = "broken"

    def owns(self, scope: str, attributes: object) -> bool:
        raise RuntimeError("broken")

    retrieves = owns

    def read(self, spans: list[SpanRecord]) -> list[object]:
        raise RuntimeError("broken")


def test_an_error_of_ours_reaches_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """When our own code fails, the span passes unchanged and the application notices nothing."""
    monkeypatch.setenv(RAISE_ENV, "0")
    exported, bench = Exported(), Bench()
    object.__setattr__(bench.runtime.pipeline, "conventions", (BrokenConvention(),))
    provider, _ = provider_with(bench, Direct(exported))
    before = counters.get("internal_error.processor.on_end")
    with chain(provider):
        pass
    assert exported.names() == ["chain"]
    assert attribute(exported.one("chain"), STATUS) is None
    assert counters.get("internal_error.processor.on_end") == before + 1


def test_a_convention_that_fails_on_the_worker_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error while reading lets the span go instead of keeping it; unevaluated where no other convention reads it."""
    monkeypatch.setenv(RAISE_ENV, "0")
    exported, bench = Exported(), Bench()
    monkeypatch.setattr(BrokenConvention, "owns", lambda self, scope, attributes: False)
    monkeypatch.setattr(BrokenConvention, "retrieves", lambda self, scope, attributes: False)
    object.__setattr__(bench.runtime.pipeline, "conventions", (BrokenConvention(),))
    provider, processor = provider_with(bench, Direct(exported))
    with observed(provider):
        pass
    assert processor.flush(10)
    assert attribute(exported.one("answer"), STATUS) == "skipped"


def test_an_inner_processor_that_raises_starves_nobody() -> None:
    """What a processor behind us raises reaches neither the application nor its neighbours."""
    exported = Exported()

    class Raising(Direct):
        def on_start(self, span: object, parent_context: object = None) -> None:
            raise RuntimeError("theirs")

        def on_end(self, span: object) -> None:
            raise RuntimeError("theirs")

    provider, processor = provider_with(Bench(), Raising(exported), Direct(exported))
    with observed(provider):
        pass
    assert processor.flush(10)
    assert exported.names() == ["answer"]


def test_two_exporters_get_one_evaluation_and_one_copy_each() -> None:
    """N exporters: one hold, one evaluation, N releases of the same copy."""
    one, two, bench = Exported(), Exported(), Bench()
    provider, processor = provider_with(bench, batching(one), batching(two))
    with observed(provider):
        pass
    assert processor.flush(10)
    assert len(bench.judge.seen) == 1
    assert attribute(one.one("answer"), SCORE) == attribute(two.one("answer"), SCORE) == 1.0


def test_releases_race_but_one_wins() -> None:
    """Deadline, flush and worker at once: every span still leaves exactly once."""
    exported, bench = Exported(), Bench(settings={"hold": 0.001})
    provider, processor = provider_with(bench, Direct(exported))
    stop = threading.Event()

    def flush() -> None:
        while not stop.is_set():
            processor.flush(0.01, evaluate=False)

    flusher = threading.Thread(target=flush)
    flusher.start()
    for n in range(200):
        with observed(provider, f"answer {n}"):
            pass
    assert processor.wait_until_evaluated(30)
    stop.set()
    flusher.join(30)
    processor.flush(10)
    assert sorted(exported.names()) == sorted(f"answer {n}" for n in range(200))
