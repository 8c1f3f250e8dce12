"""Selectors: which values they select, and which are rejected at decoration."""

from __future__ import annotations

import logging
import operator
from collections import UserDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, Optional, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict

from rag_otel import observe
from rag_otel.errors import ConfigurationError, SelectorError
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.safety.guard import RAISE_ENV
from tests.observing.conftest import Recorder


class Passage(BaseModel):
    body: str


class Reply(BaseModel):
    hits: list[Passage]
    message: Optional[Passage] = None  # noqa: UP045 - the older spelling must work too

    @property
    def summary(self) -> str:
        return "a summary"


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")
    known: str = ""


@dataclass
class Request:
    text: str


class Row(TypedDict):
    answer: str


class Pair(NamedTuple):
    answer: str
    docs: list[str]


REPLY = Reply(hits=[Passage(body="a"), Passage(body="b")], message=Passage(body="yes"))


@pytest.mark.parametrize(
    ("question", "chunks", "response"),
    [
        ("request.text", "result.hits[*].body", "result.message.body"),
        ("request.text", "result.hits", "result.hits[0].body"),
        ("request.text", lambda result: [hit.body for hit in result.hits], lambda result: result.message.body),
        (lambda request: request.text, lambda reply: reply.hits, lambda reply: reply.message.body),
        (lambda request, result: request.text, lambda request, result: result.hits, lambda r: "yes"),
        ("request.text", operator.attrgetter("hits"), operator.attrgetter("message.body")),
    ],
)
def test_paths_and_callables(recorder: Recorder, question: Any, chunks: Any, response: Any) -> None:
    """A path or a callable, from the arguments or from the result."""

    @observe(question=question, chunks=chunks, response=response)
    def answer(request: Request, k: int = 2) -> Reply:
        return REPLY

    answer(request=Request("why"))
    assert recorder.taken.question == "why"
    assert recorder.taken.chunks is not None
    assert [chunk.text for chunk in recorder.taken.chunks] == ["a", "b"]
    assert recorder.taken.response == ("a" if response == "result.hits[0].body" else "yes")


def test_roots_are_parameters_of_every_kind(recorder: Recorder) -> None:
    """Positional, keyword-only, with defaults, `self`, `*args` and `**kwargs`."""

    class Bot:
        reference = "a known answer"

        @observe(
            question="first",
            reference="self.reference",
            session_id="kwargs.session",
            user_id="args[0]",
            tags={"mode": "mode", "length": "result.length"},
        )
        def ask(self, first: str, *args: str, mode: str = "fast", **kwargs: Any) -> dict[str, Any]:
            return {"answer": "yes", "length": 3}

    Bot().ask("why", "u-1", session="s-1")
    taken = recorder.taken
    assert (taken.question, taken.reference, taken.session_id, taken.user_id) == ("why", "a known answer", "s-1", "u-1")
    assert taken.tags == {"mode": "fast", "length": "3"}
    assert recorder.attribute("session.id") == "s-1"
    assert recorder.attribute("user.id") == "u-1"
    assert recorder.attribute("rag.tag.mode") == "fast"


def test_tags_by_one_selector(recorder: Recorder) -> None:
    """A selector that returns a mapping. Values that are None are no tags."""

    @observe(tags=lambda question: {"length": len(question), "nothing": None})
    def answer(question: str) -> str:
        return "yes"

    answer("why")
    assert recorder.taken.tags == {"length": "3"}


def test_the_question_may_come_from_the_result(recorder: Recorder) -> None:
    """For example, a function that rewrites a conversation into a question."""

    @observe(question="result.rewritten")
    def answer(messages: list[str]) -> dict[str, str]:
        return {"rewritten": "why", "answer": "yes"}

    answer(["hello"])
    assert recorder.taken.question == "why"


@pytest.mark.parametrize(
    ("selectors", "message"),
    [
        ({"question": "query"}, r"@observe\(question='query'\).*no 'query'; there are: question, k, result"),
        ({"chunks": "results.docs"}, "no 'results'; there are: question, k, result"),
        ({"response": "result..answer"}, r"cannot be read from '\.\.answer'"),
        ({"response": "result.answer[x]"}, r"cannot be read from '\[x\]'"),
        ({"response": ""}, "cannot be read"),
        ({"session_id": 42}, "a selector is a path such as"),
        ({"chunks": lambda result, docs: docs}, "asks for 'docs'; there are: question, k, result"),
        ({"question": lambda q: q}, "must be named after what it needs; there are: question, k, result"),
        ({"tags": {"tenant": "tenant"}}, r"tags\['tenant'\]='tenant'.*no 'tenant'"),
    ],
)
def test_a_selector_that_cannot_match_is_refused(selectors: dict[str, Any], message: str) -> None:
    """The error at decoration names the selector, the function and the existing names."""

    def answer(question: str, k: int = 3) -> dict[str, Any]:
        return {}

    with pytest.raises(SelectorError, match=message) as caught:
        observe(**selectors)(answer)
    assert "answer" in str(caught.value)
    assert isinstance(caught.value, ConfigurationError)


def _returns(annotation: Any) -> Callable[..., Any]:
    def answer(question: str) -> Any:
        return None

    answer.__annotations__["return"] = annotation
    return answer


@pytest.mark.parametrize(
    ("annotation", "path", "names"),
    [
        (Reply, "result.hit", "hits, message"),
        (Reply, "result.hits[*].text", "body"),
        (Reply, "result.message.text", "body"),
        (Awaitable[Reply], "result.hit", "hits, message"),
        (Request, "result.txt", "text"),
        (Row, "result.anwser", "answer"),
        (Pair, "result.dosc", "answer, docs"),
    ],
)
def test_a_field_that_annotations_rule_out_is_refused(annotation: Any, path: str, names: str) -> None:
    """Dataclasses, pydantic models, TypedDicts and NamedTuples define their fields."""
    with pytest.raises(SelectorError, match=f"it has: {names}"):
        observe(response=path)(_returns(annotation))


@pytest.mark.parametrize(
    ("annotation", "path"),
    [
        (Reply, "result.summary"),
        (Reply, "result.hits[*].body"),
        (Reply | Request, "result.anything"),
        (Loose, "result.anything"),
        (SimpleNamespace, "result.anything"),
        (dict[str, Any], "result.anything"),
        ("NotImported", "result.anything"),
        (Any, "result[0].anything"),
    ],
)
def test_what_annotations_leave_open_is_accepted(annotation: Any, path: str) -> None:
    """Properties, models with extra fields, unions and plain classes may match, so they are accepted."""
    observe(response=path)(_returns(annotation))


def test_attributes_of_a_mapping_that_has_no_such_key(recorder: Recorder) -> None:
    """A web framework's request is a mapping with attributes. The methods of a mapping are not selected."""

    class WebRequest(UserDict[str, str]):
        query_params = MappingProxyType({"q": "why"})

    @observe(question="request.query_params.q", session_id="request.items")
    def answer(request: Any) -> str:
        return "because"

    answer(WebRequest())
    assert (recorder.taken.question, recorder.taken.session_id) == ("why", None)


def test_a_path_that_leads_nowhere_gives_none(recorder: Recorder) -> None:
    """A selected value that is missing in a call is None. No other value is used instead."""

    @observe(question="request.text", chunks="result.docs[*].text", response="result.answers[5].text")
    def answer(request: Any) -> Any:
        return {"answer": "not asked for", "documents": ["not asked for"], "docs": "no list"}

    answer(None)
    assert recorder.taken == Snapshot()


def test_a_callable_that_fails_costs_only_its_value(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The call continues, and one warning names the selector. It counts as an error of the application, not as an
    internal one."""
    monkeypatch.setenv(RAISE_ENV, "1")

    @observe(chunks=lambda result: result["no such key"])
    def answer(question: str) -> dict[str, str]:
        return {"answer": "yes"}

    with caplog.at_level(logging.WARNING, "rag_otel"):
        assert answer("why") == answer("why")
    assert recorder.snapshots == [Snapshot(question="why", response="yes")] * 2
    assert sum("selector chunks of" in record.getMessage() for record in caplog.records) <= 1
