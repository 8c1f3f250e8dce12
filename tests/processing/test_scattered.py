"""What ends beside or after the span that is judged: streams left early, search functions, retrievals side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.sdk.trace import Span

from rag_otel import semconv
from rag_otel.processing import trace_reading
from rag_otel.safety.guard import counters
from testkit.polling import eventually
from tests.processing.kit import REASON, Bench, attribute, chain, observed, retrieve
from tests.processing.test_candidates import TEXT, Run

OI = "openinference.instrumentation.openai"
QUESTION = "What does the moon orbit?"
ANSWER = "The moon orbits the earth."


@contextmanager
def model_call(
    run: Run, name: str = "call", *, told: str = f"{TEXT} {QUESTION}", wrote: str = ANSWER
) -> Iterator[Span]:
    """A model's span, as OpenInference instrumentations make it."""
    with run.provider.get_tracer(OI).start_as_current_span(name) as span:
        span.set_attribute(semconv.SPAN_KIND, semconv.KIND_LLM)
        span.set_attribute("llm.input_messages.0.message.role", "user")
        span.set_attribute("llm.input_messages.0.message.content", told)
        yield span  # type: ignore[misc]
        span.set_attribute("llm.output_messages.0.message.role", "assistant")
        span.set_attribute("llm.output_messages.0.message.content", wrote)


def open_stream(run: Run) -> Span:
    """The span of a model whose stream has not been read."""
    kind = {semconv.SPAN_KIND: semconv.KIND_LLM}
    return run.provider.get_tracer(OI).start_span("call", attributes=kind)  # type: ignore[return-value]


def read_to_its_end(stream: Span, wrote: str = ANSWER) -> None:
    stream.set_attribute("llm.output_messages.0.message.role", "assistant")
    stream.set_attribute("llm.output_messages.0.message.content", wrote)
    stream.end()


@contextmanager
def web(run: Run, name: str = "GET /ask") -> Iterator[Span]:
    """A span of nobody's dialect."""
    with run.provider.get_tracer("web").start_as_current_span(name) as span:
        yield span  # type: ignore[misc]


# --- after ------------------------------------------------------------------------------------------------------------


def test_a_stream_that_its_reader_left_is_not_judged() -> None:
    """The chain ends with what was read of the answer; the model's span, with all of it, only after that."""
    run = Run()
    with chain(run.provider):
        retrieve(run.provider, TEXT)
        stream = open_stream(run)
    read_to_its_end(stream, wrote=f"{ANSWER} And the earth orbits the sun.")
    assert run.statuses() == {"retrieve": None, "call": None, "chain": "skipped"}
    assert attribute(run.exported.one("chain"), REASON) == "incomplete"


def test_a_stream_is_waited_for() -> None:
    """A query engine returns a stream and ends: the answer is on the model's span, which ends with its reader."""
    run = Run()
    with chain(run.provider):
        retrieve(run.provider, TEXT)
        stream = open_stream(run)
    assert run.exported.names() == ["retrieve"]
    read_to_its_end(stream)
    assert run.statuses() == {"retrieve": None, "call": None, "chain": "evaluated"}


def test_streams_that_are_waited_for_hold_up_nobody() -> None:
    """More streams than the worker's places are open: other answers are judged all the same."""
    run = Run()
    streams = []
    for _ in range(20):
        with chain(run.provider, "streaming"):
            retrieve(run.provider, TEXT)
            streams.append(open_stream(run))
    with observed(run.provider):
        pass
    assert eventually(lambda: "answer" in run.exported.names())
    assert "streaming" not in run.exported.names()
    for stream in streams:
        read_to_its_end(stream)
    assert run.statuses()["streaming"] == "evaluated"
    assert run.exported.names().count("streaming") == 20


def test_a_stream_that_nobody_reads_is_not_judged() -> None:
    """After the time of an evaluation a model's span is waited for no longer, and what was said so far is no answer."""
    run = Run(Bench(settings={"evaluation_timeout": 0.05}))
    with chain(run.provider):
        retrieve(run.provider, TEXT)
        open_stream(run)
    assert run.statuses() == {"retrieve": None, "chain": "skipped"}
    assert attribute(run.exported.one("chain"), REASON) == "incomplete"


def test_spans_that_never_end_are_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A span that was left open below costs its deadline, then the answer is judged with what there is."""
    monkeypatch.setattr(trace_reading, "_LATE_S", 0.05)
    run = Run()
    with chain(run.provider):
        retrieve(run.provider, TEXT)
        run.provider.get_tracer(OI).start_span("leaked")
    assert run.statuses() == {"retrieve": None, "chain": "evaluated"}


def test_open_spans_of_others_are_not_waited_for() -> None:
    """A task of the application that goes on in the background has nothing to tell."""
    run = Run()
    with chain(run.provider):
        retrieve(run.provider, TEXT)
        background = run.provider.get_tracer("app").start_span("background")
    assert run.statuses() == {"retrieve": None, "chain": "evaluated"}
    background.end()


# --- observed search functions ----------------------------------------------------------------------------------------


def test_an_observed_search_is_the_retrieval_of_the_call_around_it() -> None:
    """The answer is judged by what the search function returned; the search is no question of its own."""
    run = Run()
    with observed(run.provider, "answer", chunks=None), observed(run.provider, "search", response=None) as search:
        search.set_attribute(f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}", TEXT)
    assert run.statuses() == {"search": None, "answer": "evaluated"}
    assert [chunk.text for chunk in run.bench.judge.seen[0]["chunks"]] == [TEXT]


def test_an_observed_search_alone_has_no_answer() -> None:
    """With no call around it, it is seen and says what is missing."""
    run = Run()
    with observed(run.provider, "search", response=None):
        pass
    assert run.statuses() == {"search": "skipped"}
    assert attribute(run.exported.one("search"), REASON) == "no_response"


# --- side by side -----------------------------------------------------------------------------------------------------


def test_a_retrieval_and_a_call_side_by_side_are_one_question() -> None:
    """Under a web server's span, with no chain around them: the call is judged by what was retrieved beside it."""
    run = Run()
    with web(run):
        retrieve(run.provider, TEXT)
        with model_call(run):
            pass
    assert run.statuses() == {"retrieve": None, "call": "evaluated", "GET /ask": None}
    (seen,) = run.bench.judge.seen
    assert ([chunk.text for chunk in seen["chunks"]], seen["question"], seen["response"]) == ([TEXT], QUESTION, ANSWER)


def test_several_questions_side_by_side() -> None:
    """Each retrieval begins the next question, under a span that goes on."""
    run = Run()
    with web(run, "worker"):
        for number in range(3):
            retrieve(run.provider, f"{TEXT} ({number})", name=f"retrieve {number}")
            with model_call(run, f"call {number}", told=f"{TEXT} ({number}) {QUESTION}"):
                pass
        statuses = run.statuses()
    assert [statuses[f"call {number}"] for number in range(3)] == ["evaluated"] * 3
    assert sorted(chunk.text for seen in run.bench.judge.seen for chunk in seen["chunks"]) == [
        f"{TEXT} ({number})" for number in range(3)
    ]


def test_the_last_call_is_the_answer() -> None:
    """A call that grades the documents comes before the one that answers."""
    run = Run()
    with web(run):
        retrieve(run.provider, TEXT)
        with model_call(run, "grade", told=f"Is this relevant? {TEXT}", wrote="yes"):
            pass
        with model_call(run, "answer"):
            pass
    assert run.statuses() == {"retrieve": None, "grade": "skipped", "answer": "evaluated", "GET /ask": None}


def test_a_call_that_was_told_nothing_of_the_retrieval() -> None:
    """A model that did something else is not taken for the answer."""
    run = Run()
    with web(run):
        retrieve(run.provider, TEXT)
        with model_call(run, told="Write a poem."):
            pass
    assert run.statuses() == {"retrieve": None, "call": "skipped", "GET /ask": None}


def test_a_retrieval_that_nobody_used_is_counted() -> None:
    """A search endpoint answers with documents: nothing to judge, and nothing is written on its spans."""
    run, before = Run(), counters.get("retrieval.unanswered")
    with web(run):
        retrieve(run.provider, TEXT)
    assert run.statuses() == {"retrieve": None, "GET /ask": None}
    assert counters.get("retrieval.unanswered") == before + 1


def test_a_span_that_is_known_for_a_chain_at_its_end() -> None:
    """A hand-made span that gets its kind last still has the retrieval below it."""
    run = Run()
    with run.provider.get_tracer("mine").start_as_current_span("pipeline") as span:
        retrieve(run.provider, TEXT)
        span.set_attribute(semconv.SPAN_KIND, semconv.KIND_CHAIN)
        span.set_attribute(semconv.INPUT_VALUE, QUESTION)
        span.set_attribute(semconv.OUTPUT_VALUE, ANSWER)
    assert run.statuses() == {"retrieve": None, "pipeline": "evaluated"}


def test_nothing_is_kept_of_a_turn_that_is_over() -> None:
    """When the span around them has ended nothing is remembered of what stood side by side."""
    run = Run()
    with web(run):
        retrieve(run.provider, TEXT)
        with model_call(run):
            pass
        retrieve(run.provider, TEXT)
    run.statuses()
    assert run.processor._tracker._bytes == 0
    assert run.processor._tracker._open == {}
