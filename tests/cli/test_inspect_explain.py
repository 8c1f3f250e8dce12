"""`rag-otel inspect` with what the user adds: explanations, attribute names of one's own, a resolver of chunk ids."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.inspect_explain import WHY
from rag_otel.cli.main import main
from rag_otel.model import UnevaluableReason
from tests.collectors.conventions.otlp_json import a_json_span, a_request, text_attributes
from tests.collectors.conventions.spans import ANSWER, EUROPE, FIXTURES, PARIS, QUESTION, TOWER


def rows(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, Any]]:
    """The rows that `rag-otel inspect` prints."""
    assert main(["inspect", *map(str, arguments)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_explain_says_where_each_part_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Adapter, span and attribute of question, chunks and response; the row is otherwise the same."""
    path = FIXTURES / "langchain_genai_chatopenai.json"
    (plain,), (row,) = rows(capsys, path), rows(capsys, "--explain", path)
    explain = row.pop("explain")
    assert row == plain
    assert explain == {
        "adapter": "genai",
        "target": "invoke_workflow RunnableSequence",
        "question": ["gen_ai.input.messages of 'chat stub-model' (858405c29f7ebb2e)"],
        "chunks": [
            "gen_ai.retrieval.documents of 'retrieval' (229ecd57dcd04725)",
            "gen_ai.prompt.variable.context of 'chat stub-model' (858405c29f7ebb2e)",
        ],
        "response": ["gen_ai.output.messages of 'chat stub-model' (858405c29f7ebb2e)"],
        "evaluable": True,
        "why_not": None,
    }


def test_explain_says_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    """The reason comes with what to do about it."""
    (row,) = rows(capsys, "--explain", FIXTURES / "llamaindex_genai_query.json")
    assert row["explain"]["why_not"].startswith("no_chunk_text: ")
    assert "chunk_resolver" in row["explain"]["why_not"]


def test_every_reason_is_explained() -> None:
    """No trace is left with a bare code."""
    assert WHY.keys() == set(UnevaluableReason)


def test_explain_shows_traces_without_a_retrieval(capsys: pytest.CaptureFixture[str]) -> None:
    """Whose spans were seen, and which were not read, so that one can tell what to instrument or to map."""
    (row,) = rows(capsys, "--explain", FIXTURES / "openai_oi_default.json")
    assert (row["convention"], row["unevaluable_reason"]) == (None, "no_chunks")
    assert "spans: 1 of openinference, 1 not recognised; not read: app" in row["explain"]["why_not"]


def test_explanation_is_text_on_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """People get lines, programs get JSON."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["inspect", "--explain", str(FIXTURES / "langchain_tl_invoke.json")]) == 0
    shown = capsys.readouterr().out
    assert "traceloop: evaluable" in shown
    assert "from traceloop.entity.input of 'RunnableSequence.workflow'" in shown


def acme_file(tmp_path: Path) -> Path:
    """A file with a span of nobody's dialect."""
    fields = {"acme.q": QUESTION, "acme.a": ANSWER, "acme.hits": json.dumps([{"body": PARIS}])}
    path = tmp_path / "acme.json"
    path.write_text(json.dumps(a_request(a_json_span(attributes=text_attributes(fields)), scope="acme")))
    return path


def test_mapping(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attribute names of one's own come from a file, the argument itself, or the environment."""
    mapping = {"question": "acme.q", "response": "acme.a", "chunks": "acme.hits", "chunk_text": "$.body"}
    file, path = tmp_path / "mapping.json", acme_file(tmp_path)
    file.write_text(json.dumps(mapping))
    assert rows(capsys, path) == []
    (by_file,) = rows(capsys, "--mapping", file, path)
    assert (by_file["question"], by_file["chunks"][0]["text"], by_file["convention"]) == (QUESTION, PARIS, "custom")
    assert rows(capsys, "--mapping", json.dumps(mapping), path) == [by_file]
    monkeypatch.setenv("RAG_OTEL_ATTRIBUTE_MAPPING", str(file))
    assert rows(capsys, path) == [by_file]


def test_bad_mapping_or_resolver(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Exit code 2 and one line that says what is wrong."""
    path = acme_file(tmp_path)
    assert main(["inspect", "--mapping", '{"question": "q"}', str(path)]) == 2
    assert "response, chunks missing" in capsys.readouterr().err
    assert main(["inspect", "--chunk-resolver", "nowhere:fetch", str(path)]) == 2
    assert "chunk_resolver 'nowhere:fetch' cannot be found" in capsys.readouterr().err


def test_chunk_resolver(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function in the working directory gives the texts that are on no span."""
    (tmp_path / "my_store.py").write_text(f"def fetch(ids):\n    return {{'d2': {EUROPE!r}, 'd3': {TOWER!r}}}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = FIXTURES / "llamaindex_genai_query.json"
    (row,) = rows(capsys, "--explain", "--chunk-resolver", "my_store:fetch", path)
    assert [chunk["text"] for chunk in row["chunks"]] == [EUROPE, TOWER]
    assert row["unevaluable_reason"] == "no_response"
    assert row["explain"]["chunks"][-1].startswith("chunk_resolver of ")
