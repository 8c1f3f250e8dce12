"""`@observe` on every kind of function: one span per call, and the function's behaviour does not change."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import pickle
import threading
from collections.abc import Coroutine
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.trace import StatusCode

from rag_otel import observe, record_chunks, semconv
from rag_otel.errors import ConfigurationError
from rag_otel.observing.call import Call
from rag_otel.observing.call_snapshot import documents_written
from rag_otel.safety.guard import RAISE_ENV, counters
from tests.observing.conftest import Recorder


def test_one_span_of_kind_chain_holds_question_response_and_documents(recorder: Recorder) -> None:
    """The span has the name of the function and OpenInference attributes."""

    @observe
    def answer(question: str) -> dict[str, Any]:
        return {"answer": "In Ulm.", "documents": [{"id": "d1", "text": "Born in Ulm.", "score": 0.5}, "Elsewhere."]}

    answer("Where was he born?")

    assert recorder.span.name == "answer"
    assert dict(recorder.span.attributes or {}) == {
        "openinference.span.kind": "CHAIN",
        "input.value": "Where was he born?",
        "output.value": "In Ulm.",
        "retrieval.documents.0.document.content": "Born in Ulm.",
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.score": 0.5,
        "retrieval.documents.1.document.content": "Elsewhere.",
    }
    assert recorder.span.instrumentation_scope is not None
    assert recorder.span.instrumentation_scope.name == semconv.SCOPE
    assert recorder.span.status.status_code is StatusCode.UNSET


def test_the_function_stays_what_it_was(recorder: Recorder) -> None:
    """Name, docstring, signature, attributes and the kind of function are kept."""

    @observe(name="another name")
    def answer(question: str, *, k: int = 3) -> str:
        """Answers."""
        return question * k

    assert (answer.__name__, answer.__doc__) == ("answer", "Answers.")
    assert str(inspect.signature(answer)) == "(question: 'str', *, k: 'int' = 3) -> 'str'"
    assert answer("a", k=2) == "aa"
    assert recorder.span.name == "another name"

    @observe
    async def coroutine(question: str) -> str:
        return question

    @observe
    def generator(question: str) -> Any:
        yield question

    @observe
    async def async_generator(question: str) -> Any:
        yield question

    assert inspect.iscoroutinefunction(coroutine)
    assert inspect.isgeneratorfunction(generator)
    assert inspect.isasyncgenfunction(async_generator)
    assert pickle.loads(pickle.dumps(_module_level)) is _module_level


@observe
def _module_level(question: str) -> str:
    return question


def test_methods_of_every_kind(recorder: Recorder) -> None:
    """On methods, class methods and static methods, above or below the other decorator."""

    class Bot:
        name = "bot"

        @observe
        def ask(self, question: str) -> str:
            return f"{self.name}: {question}"

        @observe
        @classmethod
        def above(cls, question: str) -> str:
            return f"{cls.name}: {question}"

        @classmethod
        @observe
        def below(cls, question: str) -> str:
            return f"{cls.name}: {question}"

        @observe
        @staticmethod
        def static(question: str) -> str:
            return question

    for call in (Bot().ask, Bot.above, Bot.below, Bot().static):
        call("why")
    assert [span.name for span in recorder.spans] == ["Bot.ask", "Bot.above", "Bot.below", "Bot.static"]
    assert [taken and taken.question for taken in recorder.snapshots] == ["why"] * 4
    assert [taken and taken.response for taken in recorder.snapshots] == ["bot: why"] * 3 + ["why"]


def test_things_that_are_called_but_are_no_functions(recorder: Recorder) -> None:
    """A partial, an object with `__call__`, and a plain function that returns a coroutine."""

    def base(prefix: str, question: str) -> str:
        return prefix + question

    class Callable:
        def __call__(self, question: str) -> str:
            return question.upper()

    async def coroutine(question: str) -> str:
        record_chunks(["inside"])
        return question + "!"

    @observe
    def returns_a_coroutine(question: str) -> Coroutine[Any, Any, str]:
        return coroutine(question)

    assert observe(functools.partial(base, "> "))(question="why") == "> why"
    assert observe(Callable())("why") == "WHY"
    assert asyncio.run(returns_a_coroutine("why")) == "why!"
    assert [taken and taken.response for taken in recorder.snapshots] == ["> why", "WHY", "why!"]
    last = recorder.snapshots[-1]
    assert last is not None
    assert [chunk.text for chunk in last.chunks or ()] == ["inside"]
    assert recorder.spans[-1].name == "returns_a_coroutine"


def test_what_cannot_be_decorated_is_refused() -> None:
    """Decorating a class or a value is an error at once, not at the first call."""
    with pytest.raises(ConfigurationError, match="goes on a function"):
        observe(dict)
    with pytest.raises(ConfigurationError, match="goes on a function"):
        observe(42)  # type: ignore[call-overload]


@pytest.mark.parametrize("is_async", [False, True])
def test_exceptions_pass_through_and_mark_the_span(recorder: Recorder, is_async: bool) -> None:
    """The caller gets the same exception object. The span has status ERROR and the exception event."""
    thrown = ValueError("the index is away")

    @observe
    def fails(question: str) -> str:
        raise thrown

    @observe
    async def fails_later(question: str) -> str:
        raise thrown

    with pytest.raises(ValueError, match="the index is away") as caught:
        asyncio.run(fails_later("why")) if is_async else fails("why")

    assert caught.value is thrown
    assert thrown.__context__ is None
    assert recorder.span.status.status_code is StatusCode.ERROR
    assert recorder.span.status.description == "ValueError: the index is away"
    assert [event.name for event in recorder.span.events] == ["exception"]
    assert (recorder.taken.failed, recorder.taken.incomplete) == (True, False)
    assert recorder.taken.question == "why"


def test_cancellation_is_incomplete_not_an_error(recorder: Recorder) -> None:
    """If a client disconnects, the task is cancelled: the span is incomplete, without an error."""
    started = asyncio.Event()

    @observe
    async def slow(question: str) -> str:
        started.set()
        await asyncio.Event().wait()
        return "never"

    async def main() -> None:
        task = asyncio.create_task(slow("why"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert recorder.span.status.status_code is StatusCode.UNSET
    assert recorder.attribute(semconv.INCOMPLETE) is True
    assert (recorder.taken.failed, recorder.taken.incomplete) == (False, True)


def test_spans_of_called_code_are_children_and_nothing_leaks(recorder: Recorder) -> None:
    """The span is current inside the call. After the call the context is restored."""
    tracer = recorder.provider.get_tracer("app")

    @observe
    def inner(question: str) -> str:
        with tracer.start_as_current_span("llm"):
            return question

    @observe
    def outer(question: str) -> str:
        return inner(question)

    with tracer.start_as_current_span("request") as request:
        outer("why")
        assert trace.get_current_span() is request
    by_name = {span.name: span for span in recorder.spans}
    parents = {name: span.parent and span.parent.span_id for name, span in by_name.items()}
    assert parents == {
        "llm": by_name["inner"].context.span_id,
        "inner": by_name["outer"].context.span_id,
        "outer": request.get_span_context().span_id,
        "request": None,
    }


def test_calls_side_by_side_do_not_mix(recorder: Recorder) -> None:
    """Parallel tasks and threads each keep their own documents."""
    barrier = threading.Barrier(4)

    @observe
    async def in_task(question: str) -> str:
        await asyncio.sleep(0)
        record_chunks([f"about {question}"])
        await asyncio.sleep(0)
        return question

    @observe
    def in_thread(question: str) -> str:
        barrier.wait(60)
        record_chunks([f"about {question}"])
        barrier.wait(60)
        return question

    async def main() -> None:
        await asyncio.gather(*(in_task(f"task {i}") for i in range(20)))
        await asyncio.gather(*(asyncio.to_thread(in_thread, f"thread {i}") for i in range(4)))

    asyncio.run(main())
    for taken in recorder.snapshots:
        assert taken is not None
        assert [chunk.text for chunk in taken.chunks or ()] == [f"about {taken.question}"]
    assert len(recorder.snapshots) == 24


@pytest.mark.parametrize(
    ("elsewhere", "repeated"), [(["a", "b"], False), (["a", "b", "c"], True), (["b", "a"], True), ([], True)]
)
def test_documents_that_a_nested_span_carries_are_not_repeated(
    recorder: Recorder, elsewhere: list[str], repeated: bool
) -> None:
    """The very same ones stay with the retriever's span; others, such as the best of them, are written here.
    The snapshot has them in any case, and later calls are not affected."""

    @observe
    def inner(question: str) -> dict[str, Any]:
        if elsewhere:  # what the processor says when a retriever span ends
            keys = (f"retrieval.documents.{i}.document.content" for i in range(len(elsewhere)))
            documents_written(dict(zip(keys, elsewhere, strict=True)))
        return {"answer": "yes", "documents": ["a", "b"]}

    @observe
    def outer(question: str) -> dict[str, Any]:
        return inner(question)

    @observe
    def after(question: str) -> dict[str, Any]:
        return {"answer": "yes", "documents": ["a", "b"]}

    outer("why")
    after("why")
    written = [f"{span.name}:{'retrieval.documents.1.document.content' in span.attributes}" for span in recorder.spans]  # type: ignore[operator]
    assert written == [f"inner:{repeated}", f"outer:{repeated}", "after:True"]
    assert [len(taken.chunks or ()) for taken in recorder.snapshots if taken] == [2, 2, 2]


def test_a_call_leaves_no_garbage(recorder: Recorder) -> None:
    """A call creates no reference cycle, so it adds no work to the garbage collector."""

    @observe
    def answer(question: str) -> dict[str, Any]:
        return {"answer": "yes", "documents": ["a"]}

    @observe
    def stream(question: str) -> Any:
        yield "yes"

    gc.collect()
    gc.disable()
    try:
        answer("why")
        list(stream("why"))
        left = [each for each in gc.get_objects() if isinstance(each, Call)]
    finally:
        gc.enable()
    assert left == []


@pytest.mark.parametrize(("count", "omitted"), [(40, 0), (61, 0), (62, 1), (200, 139)])
def test_what_does_not_fit_the_attribute_limit_is_left_out_and_counted(
    recorder: Recorder, caplog: pytest.LogCaptureFixture, count: int, omitted: int
) -> None:
    """The SDK's default of 128 attributes: question, answer and the first documents are there, nothing is evicted,
    nothing is warned of, and the snapshot has all documents."""

    @observe
    def answer(question: str) -> dict[str, Any]:
        trace.get_current_span().set_attribute("the application's own", 1)
        return {"answer": "yes", "documents": [{"id": f"d{i}", "text": f"passage {i}"} for i in range(count)]}

    answer("why")
    attributes = recorder.span.attributes or {}
    assert (recorder.span.dropped_attributes, caplog.records) == (0, [])
    assert (attributes["input.value"], attributes["output.value"]) == ("why", "yes")
    assert attributes.get(semconv.OMITTED_DOCUMENTS, 0) == omitted
    written = [key for key in attributes if key.endswith(".document.content")]
    assert written == [f"retrieval.documents.{i}.document.content" for i in range(count - omitted)]
    assert recorder.taken.chunks is not None
    assert len(recorder.taken.chunks) == count


def test_a_lone_surrogate_cannot_break_the_export(recorder: Recorder) -> None:
    """Characters that UTF-8 cannot encode are replaced one by one, because one would fail a whole batch of spans."""
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    @observe
    def answer(question: str) -> dict[str, Any]:
        return {"answer": "a\ud800b", "documents": ["c\udfffd", {"text": "é\ud800"}]}

    answer("q\ud800")
    assert encode_spans(recorder.spans).SerializeToString()
    assert recorder.taken.question == "q?"
    assert recorder.taken.response == "a?b"
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["c?d", "é?"]


class _Hostile:
    """An object whose every property raises."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        raise RuntimeError(f"no {name} for you")


def test_nothing_of_ours_reaches_the_caller(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects that raise, a processor that raises and a broken SDK do not change the result."""
    monkeypatch.delenv(RAISE_ENV)

    class Raising(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            raise RuntimeError("in the application's own processor")

    hostile = _Hostile()

    @observe
    def answer(question: object) -> object:
        return question

    assert answer(hostile) is hostile
    before = counters.get("internal_error.observe.complete")
    recorder.provider.add_span_processor(Raising())
    assert answer("why") == "why"
    assert counters.get("internal_error.observe.complete") == before + 1
    recorder.use(sampler=object())  # type: ignore[arg-type]
    before = counters.get("internal_error.observe.begin")
    assert answer("why") == "why"
    assert counters.get("internal_error.observe.begin") == before + 1
