"""Which span of a trace is evaluated: entries, nested calls, what belongs to whom."""

from __future__ import annotations

from typing import Any

from opentelemetry import context as context_api
from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from rag_otel import semconv
from rag_otel.observing.call_snapshot import OBSERVATION_KEY
from rag_otel.processing import span_tracker
from rag_otel.processing.processor import RagSpanProcessor
from rag_otel.safety.guard import counters
from rag_otel.safety.tracing_suppression import suppressed
from tests.processing.kit import REASON, STATUS, Bench, Direct, Exported, attribute, chain, observed, retrieve, tracer

TEXT = "The moon orbits the earth once a month."


class Run:
    """A provider under evaluation, and the statuses of what it exported."""

    def __init__(self, bench: Bench | None = None) -> None:
        self.bench = bench or Bench()
        self.exported = Exported()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.processor = RagSpanProcessor(Direct(self.exported), runtime=self.bench.runtime)
        self.provider.add_span_processor(self.processor)

    def statuses(self) -> dict[str, Any]:
        """Span name -> status, of all that has left; None where it has none."""
        assert self.processor.flush(10)
        return {span.name: attribute(span, STATUS) for span in self.exported.spans}


def test_a_nested_call_with_chunks_is_the_one_evaluated() -> None:
    """The call that has the chunks is the target; the one around it, with none of its own, is left alone."""
    run = Run()
    with observed(run.provider, "outer", chunks=None), observed(run.provider, "inner"):
        pass
    assert run.statuses() == {"inner": "evaluated", "outer": None}


def test_both_calls_with_chunks_are_evaluated() -> None:
    """Chunks of its own make every observed call a target."""
    run = Run()
    with observed(run.provider, "outer"), observed(run.provider, "inner"):
        pass
    assert run.statuses() == {"inner": "evaluated", "outer": "evaluated"}


def _search(run: Run, name: str) -> None:
    """A decorated search function: it returns documents and no answer."""
    with observed(run.provider, name, response=None, chunks=(TEXT,)) as span:
        span.set_attribute(f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}", TEXT)


def test_an_observed_search_is_a_retrieval_of_the_call_around_it() -> None:
    """Inside another call it is no target, and its documents are that call's chunks; alone it says what is missing."""
    run = Run()
    with observed(run.provider, "outer", chunks=None):
        _search(run, "inner")
    _search(run, "alone")
    assert run.statuses() == {"inner": None, "outer": "evaluated", "alone": "skipped"}
    assert [chunk.text for chunk in run.bench.judge.seen[0]["chunks"]] == [TEXT]


def test_a_nested_helper_is_no_target() -> None:
    """An observed helper without chunks inside a call that retrieves is not evaluated; the call is."""
    run = Run()
    with observed(run.provider, "outer", chunks=None):
        with observed(run.provider, "rewrite", chunks=None):
            pass
        retrieve(run.provider, TEXT)
    assert run.statuses() == {"rewrite": None, "retrieve": None, "outer": "evaluated"}


def test_a_retrieval_belongs_to_the_innermost_call() -> None:
    """What an inner call retrieved is not evidence of the outer one's answer."""
    run = Run()
    with observed(run.provider, "outer", chunks=None), observed(run.provider, "inner", chunks=None):
        retrieve(run.provider, TEXT)
    assert run.statuses() == {"retrieve": None, "inner": "evaluated", "outer": None}


def test_a_framework_inside_an_observed_call_gives_its_chunks() -> None:
    """Instrumented retrieval below the decorator: the decorated call is the target, with the retriever's chunks."""
    run = Run()
    with (
        observed(run.provider, "answer", chunks=None),
        tracer(run.provider).start_as_current_span("own step"),
        chain(run.provider),
    ):
        retrieve(run.provider, TEXT)
    assert run.statuses() == {"retrieve": None, "chain": None, "own step": None, "answer": "evaluated"}
    assert [chunk.text for chunk in run.bench.judge.seen[0]["chunks"]] == [TEXT]


def test_an_unowned_parent_does_not_hide_the_entry() -> None:
    """Below a web server's span the framework's topmost span is the entry."""
    run = Run()
    with run.provider.get_tracer("web").start_as_current_span("GET /ask"), chain(run.provider):
        retrieve(run.provider, TEXT)
    assert run.statuses() == {"retrieve": None, "chain": "evaluated", "GET /ask": None}


def test_a_remote_parent_does_not_hide_the_entry() -> None:
    """A parent in another process may be anything: the topmost span in this one is the entry."""
    run = Run()
    remote = SpanContext(0xA1, 0xB2, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    token = context_api.attach(trace_api.set_span_in_context(NonRecordingSpan(remote)))
    with chain(run.provider):
        retrieve(run.provider, TEXT)
    context_api.detach(token)
    assert run.statuses() == {"retrieve": None, "chain": "evaluated"}


def test_a_kind_that_is_set_late_is_seen() -> None:
    """A hand-made span that gets its kind after its child has ended is still known as the entry above it."""
    run = Run()
    with run.provider.get_tracer("mine").start_as_current_span("pipeline") as span:
        with run.provider.get_tracer("mine").start_as_current_span("step"):
            pass
        span.set_attribute(semconv.SPAN_KIND, semconv.KIND_CHAIN)
        span.set_attribute(semconv.INPUT_VALUE, "What does the moon orbit?")
        retrieve(run.provider, TEXT)
        span.set_attribute(semconv.OUTPUT_VALUE, "The earth.")
    assert run.statuses() == {"step": None, "retrieve": None, "pipeline": "evaluated"}


def test_a_retrieval_alone_says_that_there_is_no_answer() -> None:
    """A retriever without anything around it is seen, and says why it cannot be evaluated."""
    run = Run()
    retrieve(run.provider, TEXT)
    assert run.statuses() == {"retrieve": "skipped"}
    assert attribute(run.exported.one("retrieve"), REASON) == "no_response"


def test_evaluator_spans_are_never_evaluated() -> None:
    """A span of kind EVALUATOR is a judge's, whatever is retrieved below it."""
    run = Run()
    with run.provider.get_tracer("judge").start_as_current_span("judge") as span:
        span.set_attribute(semconv.SPAN_KIND, semconv.KIND_EVALUATOR)
        retrieve(run.provider, TEXT)
        with chain(run.provider, "step"):
            retrieve(run.provider, TEXT, name="search")
    assert run.statuses() == {"retrieve": None, "search": None, "step": None, "judge": None}


def test_traffic_of_ours_is_not_traced() -> None:
    """Spans made under suppression do not leave, even where the sampler ignores its unsampled parent."""
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    run = Run()
    run.provider.sampler = ALWAYS_ON
    with suppressed():
        with chain(run.provider):
            retrieve(run.provider, TEXT)
        with tracer(run.provider).start_as_current_span("new root", context=context_api.Context()):
            retrieve(run.provider, TEXT)
    with tracer(run.provider).start_as_current_span("theirs"):
        pass
    assert run.statuses() == {"theirs": None}


def test_unsampled_spans_are_not_evaluated() -> None:
    """A span that is recorded but not exported is not worth a judge."""
    from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult

    class RecordOnly(Sampler):
        def should_sample(self, *args: Any, **kwargs: Any) -> SamplingResult:
            return SamplingResult(Decision.RECORD_ONLY)

        def get_description(self) -> str:
            return "record only"

    run = Run()
    run.provider.sampler = RecordOnly()
    with observed(run.provider):
        pass
    assert run.statuses() == {"answer": None}
    assert run.bench.judge.seen == []


def test_too_many_spans_below_an_entry_are_not_judged_by_halves() -> None:
    """Where not all spans of a trace could be kept, chunks may be missing: it is skipped as truncated."""
    run = Run()
    with chain(run.provider):
        retrieve(run.provider, TEXT)
        for _ in range(span_tracker.MAX_SPANS_BELOW):
            with tracer(run.provider).start_as_current_span("step"):
                pass
    assert run.statuses()["chain"] == "skipped"
    assert attribute(run.exported.one("chain"), REASON) == "truncated"


def test_open_spans_are_bounded() -> None:
    """Spans that are never ended push out the oldest, not the process's memory; what still ends still leaves."""
    run = Run()
    run.processor._tracker._max_open = 100
    before = counters.get("spans.forgotten")
    leaked = [tracer(run.provider).start_span(f"leaked {n}") for n in range(150)]
    with observed(run.provider):
        pass
    leaked[0].end()
    assert run.statuses() == {"answer": "evaluated", "leaked 0": None}
    assert counters.get("spans.forgotten") == before + 51


def test_nothing_is_kept_of_a_finished_trace() -> None:
    """When all spans have ended nothing is remembered of them."""
    run = Run()
    for _ in range(3):
        with observed(run.provider, chunks=None), chain(run.provider):
            retrieve(run.provider, TEXT)
    assert run.processor.wait_until_evaluated(10)
    assert run.processor._tracker._open == {}
    assert run.processor._tracker._bytes == 0
    assert run.processor._held.hold._unfinished == {}
    assert run.processor._held.hold._bytes == 0


def test_a_span_that_started_before_us_passes() -> None:
    """A span that was open when the processor came is exported as ever."""
    exported, bench = Exported(), Bench()
    provider = TracerProvider(shutdown_on_exit=False)
    early = tracer(provider).start_span("early")
    provider.add_span_processor(RagSpanProcessor(Direct(exported), runtime=bench.runtime))
    early.end()
    assert exported.names() == ["early"]


def test_an_observed_call_hears_that_its_documents_stand_elsewhere() -> None:
    """A nested retriever span with text tells the observed call around it not to repeat the documents."""

    class Call:
        documents_elsewhere = False
        outer = None

    run, call = Run(), Call()
    token = context_api.attach(context_api.set_value(OBSERVATION_KEY, call))
    with chain(run.provider):
        retrieve(run.provider)
        assert not call.documents_elsewhere
        retrieve(run.provider, TEXT, name="with text")
    context_api.detach(token)
    assert call.documents_elsewhere
