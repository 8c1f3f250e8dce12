"""Reads texts from prompts for retrievals with only ids, if each text can be assigned with certainty."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_otel.model import UnevaluableReason
from rag_otel_collectors.conventions import default_conventions
from tests.collectors.conventions.spans import EUROPE, PARIS, QUESTION, TOWER, read_one, texts
from tests.collectors.conventions.test_genai import chat, operation, retrieval, workflow

NAMED = ({"id": "d1"}, {"id": "d2"})


def recovered(*documents: dict[str, Any], **prompt: str) -> list[str]:
    """The texts that are found for these documents in a call with these prompt variables."""
    root = workflow()
    variables = {f"prompt.variable.{name}": value for name, value in prompt.items()}
    return texts(read_one(root, retrieval(root, *documents), chat(root, QUESTION, **variables)))


@pytest.mark.parametrize(
    "context",
    [
        f"{PARIS}\n\n{EUROPE}",
        f"{PARIS}\n{EUROPE}\n",
        f"Paris is\nthe capital\n---\n{EUROPE}",
        json.dumps([{"id": "d2", "text": EUROPE}, {"id": "d1", "text": PARIS}]),
        json.dumps([PARIS, EUROPE]),
    ],
)
def test_variable_that_joins_the_documents(context: str) -> None:
    """The least ambiguous separator must give as many pieces as documents. JSON is matched by ids if it has them."""
    first, second = recovered(*NAMED, context=context)
    assert first.replace("\n", " ") in (PARIS, "Paris is the capital")
    assert second == EUROPE


def test_one_document_is_the_whole_variable() -> None:
    """With one document the text is not split, also if it has blank lines."""
    assert recovered({"id": "d1"}, docs=f"{PARIS}\n\n{EUROPE}") == [f"{PARIS}\n\n{EUROPE}"]


@pytest.mark.parametrize("context", [PARIS, f"{PARIS}\n\n{EUROPE}\n\n{TOWER}", "", "__REDACTED__", json.dumps([PARIS])])
def test_other_numbers_of_pieces_are_not_guessed_at(context: str) -> None:
    """With more or fewer pieces than documents, the trace has the reason `no_chunk_text`."""
    root = workflow()
    call = chat(root, QUESTION, **{"prompt.variable.context": context})
    trace = read_one(root, retrieval(root, *NAMED), call)
    assert (texts(trace), trace.unevaluable_reason) == (["", ""], UnevaluableReason.NO_CHUNK_TEXT)


def test_other_variables_are_not_the_documents() -> None:
    """A question of two paragraphs is not taken for two documents."""
    assert recovered(*NAMED, question=f"{PARIS}\n\n{EUROPE}") == ["", ""]


def test_documents_marked_by_id_in_the_prompt() -> None:
    """Tags with the ids of the documents identify the texts in any order. If one is missing, none is used."""
    root = workflow()
    marked = f'<doc id="d2">{EUROPE}</doc> <doc title="x" id=d1>\n{PARIS}\n</doc> {QUESTION}'
    assert texts(read_one(root, retrieval(root, *NAMED), chat(root, marked))) == [PARIS, EUROPE]
    assert texts(read_one(root, retrieval(root, *NAMED), chat(root, marked.replace("d1", "d11")))) == ["", ""]


def test_plain_prompt_is_not_taken_apart() -> None:
    """If a prompt mixes instructions and passages, the end of a passage is unknown."""
    root = workflow()
    call = chat(root, f"Use this:\n{PARIS}\n\n{EUROPE}\n\n{QUESTION}")
    assert texts(read_one(root, retrieval(root, *NAMED), call)) == ["", ""]


def test_tools_result_for_the_retrieval_in_it() -> None:
    """The result of a tool joins the documents of the retriever below it."""
    root = workflow()
    joined = {"tool.name": "search", "tool.call.result": f"{PARIS}\n\n{EUROPE}"}
    tool = operation("execute_tool", root, attributes=joined)
    trace = read_one(root, tool, retrieval(tool, *NAMED))
    assert [(chunk.id, chunk.text) for chunk in trace.chunks] == [("d1", PARIS), ("d2", EUROPE)]


def test_nothing_is_recovered_for_those_who_can_fetch_the_texts() -> None:
    """With a chunk resolver, texts are not read from the prompt."""
    root = workflow()
    spans = [root, retrieval(root, *NAMED), chat(root, QUESTION, **{"prompt.variable.context": f"{PARIS}\n\n{EUROPE}"})]
    (trace,) = (trace for each in default_conventions(recover_chunks=False) for trace in each.read(spans))
    assert trace.unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT
