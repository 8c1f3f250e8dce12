"""Streams: one span until the stream ends, and the stream behaves as before."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import StatusCode
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from rag_otel import observe, record_chunks, semconv, using
from rag_otel.observing import transcript
from tests.observing.conftest import Recorder


@observe
def tokens(question: str) -> Generator[str, None, None]:
    record_chunks(["a passage"])
    yield "ye"
    yield "s"


@observe
async def async_tokens(question: str) -> AsyncIterator[str]:
    record_chunks(["a passage"])
    yield "ye"
    await asyncio.sleep(0)
    yield "s"


def test_a_generator_is_one_call_until_it_is_consumed(recorder: Recorder) -> None:
    """The span ends with the last item and has the joined text."""
    stream = tokens("why")
    assert next(stream) == "ye"
    assert recorder.spans == []
    assert list(stream) == ["s"]
    assert (recorder.taken.question, recorder.taken.response, recorder.taken.incomplete) == ("why", "yes", False)
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["a passage"]


async def test_an_async_generator_is_one_call_until_it_is_consumed(recorder: Recorder) -> None:
    """The same, asynchronously."""
    assert [item async for item in async_tokens("why")] == ["ye", "s"]
    assert (recorder.taken.question, recorder.taken.response, recorder.taken.incomplete) == ("why", "yes", False)
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["a passage"]


def test_the_context_is_right_inside_each_step_and_never_leaks(recorder: Recorder) -> None:
    """Spans of the body are children of the call, also if they are open across a yield. Spans of the consumer are
    not."""
    tracer = recorder.provider.get_tracer("app")

    @observe
    def answer(question: str) -> Iterator[str]:
        with tracer.start_as_current_span("retrieve"):
            yield "a"
            with tracer.start_as_current_span("embed"):
                pass
        with tracer.start_as_current_span("llm"):
            yield "b"

    with tracer.start_as_current_span("request") as request:
        for _ in answer("why"):
            assert trace.get_current_span() is request
            with tracer.start_as_current_span("send"):
                pass
    spans = {span.context.span_id: span for span in recorder.spans}
    tree = sorted((span.name, spans[span.parent.span_id].name) for span in recorder.spans if span.parent)
    assert tree == [
        ("answer", "request"),
        ("embed", "retrieve"),
        ("llm", "answer"),
        ("retrieve", "answer"),
        ("send", "request"),
        ("send", "request"),
    ]


async def test_two_async_generators_in_step_do_not_mix(recorder: Recorder) -> None:
    """In one task with interleaved steps, each body sees its own call as current."""
    seen: list[tuple[str, int]] = []

    @observe
    async def answer(question: str) -> AsyncIterator[str]:
        for _ in range(3):
            seen.append((question, trace.get_current_span().get_span_context().span_id))
            await asyncio.sleep(0)
            yield question

    first, second = answer("a"), answer("b")
    for _ in range(3):
        await anext(first)
        await anext(second)
    await first.aclose()  # type: ignore[attr-defined]
    await second.aclose()  # type: ignore[attr-defined]
    assert len(set(seen)) == 2
    assert {span.context.span_id for span in recorder.spans} == {span_id for _, span_id in seen}
    assert not trace.get_current_span().get_span_context().is_valid


def test_early_close_is_incomplete_not_an_error(recorder: Recorder) -> None:
    """The text so far is on the span, the status is unset, and the body's cleanup ran in its context."""
    cleaned: list[bool] = []

    @observe
    def answer(question: str) -> Iterator[str]:
        try:
            yield "half"
            yield "more"
        finally:
            cleaned.append(trace.get_current_span().is_recording())

    stream = answer("why")
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert cleaned == [True]
    assert recorder.span.status.status_code is StatusCode.UNSET
    assert recorder.attribute(semconv.INCOMPLETE) is True
    assert recorder.attribute("output.value") == "half"
    assert (recorder.taken.incomplete, recorder.taken.failed) == (True, False)


async def test_early_aclose_in_another_task(recorder: Recorder, caplog: pytest.LogCaptureFixture) -> None:
    """A server closes streams in another task: the call is incomplete, and there is no "Failed to detach context"."""
    stream = async_tokens("why")
    assert await anext(stream) == "ye"
    with caplog.at_level(logging.DEBUG):
        await asyncio.create_task(stream.aclose())  # type: ignore[attr-defined]
    assert caplog.records == []
    assert recorder.attribute(semconv.INCOMPLETE) is True
    assert recorder.span.status.status_code is StatusCode.UNSET


def test_a_forgotten_generator_ends_when_it_is_collected(recorder: Recorder) -> None:
    """If a generator is not closed, its span ends as incomplete when it is garbage collected."""
    stream = tokens("why")
    next(stream)
    del stream
    gc.collect()
    assert recorder.taken.incomplete


async def test_a_forgotten_async_generator_ends_when_it_is_collected(recorder: Recorder) -> None:
    """The event loop closes it."""
    stream = async_tokens("why")
    await anext(stream)
    del stream
    gc.collect()
    for _ in range(100):
        if recorder.spans:
            break
        await asyncio.sleep(0)
    assert recorder.taken.incomplete


def test_a_generator_that_is_never_started_makes_no_span(recorder: Recorder) -> None:
    """Nothing ran, so there is no span. Wrong arguments raise as in the function itself."""
    tokens("why")
    gc.collect()
    assert recorder.spans == []
    with pytest.raises(TypeError, match="question"):
        list(tokens())  # type: ignore[call-arg]
    assert recorder.spans == []


def test_send_throw_and_return_value(recorder: Recorder) -> None:
    """The wrapped generator supports the whole protocol, like `yield from`."""

    @observe
    def answer(question: str) -> Generator[str, str | None, dict[str, list[str]]]:
        sent = yield "first"
        try:
            yield f"got {sent}"
        except KeyError as error:
            yield f"caught {error.args[0]}"
        return {"documents": ["a passage"]}

    stream = answer("why")
    assert next(stream) == "first"
    assert stream.send("x") == "got x"
    assert stream.throw(KeyError("y")) == "caught y"
    with pytest.raises(StopIteration) as stopped:
        next(stream)
    assert stopped.value.value == {"documents": ["a passage"]}
    assert recorder.taken.response == "firstgot xcaught y"
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["a passage"]


async def test_asend_and_athrow(recorder: Recorder) -> None:
    """The wrapper supports the asynchronous protocol too."""

    @observe
    async def answer(question: str) -> Any:
        sent = yield "first"
        try:
            yield f"got {sent}"
        except KeyError as error:
            yield f"caught {error.args[0]}"

    stream = answer("why")
    assert await anext(stream) == "first"
    assert await stream.asend("x") == "got x"
    assert await stream.athrow(KeyError("y")) == "caught y"
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    assert recorder.taken.response == "firstgot xcaught y"


@pytest.mark.parametrize("is_async", [False, True])
def test_an_exception_in_a_stream_passes_and_marks_the_span(recorder: Recorder, is_async: bool) -> None:
    """The consumer gets the same exception object, the span has status ERROR, and the generator is finished."""
    thrown = ValueError("the model is away")

    @observe
    def answer(question: str) -> Iterator[str]:
        yield "half"
        raise thrown

    @observe
    async def async_answer(question: str) -> AsyncIterator[str]:
        yield "half"
        raise thrown

    async def consume() -> None:
        async for _ in async_answer("why"):
            pass

    with pytest.raises(ValueError, match="the model is away") as caught:
        asyncio.run(consume()) if is_async else list(answer("why"))
    assert caught.value is thrown
    assert recorder.span.status.status_code is StatusCode.ERROR
    assert (recorder.taken.failed, recorder.taken.incomplete) == (True, False)


def test_a_body_that_refuses_to_close(recorder: Recorder) -> None:
    """`RuntimeError: generator ignored GeneratorExit` is raised as without the decorator, and the span ends."""

    @observe
    def answer(question: str) -> Iterator[str]:
        try:
            yield "more"
        except GeneratorExit:
            yield "and more"

    stream = answer("why")
    next(stream)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        stream.close()  # type: ignore[attr-defined]
    assert len(recorder.spans) == 1


def _stream() -> Iterator[str]:
    yield "ye"
    yield "s"


async def _async_stream() -> AsyncIterator[str]:
    yield "ye"
    yield "s"


@dataclass
class LlamaIndexStreamingResponse:
    response_gen: Any
    source_nodes: list[Any]
    response_txt: str | None = None

    def __str__(self) -> str:
        self.response_txt = self.response_txt or "".join(self.response_gen)
        return self.response_txt


NODE = SimpleNamespace(node=SimpleNamespace(text="a passage", node_id="n1"), score=0.5)


@pytest.mark.parametrize(
    ("make", "consume", "chunks"),
    [
        (lambda: _stream(), list, None),
        (lambda: (_stream(), ["a passage"]), lambda result: list(result[0]), ["a passage"]),
        (lambda: {"answer": _stream(), "documents": ["a passage"]}, lambda r: list(r["answer"]), ["a passage"]),
        (lambda: LlamaIndexStreamingResponse(_stream(), [NODE]), str, ["a passage"]),
        (lambda: SimpleNamespace(_iterator=_stream(), response=None), lambda r: list(r._iterator), None),
        (lambda: SimpleNamespace(response_gen=iter(["ye", "s"])), lambda r: list(r.response_gen), None),
        (lambda: SimpleNamespace(response=_stream(), status="200 OK"), lambda r: list(r.response), None),
    ],
)
def test_a_result_that_streams(
    recorder: Recorder, make: Callable[[], Any], consume: Callable[[Any], Any], chunks: list[str] | None
) -> None:
    """The span stays open for the stream in the result. Chunks are read when the call returns."""

    @observe
    def answer(question: str) -> Any:
        return make()

    result = answer("why")
    assert type(result) is type(make())
    assert recorder.spans == []
    consume(result)
    assert (recorder.taken.question, recorder.taken.response, recorder.taken.incomplete) == ("why", "yes", False)
    found = recorder.taken.chunks
    assert (None if found is None else [chunk.text for chunk in found]) == chunks


async def test_an_async_result_that_streams(recorder: Recorder) -> None:
    """A coroutine that returns an object with an async generator, as LlamaIndex' async engines do."""

    @observe
    async def answer(question: str) -> LlamaIndexStreamingResponse:
        return LlamaIndexStreamingResponse(_async_stream(), [NODE])

    result = await answer("why")
    assert recorder.spans == []
    assert [item async for item in result.response_gen] == ["ye", "s"]
    assert recorder.taken.response == "yes"
    assert [chunk.id for chunk in recorder.taken.chunks or ()] == ["n1"]


def test_a_streaming_result_that_nobody_reads(recorder: Recorder) -> None:
    """A generator that was never started is garbage collected without running: the call ends as incomplete."""

    @observe
    def answer(question: str) -> Iterator[str]:
        return _stream()

    answer("why")
    gc.collect()
    assert recorder.taken.incomplete


def test_a_result_that_cannot_be_changed_is_left_alone(recorder: Recorder) -> None:
    """The stream of a frozen object cannot be wrapped, so the call ends at once as incomplete."""

    @dataclass(frozen=True)
    class Frozen:
        response_gen: Iterator[str]

    stream = _stream()

    @observe
    def answer(question: str) -> Frozen:
        return Frozen(stream)

    assert answer("why").response_gen is stream
    assert recorder.taken.incomplete
    assert list(stream) == ["ye", "s"]


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (["ye", "s"], "text/plain"),
        ([b"ye", b"s"], "text/plain"),
        (["data: ye\n\n", "data: s\n\n", "data: [DONE]\n\n"], "text/event-stream"),
        (
            ['data: {"choices": [{"delta": {"content": "ye"}}]}\n\n', 'data: {"answer": "s"}\r\n\r\n'],
            "text/event-stream",
        ),
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_starlette_response_over_http(recorder: Recorder, body: list[Any], media_type: str, is_async: bool) -> None:
    """A real application and a real client: the body is unchanged, and the span has the text of the answer."""

    async def async_body() -> AsyncIterator[Any]:
        for item in body:
            yield item

    @observe(question=lambda request: request.query_params["q"])
    async def endpoint(request: Any) -> StreamingResponse:
        record_chunks(["a passage"])
        return StreamingResponse(async_body() if is_async else iter(body), media_type=media_type)

    client = TestClient(Starlette(routes=[Route("/", endpoint)]))
    content = client.get("/", params={"q": "why"}).content
    assert content == b"".join(item if isinstance(item, bytes) else item.encode() for item in body)
    assert (recorder.taken.question, recorder.taken.response) == ("why", "yes")
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["a passage"]


@pytest.mark.parametrize(
    "items",
    [
        ["ye", "s"],
        ["é".encode()[:1], "é".encode()[1:], b"yes"],
        [SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=text))]) for text in ("ye", None, "s")],
        [SimpleNamespace(choices=[]), SimpleNamespace(delta="yes")],
        [SimpleNamespace(content="ye"), SimpleNamespace(content=[{"type": "text", "text": "s"}])],
        [SimpleNamespace(type="content_block_delta", delta=SimpleNamespace(text="yes")), object()],
        [{"context": ["a passage"]}, {"answer": "ye"}, {"answer": "s"}],
    ],
)
def test_items_of_every_client(recorder: Recorder, items: list[Any]) -> None:
    """Plain text, bytes cut inside a character, message and completion chunks, LangChain's dictionaries."""

    @observe
    def answer(question: str) -> Iterator[Any]:
        yield from items

    assert list(answer("why")) == items
    assert recorder.taken.response is not None
    assert recorder.taken.response.removeprefix("é") == "yes"
    if isinstance(items[0], dict):
        assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["a passage"]


def test_selectors_see_the_whole_stream(recorder: Recorder) -> None:
    """`result` is the merged mapping, or the joined text."""

    @observe(chunks="result.found[*].body", response="result.final")
    def answer(question: str) -> Iterator[dict[str, Any]]:
        yield {"found": [{"body": "a passage"}]}
        yield {"draft": "no", "final": "ye"}
        yield {"final": "s"}

    list(answer("why"))
    assert recorder.taken.response == "yes"
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["a passage"]


def test_an_endless_stream_is_bounded(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit no text is kept, and the truncated answer is not judged."""
    monkeypatch.setattr(transcript, "MAX_CHARACTERS", 10)

    @observe
    def answer(question: str) -> Iterator[Any]:
        yield "12345"
        yield {"answer": "12345"}
        yield "6"
        yield "7"

    assert len(list(answer("why"))) == 4
    assert recorder.taken.incomplete
    assert recorder.taken.response is None


def test_the_session_of_a_generator_counts_when_it_is_started(recorder: Recorder) -> None:
    """A generator runs nothing before its first item is requested, so the session is read at that time."""
    with using(session_id="outside"):
        stream = tokens("why")
    with using(session_id="inside"):
        next(stream)
    list(stream)
    assert recorder.taken.session_id == "inside"
