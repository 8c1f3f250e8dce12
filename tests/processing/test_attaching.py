"""Getting before a provider's exporters, following what is added later, and undoing it."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from opentelemetry.sdk.trace import ConcurrentMultiSpanProcessor, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

import rag_otel
from rag_otel.model import EvaluationStatus
from rag_otel.processing import attach as attach_module
from rag_otel.processing.attach import attach
from rag_otel.processing.processor import RagSpanProcessor
from rag_otel.writers.evaluation_span import EvaluationSpanWriter
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.processing.kit import SCORE, STATUS, Bench, Direct, Exported, Judge, attribute, batching, observed


def processors_of(provider: TracerProvider) -> tuple[SpanProcessor, ...]:
    """What the SDK calls for every span."""
    return provider._active_span_processor._span_processors


def plain_provider(*processors: SpanProcessor) -> TracerProvider:
    """A provider with these processors."""
    provider = TracerProvider(shutdown_on_exit=False)
    for processor in processors:
        provider.add_span_processor(processor)
    return provider


class OnStart(SpanProcessor):
    """Only looks at starts, as a baggage processor does."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        span.set_attribute("tenant", "t1")


def test_every_exporter_behind_one_hold() -> None:
    """All exporting processors go behind one of ours, in order; those that only look at starts stay."""
    one, two, start = batching(Exported()), batching(Exported()), OnStart()
    provider = plain_provider(one, start, two)
    attachment = attach(provider, Bench().runtime)
    assert processors_of(provider) == (attachment.processor, start)
    assert attachment.processor.next == (one, two)


def test_scores_reach_every_exporter_once() -> None:
    """One evaluation; each exporter gets the scored span once, with what the start processor set."""
    one, two, bench = Exported(), Exported(), Bench()
    provider = plain_provider(batching(one), OnStart(), batching(two))
    attach(provider, bench.runtime)
    with observed(provider):
        pass
    assert provider.force_flush()
    for exported in (one, two):
        assert attribute(exported.one("answer"), SCORE) == 1.0
        assert attribute(exported.one("answer"), "tenant") == "t1"
    assert len(bench.judge.seen) == 1


def test_twice_is_once() -> None:
    """Attaching again, as a re-run notebook cell does, gives the attachment that is there."""
    exported = Exported()
    provider, bench = plain_provider(batching(exported)), Bench()
    first = attach(provider, bench.runtime)
    assert attach(provider, bench.runtime) is first
    with observed(provider):
        pass
    assert provider.force_flush()
    assert exported.names() == ["answer"]


def test_detach_restores_what_was_there() -> None:
    """After detaching, the provider has its own processors in their order and its own add_span_processor again."""
    exported = Exported()
    provider = plain_provider(batching(exported), OnStart(), batching(Exported()))
    before = processors_of(provider)
    bench = Bench()
    bench.judge.gate.clear()
    attachment = attach(provider, bench.runtime)
    with observed(provider, "held"):
        pass
    attachment.detach(0.2)
    attachment.detach(0.2)
    assert processors_of(provider) == before
    assert "add_span_processor" not in vars(provider)
    assert "add_span_processor" not in vars(provider._active_span_processor)
    with observed(provider, "after"):
        pass
    assert provider.force_flush()
    assert exported.names() == ["held", "after"]
    assert attribute(exported.one("held"), STATUS) == "late"
    assert attribute(exported.one("after"), STATUS) is None
    bench.judge.gate.set()


def test_attach_after_detach() -> None:
    """Instrument, uninstrument, instrument: scores are written again."""
    exported, bench = Exported(), Bench()
    provider = plain_provider(batching(exported))
    attach(provider, bench.runtime).detach()
    attach(provider, bench.runtime)
    with observed(provider):
        pass
    assert provider.force_flush()
    assert attribute(exported.one("answer"), SCORE) == 1.0


@pytest.mark.parametrize("directly", [False, True])
def test_a_processor_added_later_is_wrapped_too(directly: bool) -> None:
    """What the application adds after attaching gets the scored span, once, as well."""
    one, two, bench = Exported(), Exported(), Bench()
    provider = plain_provider(batching(one))
    attach(provider, bench.runtime)
    later = batching(two)
    (provider._active_span_processor if directly else provider).add_span_processor(later)
    with observed(provider):
        pass
    assert provider.force_flush()
    for exported in (one, two):
        assert attribute(exported.one("answer"), SCORE) == 1.0


def test_detach_keeps_what_was_added_meanwhile() -> None:
    """A processor that came after attaching stays when we go."""
    first, later = batching(Exported()), batching(Exported())
    provider = plain_provider(first)
    attachment = attach(provider, Bench().runtime)
    provider.add_span_processor(later)
    attachment.detach()
    assert processors_of(provider) == (first, later)


def test_a_span_held_while_another_processor_comes_leaves_once() -> None:
    """A span that was held before a processor was added goes where it was going, and not to the newcomer twice."""
    one, two, bench = Exported(), Exported(), Bench()
    bench.judge.gate.clear()
    provider = plain_provider(batching(one))
    attach(provider, bench.runtime)
    with observed(provider):
        pass
    provider.add_span_processor(batching(two))
    bench.judge.gate.set()
    assert provider.force_flush()
    assert one.names() == ["answer"]
    assert two.names() == []


def test_concurrent_multi_span_processor() -> None:
    """A provider that calls its processors from a pool is attached to, followed and restored alike."""
    one, two, bench = Exported(), Exported(), Bench()
    provider = TracerProvider(active_span_processor=ConcurrentMultiSpanProcessor(2), shutdown_on_exit=False)
    provider.add_span_processor(batching(one))
    before = processors_of(provider)
    attachment = attach(provider, bench.runtime)
    provider.add_span_processor(batching(two))
    with observed(provider):
        pass
    assert provider.force_flush()
    for exported in (one, two):
        assert attribute(exported.one("answer"), SCORE) == 1.0
    attachment.detach()
    assert processors_of(provider)[:1] == before


def test_a_processor_that_the_application_added_itself() -> None:
    """The public way: RagSpanProcessor(exporter) on a provider, no private attribute of the SDK involved."""
    exported, bench = Exported(), Bench()
    provider = plain_provider(RagSpanProcessor(exported, runtime=bench.runtime))
    with observed(provider):
        pass
    assert provider.force_flush()
    assert attribute(exported.one("answer"), SCORE) == 1.0


def test_attaching_takes_over_a_processor_of_the_application() -> None:
    """A provider that has a RagSpanProcessor already gets no second one; its other exporters go behind it."""
    one, two, bench = Exported(), Exported(), Bench()
    rag, other = RagSpanProcessor(one, runtime=bench.runtime), batching(two)
    provider = plain_provider(rag, other)
    own = rag.next
    attachment = attach(provider, bench.runtime)
    assert processors_of(provider) == (rag,)
    with observed(provider):
        pass
    assert provider.force_flush()
    assert attribute(one.one("answer"), SCORE) == attribute(two.one("answer"), SCORE) == 1.0
    assert len(bench.judge.seen) == 1
    attachment.detach()
    assert processors_of(provider) == (rag, other)
    assert rag.next == own


def test_an_exporter_gets_a_batch_processor() -> None:
    """An exporter given as `next` is batched, a processor is taken as it is."""
    exporter, simple = Exported(), SimpleSpanProcessor(Exported())
    batch, same = RagSpanProcessor([exporter, simple], runtime=Bench().runtime).next
    assert isinstance(batch, BatchSpanProcessor)
    assert same is simple
    batch.shutdown()


@pytest.mark.usefixtures("uninstrumented")
def test_a_processor_without_a_runtime_uses_that_of_the_process() -> None:
    """RagSpanProcessor(exporter) evaluates with what `instrument()` has set up."""
    rag_otel.instrument(TracerProvider(), evaluators=[Judge()], metrics=[], evaluations_per_minute=60)
    provider = plain_provider(RagSpanProcessor(exported := Exported()))
    with observed(provider):
        pass
    assert provider.force_flush()
    assert attribute(exported.one("answer"), SCORE) == 1.0


def test_another_sdk_degrades_to_late_results(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the SDK's processors are not to be found, spans are exported unscored, with one warning, and the result
    follows on an evaluation span through the public interface."""
    exported = Exported()
    provider = plain_provider(batching(exported))
    monkeypatch.setattr(attach_module, "_processors", lambda provider: None)
    writer = EvaluationSpanWriter(emit=lambda span: attachment.emit(span), resource=lambda: attachment.resource)
    bench = Bench(writers=[writer])
    results = bench.results.all
    with caplog.at_level(logging.WARNING, "rag_otel"):
        attachment = attach(provider, bench.runtime)
        attach(provider, bench.runtime)
    assert attachment.degraded
    assert len(caplog.records) == 1
    assert "without scores" in caplog.text
    with observed(provider):
        pass
    eventually(lambda: results)
    assert results[0].status is EvaluationStatus.LATE
    assert bench.runtime.delivery.flush(10)
    assert provider.force_flush()
    answer, evaluation = exported.spans
    assert attribute(answer, STATUS) is None
    assert attribute(evaluation, SCORE) == 1.0
    assert evaluation.links[0].context.span_id == answer.context.span_id
    assert evaluation.parent is not None
    assert evaluation.parent.span_id == answer.context.span_id
    attachment.detach()
    with observed(provider, "after"):
        pass
    assert len(bench.judge.seen) == 1


def test_late_results_leave_on_an_evaluation_span() -> None:
    """A span of our own goes straight to the exporters and is not evaluated in turn."""
    exported = Exported()
    provider = plain_provider(Direct(exported))
    writer = EvaluationSpanWriter(emit=lambda span: attachment.emit(span), resource=lambda: attachment.resource)
    bench = Bench(writers=[writer], settings={"hold": 0.0})
    attachment = attach(provider, bench.runtime)
    with observed(provider):
        pass
    eventually(lambda: len(exported.spans) == 2)
    assert attribute(exported.spans[1], SCORE) == 1.0
    assert len(bench.judge.seen) == 1


@pytest.mark.parametrize("batch", [False, True])
def test_phoenix_register_before_attaching(batch: bool) -> None:
    """A provider made by phoenix.otel.register() is wrapped: its exporter sends the scored span, once."""
    from tests.support.phoenix_otel import register

    with http_receiver() as phoenix:
        provider = register(
            endpoint=f"{phoenix.url}/v1/traces", batch=batch, set_global_tracer_provider=False, verbose=False
        )
        bench = Bench()
        attach(provider, bench.runtime)
        with observed(provider):
            pass
        assert provider.force_flush()
        (request,) = phoenix.requests
        assert SCORE.encode() in request.body
        provider.shutdown()


def test_phoenix_drops_its_default_when_another_is_added() -> None:
    """phoenix.otel's add_span_processor shuts its default exporter down: after attaching too, and a span that was
    held for that exporter goes to the new one."""
    from tests.support.phoenix_otel import register

    exported, bench = Exported(), Bench()
    bench.judge.gate.clear()
    with http_receiver() as phoenix:
        provider = register(endpoint=f"{phoenix.url}/v1/traces", set_global_tracer_provider=False, verbose=False)
        attachment = attach(provider, bench.runtime)
        (default,) = attachment.processor.next
        with observed(provider, "held before"):
            pass
        mine = batching(exported)
        provider.add_span_processor(mine)
        assert attachment.processor.next == (mine,)
        with observed(provider, "after"):
            pass
        bench.judge.gate.set()
        assert provider.force_flush()
        assert sorted(exported.names()) == ["after", "held before"]
        assert phoenix.requests == []
        provider.add_span_processor(default, replace_default_processor=False)
        assert attachment.processor.next == (mine, default)
        provider.shutdown()


def test_phoenix_registered_after_another_provider() -> None:
    """Registering Phoenix later makes a provider of its own; attaching to it as well evaluates there, once each."""
    from tests.support.phoenix_otel import register

    exported, bench = Exported(), Bench()
    first = plain_provider(batching(exported))
    attach(first, bench.runtime)
    with http_receiver() as phoenix:
        second = register(endpoint=f"{phoenix.url}/v1/traces", set_global_tracer_provider=False, verbose=False)
        attach(second, bench.runtime)
        with observed(second):
            pass
        with observed(first):
            pass
        assert second.force_flush()
        assert first.force_flush()
        assert len(phoenix.requests) == 1
        assert attribute(exported.one("answer"), SCORE) == 1.0
        second.shutdown()
