"""What `@observe` finds without arguments in parameters and results of common forms."""

from __future__ import annotations

import logging
import math
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from rag_otel import observe, record_chunks
from rag_otel.observing.shapes import (
    CHUNK_NAMES,
    QUESTION_NAMES,
    RESPONSE_NAMES,
    chunks_in,
    question_in,
    response_in,
)
from tests.observing.conftest import Recorder


@dataclass
class Answer:
    answer: str
    contexts: list[str] = field(default_factory=list)


class Model(BaseModel):
    response: str
    documents: list[dict[str, Any]]


class Request(BaseModel):
    query: str
    k: int = 3


class Pair(NamedTuple):
    output: str
    docs: list[str]


Node = namedtuple("Node", "node score")
MESSAGE = SimpleNamespace(type="ai", content=[{"type": "text", "text": "yes"}, {"type": "image_url", "image_url": {}}])
COMPLETION = SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(role="assistant", content="yes"))])


FLASK = SimpleNamespace(status_code=200, data=b'{"answer": "yes", "chunks": ["a"]}', mimetype="application/json")
DJANGO = SimpleNamespace(
    status_code=200, content=b'{"answer": "yes"}', headers={"Content-Type": "application/json; charset=utf-8"}
)


@pytest.mark.parametrize(
    ("response", "found", "chunks"),
    [
        (JSONResponse({"answer": "yes", "chunks": ["a"]}), "yes", ["a"]),
        (PlainTextResponse("yes"), "yes", None),
        (FLASK, "yes", ["a"]),
        (DJANGO, "yes", None),
        (HTMLResponse("<p>yes</p>"), None, None),
        (Response(b"{", media_type="application/json"), None, None),
        (Response(b"\xff", media_type="text/plain"), None, None),
        (Response(b"[" * 100_000, media_type="application/json"), None, None),
    ],
)
def test_a_finished_web_response(
    recorder: Recorder, response: object, found: str | None, chunks: list[str] | None
) -> None:
    """An endpoint that returns a response of its framework, JSON or text, is read by its content."""

    @observe
    def endpoint(question: str) -> object:
        return response

    assert endpoint("why") is response
    read = recorder.taken
    assert (read.response, read.chunks and [chunk.text for chunk in read.chunks]) == (found, chunks)


def test_a_result_is_not_looked_through_for_what_selectors_find(recorder: Recorder) -> None:
    """Its attributes may cost something, and a long body takes long to decode."""
    asked = []

    class Reply:
        def __getattr__(self, name: str) -> object:
            asked.append(name)
            raise AttributeError(name)

    @observe(response=lambda result: "yes", chunks=lambda result: ["a"])
    def endpoint(question: str) -> Reply:
        return Reply()

    endpoint("why")
    assert recorder.taken.response == "yes"
    assert [chunk.text for chunk in recorder.taken.chunks or ()] == ["a"]
    assert "status_code" not in asked


@pytest.mark.parametrize(
    ("result", "chunks"),
    [
        ("yes", None),
        ({"answer": "yes", "chunks": ["a", "b"]}, ["a", "b"]),
        ({"response": "yes", "contexts": []}, []),
        ({"output": "yes", "context": "one long text"}, ["one long text"]),
        ({"result": "yes", "source_documents": [SimpleNamespace(page_content="a", metadata={})]}, ["a"]),
        (Answer("yes", ["a"]), ["a"]),
        (Model(response="yes", documents=[{"text": "a"}]), ["a"]),
        (Pair("yes", ["a"]), ["a"]),
        (("yes", ["a", "b"]), ["a", "b"]),
        ((["a"], "yes"), ["a"]),
        (("yes", {"documents": ["a"]}), ["a"]),
        (("yes", []), []),
        (SimpleNamespace(response="yes", source_nodes=[Node(SimpleNamespace(text="a"), 0.5)]), ["a"]),
        (MESSAGE, None),
        ({"input": "why", "context": [SimpleNamespace(page_content="a")], "answer": MESSAGE}, ["a"]),
        ({"messages": [SimpleNamespace(type="human", content="why"), MESSAGE]}, None),
        (COMPLETION, None),
        ({"llm": {"replies": ["yes"]}, "retriever": {"documents": [SimpleNamespace(content="a", meta={})]}}, ["a"]),
        ({"answer_builder": {"answers": [SimpleNamespace(data="yes", documents=[{"content": "a"}])]}}, ["a"]),
        ({"answer": "yes", "sources": ["https://example.org/1", "handbook.pdf"]}, None),
        ({"answer": "yes", "sources": [{"url": "https://example.org", "text": "a"}]}, ["a"]),
        ({"answer": "yes", "documents": None}, None),
        ({"answer": "yes", "documents": [object()]}, None),
        ({"data": {"answer": "yes", "chunks": ["a"]}}, ["a"]),
    ],
)
def test_response_and_chunks_in_a_result(result: object, chunks: list[str] | None) -> None:
    """Every form gives the response "yes". Unknown chunks are None, an empty retrieval is empty."""
    assert response_in(result) == "yes"
    found = chunks_in(result)
    assert (None if found is None else [chunk.text for chunk in found]) == chunks


@pytest.mark.parametrize("result", [None, 42, True, b"bytes", ["a", "b"], {}, {"answer": {"no": "text"}}, object()])
def test_no_response_is_invented(result: object) -> None:
    """A result without an answer gives None, not its repr."""
    assert response_in(result) is None


@pytest.mark.parametrize(
    "argument",
    [
        "why",
        {"question": "why"},
        SimpleNamespace(query="why", k=3),
        [{"role": "system", "content": "be brief"}, {"role": "user", "content": "why"}],
        {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant"}, {"role": "user", "content": "why"}]},
        [SimpleNamespace(type="human", content=[{"type": "text", "text": "why"}])],
    ],
)
def test_the_question_in_an_argument(argument: object) -> None:
    """Text, chat messages, a request object."""
    assert question_in(argument) == "why"


_NAMES = st.sampled_from([*QUESTION_NAMES, *RESPONSE_NAMES, *CHUNK_NAMES, "id", "score", "metadata", "node", "role"])
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.binary(max_size=3) | st.just(object()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(_NAMES, inner, max_size=3)
        | st.dictionaries(_NAMES, inner, max_size=3).map(lambda fields: SimpleNamespace(**fields))
    ),
)


@given(_ANYTHING)
def test_whatever_comes_is_read_or_left_alone(value: Any) -> None:
    """No value raises. Results are text and valid chunks, never taken from a repr."""
    for found in (question_in(value), response_in(value)):
        assert found is None or (isinstance(found, str) and "object at 0x" not in found)
    chunks = chunks_in(value)
    if chunks is not None:
        assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
        assert len({chunk.id for chunk in chunks}) == len(chunks)
        assert all(isinstance(chunk.text, str) for chunk in chunks)
        assert all(chunk.score is None or math.isfinite(chunk.score) for chunk in chunks)


def test_data_is_not_searched_for_text() -> None:
    """The items of a list of a million numbers are not inspected."""

    class Vector(list[float]):
        def __iter__(self) -> Any:
            raise AssertionError("looked through")

    assert response_in({"data": Vector([0.5] * 1_000_000)}) is None


def test_which_parameter_is_the_question(recorder: Recorder) -> None:
    """The usual name first, then a request that has a field of such a name, then the first annotated text, then the
    first text that is passed."""

    @observe
    def by_name(index: str, query: str) -> str:
        return "yes"

    @observe
    def by_field(lang: str, request: Request) -> str:
        return "yes"

    @observe
    def by_annotation(k: int, request_id: str, text: str) -> str:
        return "yes"

    @observe
    def by_value(k, whatever, other=None):  # type: ignore[no-untyped-def]
        return "yes"

    @observe
    def only_one(request: dict[str, str]) -> str:
        return "yes"

    @observe
    def by_default(query: str = "why") -> str:
        return "yes"

    @observe
    def anything(*args: object, **kwargs: object) -> str:
        return "yes"

    by_name("main", "why")
    by_name(query="why", index="main")
    by_field("en", Request(query="why"))
    by_annotation(3, "r-1", "why")
    by_value(3, "why")
    by_value(3, whatever="why")
    only_one({"question": "why"})
    by_default()
    anything(1, "why")
    assert [taken and taken.question for taken in recorder.snapshots] == ["why"] * 9


def test_the_question_is_taken_as_the_call_begins(recorder: Recorder) -> None:
    """A function that changes its arguments does not change the recorded question."""

    @observe
    def answer(state: dict[str, str]) -> str:
        state["question"] = "rewritten"
        return "yes"

    answer({"question": "why"})
    assert recorder.taken.question == "why"


def test_documents_that_are_passed_in(recorder: Recorder) -> None:
    """A generation step may get the documents as an argument. Documents in the result take precedence."""

    @observe
    def generate(question: str, documents: list[str]) -> str:
        return "yes"

    @observe
    def rerank(question: str, documents: list[str]) -> dict[str, Any]:
        return {"answer": "yes", "documents": documents[:1]}

    generate("why", ["a", "b"])
    rerank("why", documents=["a", "b"])
    texts = [[chunk.text for chunk in taken.chunks or ()] for taken in recorder.snapshots if taken]
    assert texts == [["a", "b"], ["a"]]


def test_recorded_documents_go_before_the_result(recorder: Recorder) -> None:
    """Calls of `record_chunks` add up, copy the chunks, and take precedence."""

    @observe
    def answer(question: str) -> dict[str, Any]:
        first = [{"id": "x", "text": "a"}, "b"]
        record_chunks(first)
        first.clear()
        record_chunks(["c", {"id": "x", "text": "a"}, {"id": "x", "text": "another"}])
        return {"answer": "yes", "documents": ["from the result"]}

    answer("why")
    chunks = recorder.taken.chunks or ()
    assert [(chunk.id, chunk.text, chunk.position) for chunk in chunks] == [
        ("x", "a", 0),
        ("1", "b", 1),
        ("2", "c", 2),
        ("x#2", "another", 3),
    ]


def test_recording_where_nothing_is_observed_does_nothing(recorder: Recorder) -> None:
    """Library code may call `record_chunks` outside of observed calls."""
    record_chunks(["a"])
    assert recorder.spans == []


def test_chunks_unknown_to_the_call_are_left_to_nested_retrievers(recorder: Recorder) -> None:
    """None is not an empty retrieval."""

    @observe
    def answer(question: str) -> str:
        return "yes"

    answer("why")
    assert recorder.taken.chunks is None


def test_a_result_without_an_answer_is_told_once(recorder: Recorder, caplog: pytest.LogCaptureFixture) -> None:
    """One warning per function says what to do. Functions that return nothing, or documents, cause no warning."""

    @observe(name="without an answer")
    def answer(question: str) -> object:
        return {"status": 200}

    @observe
    def quiet(question: str) -> None:
        return None

    @observe
    def search(question: str) -> list[dict[str, str]]:
        return [{"id": "1", "text": "a passage"}]

    with caplog.at_level(logging.WARNING, "rag_otel"):
        for _ in range(3):
            answer("why")
            quiet("why")
            search("why")
    assert [record.getMessage() for record in caplog.records] == [
        "rag-otel: without an answer: no answer found in dict; say where it is: @observe(response=..., chunks=...)"
    ]
    assert [taken and taken.response for taken in recorder.snapshots] == [None] * 9
