"""Custom attribute names: on one span, on several spans, and invalid mappings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.model import RagTrace, SpanRecord, UnevaluableReason
from rag_otel_collectors.conventions import default_conventions
from tests.collectors.conventions.spans import ANSWER, EUROPE, PARIS, QUESTION, a_span

FLAT = {"question": "acme.q", "response": "acme.a", "chunks": "acme.texts"}


def read(mapping: Any, *spans: SpanRecord) -> RagTrace:
    """The RAG trace that is read with this mapping."""
    (trace,) = (trace for each in default_conventions(mapping=mapping) for trace in each.read(spans))
    return trace


def acme(parent: SpanRecord | None = None, **attributes: Any) -> SpanRecord:
    """A span of an application with custom `acme.*` attributes."""
    return a_span(parent=parent, scope="acme", attributes={f"acme.{key}": value for key, value in attributes.items()})


def test_parts_on_one_span() -> None:
    """Texts in attributes, chunks in a list of texts, and session, user and model in mapped attributes."""
    more = {"session_id": "acme.session", "user_id": "acme.user", "model": "acme.model", "name": "acme"}
    trace = read(
        {**FLAT, **more}, acme(q=QUESTION, a=ANSWER, texts=[PARIS, EUROPE], session="s", user="u", model="small")
    )
    assert (trace.question, trace.response, trace.evaluable) == (QUESTION, ANSWER, True)
    assert [(chunk.id, chunk.text) for chunk in trace.chunks] == [("0", PARIS), ("1", EUROPE)]
    assert (trace.session_id, trace.user_id, trace.model, trace.convention) == ("s", "u", "small", "acme")
    assert [(source.part, source.attribute) for source in trace.sources] == [
        ("question", "acme.q"),
        ("chunks", "acme.texts"),
        ("response", "acme.a"),
    ]


def test_json_paths() -> None:
    """Question, response and chunks in the JSON of attributes, also JSON in JSON. The fields of chunks are found by
    path."""
    mapping = {
        "question": "acme.in$.messages[-1].text",
        "response": "acme.out$.answer['final text']",
        "chunks": "acme.out$.hits[*]",
        "chunk_text": "$.doc.body",
        "chunk_id": "$.doc.key",
        "chunk_score": "$.score",
    }
    asked = json.dumps({"messages": [{"text": "before"}, {"text": QUESTION}]})
    hits = [{"doc": json.dumps({"body": PARIS, "key": 7}), "score": "0.5"}, {"doc": {"body": EUROPE, "key": "b"}}]
    returned = json.dumps({"answer": {"final text": ANSWER}, "hits": hits})
    trace = read(mapping, acme(**{"in": asked, "out": returned}))
    assert (trace.question, trace.response) == (QUESTION, ANSWER)
    assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == [("7", PARIS, 0.5), ("b", EUROPE, None)]


def test_numbered_attributes() -> None:
    """Chunks flattened by number, with ids and scores in attributes of the same number."""
    mapping = {**FLAT, "chunks": "acme.hit.*.text", "chunk_id": "acme.hit.*.id", "chunk_score": "acme.hit.*.score"}
    hits: dict[str, Any] = {"hit.10.text": EUROPE, "hit.10.id": "b", "hit.9.text": PARIS, "hit.0.text": "first"}
    trace = read(mapping, acme(q=QUESTION, a=ANSWER, **hits, **{"hit.9.score": 0.25, "hit.x.text": "no"}))
    assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == [
        ("0", "first", None),
        ("1", PARIS, 0.25),
        ("b", EUROPE, None),
    ]


@pytest.mark.parametrize("field", ["body", "$.body"])
def test_objects_of_unusual_names(field: str) -> None:
    """A chunk's field may be written with or without `$.`. Without a mapping, common names are tried."""
    hits = json.dumps([{"body": PARIS, "id": "a", "score": 0.5}])
    trace = read({**FLAT, "chunk_text": field}, acme(q=QUESTION, a=ANSWER, texts=hits))
    assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == [("a", PARIS, 0.5)]
    usual = json.dumps([{"content": PARIS, "id": "a"}])
    assert read(FLAT, acme(q=QUESTION, a=ANSWER, texts=usual)).chunks[0].text == PARIS


def test_parts_on_several_spans() -> None:
    """The topmost span with a mapped attribute is the entry. Chunks and response may be on spans below it."""
    root = acme(q=QUESTION)
    search, model = acme(root, texts=[PARIS]), acme(root, a=ANSWER)
    trace = read(FLAT, root, search, model)
    assert (trace.target.span_id, trace.question, trace.response) == (root.span_id, QUESTION, ANSWER)
    assert [chunk.text for chunk in trace.chunks] == [PARIS]
    assert trace.evaluable


def test_parts_side_by_side_are_one_trace() -> None:
    """A search and an answer below a server's span are one question, and the answer's span gets the scores."""
    server = a_span(scope="fastapi")
    search, model = acme(server, texts=[PARIS], q="capital"), acme(server, a=ANSWER, q=QUESTION)
    trace = read(FLAT, server, search, model)
    assert (trace.target.span_id, trace.question, trace.evaluable) == (model.span_id, QUESTION, True)


def test_missing_parts_have_their_reasons() -> None:
    """An entry without a response, without texts or without a question has the matching reason."""
    assert read(FLAT, acme(q=QUESTION, texts=[PARIS])).unevaluable_reason is UnevaluableReason.NO_RESPONSE
    assert read(FLAT, acme(a=ANSWER, texts=[PARIS])).unevaluable_reason is UnevaluableReason.NO_QUESTION
    ids = {**FLAT, "chunk_text": "$.body"}
    hidden = read(ids, acme(q=QUESTION, a=ANSWER, texts='[{"id": "a"}]'))
    assert (hidden.unevaluable_reason, hidden.chunks[0].id) == (UnevaluableReason.NO_CHUNK_TEXT, "a")
    redacted = read(FLAT, acme(q="__REDACTED__", a=ANSWER, texts=[PARIS]))
    assert redacted.unevaluable_reason is UnevaluableReason.REDACTED


def test_mapping_goes_before_the_dialects() -> None:
    """If a span also belongs to a known dialect, the mapping takes precedence."""
    span = a_span(
        "CHAIN", attributes={"input.value": "wrong", "acme.q": QUESTION, "acme.a": ANSWER, "acme.texts": [PARIS]}
    )
    assert read(FLAT, span).question == QUESTION


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.json", json.dumps(FLAT)),
        ("m.toml", "\n".join(f'{key} = "{value}"' for key, value in FLAT.items())),
    ],
)
def test_mapping_in_a_file(tmp_path: Path, name: str, content: str) -> None:
    """A JSON or TOML file gives the same mapping as an object."""
    path = tmp_path / name
    path.write_text(content)
    assert read(str(path), acme(q=QUESTION, a=ANSWER, texts=[PARIS])).evaluable


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"question": "q", "response": "a"}, "chunks missing"),
        ({**FLAT, "qestion": "q"}, "unknown field 'qestion'; did you mean 'question'"),
        ({**FLAT, "xyzzy": "q"}, "there are: question, response, chunks"),
        ({**FLAT, "chunks": ["a"]}, "chunks must be the key of an attribute"),
        ({**FLAT, "question": "q$.a..b"}, "question = 'q$.a..b' cannot read '..b'"),
        ({**FLAT, "question": "$.a"}, "has no attribute"),
        ({**FLAT, "chunks": "a.*.b.*"}, "more than one *"),
        ('{"question": ', "not JSON"),
        ("[1]", "neither JSON nor a file"),
        ("nowhere.json", "nowhere.json"),
    ],
)
def test_bad_mapping_is_refused(mapping: Any, said: str) -> None:
    """The error names the field, the problem and the known fields."""
    with pytest.raises(ConfigurationError) as raised:
        default_conventions(mapping=mapping)
    assert said in str(raised.value)
