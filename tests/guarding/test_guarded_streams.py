"""Streams, sentence by sentence: nothing unsupported leaves a stream that is held back, and the span has one
evaluation, of the whole answer."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

import rag_otel
from rag_otel import Guard, observe, record_chunks
from rag_otel.guarding.rules import NOTE, REFUSAL
from rag_otel.model import Verdict
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from tests.guarding.conftest import ALSO_GOOD, ANSWER, BAD, GOOD, PASSAGE, PATIENT_S, App
from tests.processing.kit import Judge

QUESTION = "How tall is the tower?"
LEFT = {
    "block": f"{GOOD} {REFUSAL}",
    "replace": f"{GOOD} Ask a person.",
    "annotate": f"{GOOD} {BAD}{NOTE} {ALSO_GOOD}",
    "remove": f"{GOOD} {ALSO_GOOD}",
}


def tokens(text: str) -> list[str]:
    """As a model streams them."""
    return re.findall(r"\s?\S{1,4}", text)


def guard_of(action: Any, **options: Any) -> Guard:
    replacement = "Ask a person." if action == "replace" else None
    return Guard(action=action, deadline=PATIENT_S, replacement=replacement, **options)


@pytest.mark.parametrize("action", list(LEFT))
async def test_each_action_on_each_kind_of_stream(app: App, action: str) -> None:
    """Generators, async generators and a StreamingResponse of text or bytes: the same text leaves, and only items
    before the unsupported sentence have left when it is found."""
    app.instrument()
    closed: list[str] = []

    @observe(guard=guard_of(action))
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE])
        try:
            yield from tokens(ANSWER)
        finally:
            closed.append("sync")

    @observe(guard=guard_of(action))
    async def async_stream(question: str) -> AsyncIterator[str]:
        record_chunks([PASSAGE])
        try:
            for token in tokens(ANSWER):
                yield token
        finally:
            closed.append("async")

    @observe(guard=guard_of(action), question=lambda request: request.path_params["query"])
    async def endpoint(request: Any) -> StreamingResponse:
        record_chunks([PASSAGE])
        return StreamingResponse((token.encode() for token in tokens(ANSWER)), media_type="text/plain")

    assert "".join(stream(QUESTION)) == LEFT[action]
    assert "".join([item async for item in async_stream(QUESTION)]) == LEFT[action]
    assert closed == ["sync", "async"]
    with TestClient(Starlette(routes=[Route("/{query}", endpoint)])) as client:
        assert client.get(f"/{QUESTION}").text == LEFT[action]
    heard = ANSWER if action in ("annotate", "remove") else f"{GOOD} {BAD} "
    for span in app.spans()[:2]:
        assert (span["output.value"], span["rag.guard.response"]) == (heard, LEFT[action])
        assert (span["rag.evaluation.status"], span["rag.guard.finding"]) == ("evaluated", "unsupported")
        assert (span["rag.guard.check_count"], span["rag.guard.unsupported_count"]) == (3 if heard == ANSWER else 2, 1)
    assert [each.trace.response for each in app.evaluated()[:2]] == [heard, heard]


def test_a_sentence_is_held_until_its_verdict(app: App) -> None:
    """While the judge is not done with the first sentence nothing of it has left."""
    judge = Judge()
    app.instrument(metrics=[], evaluators=[judge], evaluations_per_minute=6000)

    @observe(guard=Guard(deadline=PATIENT_S))
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE])
        for token in tokens(f"{GOOD} {ALSO_GOOD}"):
            seen_by_the_judge.append(len(judge.seen))
            yield token

    seen_by_the_judge: list[int] = []
    running = stream(QUESTION)
    assert next(running) == f"{GOOD} "
    assert [each["response"] for each in judge.seen] == [f"{GOOD} "]
    assert list(running) == [ALSO_GOOD]
    assert [each["response"] for each in judge.seen] == [f"{GOOD} ", f"{GOOD} {ALSO_GOOD}"]
    assert app.span()["rag.evaluation.faithfulness.score"] == 1.0


@pytest.mark.parametrize(
    ("action", "ending"), [("block", f"\n\n{REFUSAL}"), ("replace", "\n\nAsk a person."), ("annotate", NOTE)]
)
def test_a_released_stream_stops_later(app: App, action: str, ending: str) -> None:
    """Everything leaves at once. What is found ends the stream, or is noted behind it."""
    app.instrument()

    @observe(guard=guard_of(action, stream="release"))
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE])
        yield from tokens(f"{GOOD} {BAD}")

    left = list(stream(QUESTION))
    assert left[0] == tokens(GOOD)[0]
    assert "".join(left).endswith(ending)
    assert "".join(left).removesuffix(ending) in (f"{GOOD} {BAD}", f"{GOOD} {BAD}"[: len("".join(left)) - len(ending)])
    span = app.span()
    assert span["rag.guard.response"] == "".join(left)
    assert (span["rag.evaluation.status"], span["rag.guard.finding"]) == ("evaluated", "unsupported")


@pytest.mark.parametrize("form", ["events", "mappings", "objects"])
def test_items_that_are_no_text_are_held_as_they_are(app: App, form: str) -> None:
    """Server-sent events, mappings and chunks of a client: those before the unsupported sentence leave unchanged, and
    the replacement in the application's own form follows."""
    app.instrument()
    make = {
        "events": lambda text: f"data: {json.dumps({'delta': text})}\n\n",
        "mappings": lambda text: {"answer": text},
        "objects": lambda text: {"choices": [{"delta": {"content": text}}]},
    }[form]

    @observe(guard=Guard(action="replace", replacement=lambda verdict: make("Ask a person."), deadline=PATIENT_S))
    def stream(question: str) -> Iterator[Any]:
        record_chunks([PASSAGE])
        yield from map(make, tokens(ANSWER))

    items = tokens(f"{GOOD} ")
    assert list(stream(QUESTION)) == [*map(make, items), make("Ask a person.")]
    assert app.span()["output.value"] == f"{GOOD} {BAD} "


def test_a_stream_that_is_left_early_is_incomplete(app: App) -> None:
    """Half an answer is not judged, and its body is closed."""
    app.instrument()
    closed: list[bool] = []

    @observe(guard=guard_of("block"))
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE])
        try:
            yield from tokens(f"{GOOD} {ALSO_GOOD} {GOOD}")
        finally:
            closed.append(True)

    running = stream(QUESTION)
    next(running)
    running.close()
    assert closed == [True]
    span = app.span()
    assert (span["rag.evaluation.status_reason"], span["rag.incomplete"]) == ("incomplete", True)


async def test_a_body_that_fails_while_it_is_closed_ends_its_span(app: App) -> None:
    """Its error is the caller's, as without a guard, and the span is exported."""
    app.instrument()

    @observe(guard=guard_of("block"))
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE])
        try:
            yield from tokens(f"{GOOD} {ALSO_GOOD} {GOOD}")
        finally:
            raise ConnectionError("the model is gone")

    @observe(guard=guard_of("block"))
    async def async_stream(question: str) -> AsyncIterator[str]:
        record_chunks([PASSAGE])
        try:
            for token in tokens(f"{GOOD} {ALSO_GOOD} {GOOD}"):
                yield token
        finally:
            raise ConnectionError("the model is gone")

    running = stream(QUESTION)
    next(running)
    with pytest.raises(ConnectionError):
        running.close()
    async_running = async_stream(QUESTION)
    await anext(async_running)
    with pytest.raises(ConnectionError):
        await async_running.aclose()
    assert [span["rag.evaluation.status_reason"] for span in app.spans()] == ["error", "error"]


def test_what_the_body_raises_is_passed_on(app: App) -> None:
    """With what was supported before it, and nothing of what had no verdict yet."""
    app.instrument()

    @observe(guard=guard_of("block"))
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE])
        yield from tokens(f"{GOOD} {ALSO_GOOD} {BAD[:20]}")
        raise ConnectionError("the model is gone")

    left: list[str] = []
    with pytest.raises(ConnectionError):
        left.extend(stream(QUESTION))
    assert app.span()["rag.evaluation.status_reason"] == "error"


def test_abbreviations_and_lists_are_not_cut(app: App) -> None:
    """A sentence ends where the judges say that it ends; lines of a list are removed as lines."""
    app.instrument()
    listed = f"The tower, e.g. as Mr. Smith says:\n- {GOOD}\n- {BAD}\n- {ALSO_GOOD}\n"

    @observe(guard=guard_of("remove"))
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE, "Mr. Smith says much about the tower, as an example."])
        yield from re.findall(r"\s|\S{1,4}", listed)

    left = "".join(stream(QUESTION))
    assert BAD not in left
    assert left.count("\n- ") == 2


def test_a_selector_finds_the_answer_in_the_items(app: App) -> None:
    """Where rag-otel alone would not know what the stream says."""
    app.instrument()

    @observe(guard=guard_of("block"), response="result.said")
    def stream(question: str) -> Iterator[dict[str, str]]:
        record_chunks([PASSAGE])
        yield from ({"said": token} for token in tokens(ANSWER))

    assert "".join(item["said"] for item in stream(QUESTION)) == GOOD
    assert app.span()["output.value"] == f"{GOOD} {BAD} "


def test_a_late_verdict_is_about_what_has_left(app: App) -> None:
    """The first sentence left without a verdict, because its deadline had passed. The verdict on the second one says
    that the first was wrong: there is nothing left to remove, and the second one leaves."""
    judge = Judge()
    judge.gate.clear()
    app.instrument(metrics=[], evaluators=[_Slowed(judge)], evaluations_per_minute=6000)
    guard = Guard(action="remove", deadline=0.05)

    @observe(guard=guard)
    def stream(question: str) -> Iterator[str]:
        record_chunks([PASSAGE])
        yield f"{BAD} It"
        yield " is 330 metres"
        object.__setattr__(guard, "deadline", PATIENT_S)
        judge.gate.set()
        yield " tall."

    assert "".join(stream(QUESTION)) == f"{BAD} {ALSO_GOOD}"
    span = app.span()
    assert (span["rag.evaluation.status"], span["output.value"]) == ("evaluated", f"{BAD} {ALSO_GOOD}")


def test_what_a_consumer_sends_or_throws_into_a_guarded_generator(app: App) -> None:
    """It does not reach the body. What the body returns is passed on, and a stream that an error ends has a span."""
    app.instrument()
    given: list[Any] = []

    @observe(guard=guard_of("annotate"))
    def stream(question: str) -> Generator[str, str, str]:
        record_chunks([PASSAGE])
        try:
            for sentence in (GOOD, ALSO_GOOD, GOOD):
                given.append((yield f"{sentence} "))
        except LookupError as error:
            given.append(error)
        return "done"

    running = stream(QUESTION)
    assert next(running) == f"{GOOD} "
    assert running.send("sent") == f"{ALSO_GOOD} "
    assert next(running) == f"{GOOD} "
    with pytest.raises(StopIteration, match="done"):
        next(running)
    assert given == [None] * 3
    running = stream(QUESTION)
    next(running)
    with pytest.raises(LookupError):
        running.throw(LookupError("gone"))
    assert given == [None] * 4
    spans = app.spans()
    assert [span["rag.guard.outcome"] for span in spans] == ["passed", "passed"]
    assert sorted(span.get("rag.evaluation.status_reason", "complete") for span in spans) == ["complete", "error"]


async def test_a_caller_that_is_cancelled_while_it_waits_for_a_verdict(app: App) -> None:
    """Functions and streams end at once, with a span that says that they are incomplete."""
    judge = Judge()
    judge.gate.clear()
    app.instrument(metrics=[], evaluators=[judge], evaluations_per_minute=6000)

    @observe(guard=guard_of("block"))
    async def answer(question: str) -> dict[str, Any]:
        return {"answer": ANSWER, "documents": [PASSAGE]}

    @observe(guard=guard_of("block"))
    async def stream(question: str) -> AsyncIterator[str]:
        record_chunks([PASSAGE])
        yield f"{GOOD} It is"

    for number, running in enumerate((answer(QUESTION), anext(stream(QUESTION))), 1):
        task = asyncio.ensure_future(running)
        while len(judge.seen) < number:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    judge.gate.set()
    assert [span["rag.evaluation.status_reason"] for span in app.spans()] == ["incomplete", "incomplete"]


REPEATED = [
    pytest.param(f"{BAD} ", id="alike"),
    pytest.param(f"{BAD.upper()} ", id="case"),
    pytest.param(f"{BAD.replace(' ', '  ')}  ", id="spaces"),
    pytest.param(f"{BAD.removesuffix('.')}! ", id="ending"),
    pytest.param(f"**{BAD}** ", id="bold"),
    pytest.param(f"{BAD.removesuffix('.')} [2]. ", id="citation"),
    pytest.param(f"\n- {BAD}\n", id="bullet"),
    pytest.param(f"\n2. {BAD}\n", id="number"),
    pytest.param(f"\n> {BAD}\n", id="quoted"),
]


@pytest.mark.parametrize("again", REPEATED)
@pytest.mark.parametrize("lost", ["aggregate", "first place only", "no verdict"])
async def test_a_repetition_is_taken_out_like_the_first(app: App, again: str, lost: str) -> None:
    """Also where the verdict on a longer text says nothing of the repetition: the limit of the score is no longer
    reached, the judge names a claim where it stands first, or there is no verdict in time."""
    app.instrument(metrics=[], evaluators=[_Forgetful(lost)], evaluations_per_minute=6000)
    between = f"{ALSO_GOOD} {GOOD} " * 3

    def removing(text: str, **options: Any) -> str:
        guard = guard_of("remove", score_worse_than=0.6 if lost == "aggregate" else None)
        return "".join(observe(guard=dataclasses.replace(guard, **options))(_streamed)(QUESTION, text))

    left = removing(f"{GOOD} {BAD} {between}{again}{between}{again}{ALSO_GOOD}")
    assert "nevada" not in left.lower()
    assert left.count(GOOD) == 7
    whole = rag_otel.guard_sync(QUESTION, [PASSAGE], f"{BAD} {again}{BAD} {GOOD}", guard_of("remove"))
    assert whole.response.strip() == (GOOD if lost != "no verdict" else f"{BAD} {again}{BAD} {GOOD}")
    noted = removing(f"{GOOD} {BAD} {between}{again}{ALSO_GOOD}", action="annotate")
    assert noted.lower().count("nevada") == noted.count(NOTE) == 2
    first, _, second = app.spans()
    assert (first["rag.guard.unsupported_count"], second["rag.guard.unsupported_count"]) == (3, 2)


def test_a_judge_tells_two_sentences_of_the_same_words_apart(app: App) -> None:
    """In one verdict the first is unsupported and the second, under another heading, is supported: it leaves."""
    app.instrument(metrics=[], evaluators=[_Forgetful("second is supported")], evaluations_per_minute=6000)
    left = "".join(observe(guard=guard_of("remove"))(_streamed)(QUESTION, f"In 1998: {BAD} {GOOD} In 1999: {BAD}"))
    assert left.count("Nevada") == 1


def _streamed(question: str, text: str) -> Iterator[str]:
    record_chunks([PASSAGE])
    yield from re.findall(r"\s|[^\s]{1,4}", text)


class _Forgetful(Faithfulness):
    """The embedded judge, which says less of a sentence that stands there again."""

    def __init__(self, lost: str) -> None:
        super().__init__()
        self._lost = lost

    async def evaluate(self, **given: Any) -> Any:
        result = await super().evaluate(**given)
        repeated = [each for each in result.claims if "nevada" in each.claim.text.lower()][1:]
        if self._lost == "aggregate" or not repeated:
            return result
        if self._lost == "no verdict":
            raise RuntimeError("no model")
        others = [each for each in result.claims if each not in repeated]
        if self._lost == "second is supported":
            others += [dataclasses.replace(each, verdict=Verdict.SUPPORTED) for each in repeated]
        return dataclasses.replace(result, claims=tuple(others))


class _Slowed(Faithfulness):
    """The embedded judge behind a gate."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self._gate = judge.gate

    async def evaluate(self, **given: Any) -> Any:
        while not self._gate.is_set():
            await asyncio.sleep(0.002)
        return await super().evaluate(**given)
