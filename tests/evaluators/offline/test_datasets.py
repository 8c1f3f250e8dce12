"""Rows of a file: read under their usual names or given ones; a bad row is a row with a problem."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.formats.rows import FileRow
from rag_otel_evaluators.offline.dataset_rows import read_records
from rag_otel_evaluators.offline.datasets import Column, Row, parse_columns, read_rows

GOOD = {"question": "Where?", "contexts": ["Paris is in France."], "response": "In France."}


def rows(folder: Path, *lines: object, columns: dict[str, Column] | None = None) -> list[Row]:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return read_rows(read_records(path), columns=columns)


@pytest.mark.parametrize(
    "names",
    [
        ("question", "contexts", "response"),
        ("user_input", "retrieved_contexts", "answer"),
        ("query", "documents", "output"),
    ],
)
def test_usual_names(tmp_path: Path, names: tuple[str, str, str]) -> None:
    """The names of other tools are found without being told."""
    (row,) = rows(tmp_path, dict(zip(names, GOOD.values(), strict=True)))
    assert (row.question, [chunk.text for chunk in row.chunks], row.response) == tuple(GOOD.values())


def test_given_names_and_paths(tmp_path: Path) -> None:
    """A given column wins over the usual one; a path reaches into objects; a name may hold a dot."""
    values = {"q": "Where?", "pred": {"docs": ["Paris."]}, "a.b": "In France.", "question": "Other?"}
    (row,) = rows(tmp_path, values, columns={"question": "q", "contexts": "pred.docs", "response": "a.b"})
    assert (row.question, row.chunks[0].text, row.response) == ("Where?", "Paris.", "In France.")


def test_contexts_in_several_shapes(tmp_path: Path) -> None:
    """Texts, objects with a text and an id, and a single text are passages."""
    first, second = rows(
        tmp_path,
        {**GOOD, "contexts": ["a", {"id": "d7", "text": "b"}, {"page_content": "c"}]},
        {**GOOD, "contexts": "d"},
    )
    assert [(chunk.id, chunk.text) for chunk in first.chunks] == [("0", "a"), ("d7", "b"), ("2", "c")]
    assert [chunk.text for chunk in second.chunks] == ["d"]


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ("{broken", "line 2 is not JSON"),
        ("[1, 2]", "line 2 is not a JSON object"),
        ({"question": "Where?", "contexts": ["x"]}, "no response"),
        ({**GOOD, "response": None}, "no response"),
        ({**GOOD, "response": 7}, "response must be a text"),
        ({**GOOD, "contexts": None}, "no contexts"),
        ({**GOOD, "contexts": 5}, "list of texts"),
        ({**GOOD, "contexts": {"a": 1}}, "context 0"),
        ({**GOOD, "contexts": ["fine", 3]}, "context 1"),
        ({**GOOD, "question": ["Where?"]}, "question must be a text"),
    ],
)
def test_a_bad_row_names_its_problem(tmp_path: Path, bad: Any, named: str) -> None:
    """What is wrong is said, and the rows around it are read."""
    before, row, after = rows(tmp_path, GOOD, bad, GOOD)
    needs = ("contexts", "response")
    assert named in (row.obstacle(needs) or "")
    assert before.obstacle(needs) is None
    assert after.obstacle(needs) is None


def test_empty_contexts_are_no_problem(tmp_path: Path) -> None:
    """A retrieval that found nothing can be judged, and a row without a question too."""
    empty, unasked = rows(tmp_path, {**GOOD, "contexts": []}, {"contexts": ["x"], "response": "y"})
    assert (empty.problem, empty.chunks) == (None, ())
    assert (unasked.problem, unasked.question) == (None, None)


@pytest.mark.parametrize(
    ("columns", "named"),
    [("question", "FIELD=COLUMN"), ("question=", "FIELD=COLUMN")],
)
def test_columns_that_are_no_columns(columns: str, named: str) -> None:
    """A list of columns that cannot be read says how it is written."""
    with pytest.raises(ConfigurationError, match=named):
        parse_columns(columns)


def test_columns_are_parsed() -> None:
    """Spaces do not matter, and nothing given is nothing chosen."""
    assert parse_columns(" question = q , contexts=pred.docs") == {"question": "q", "contexts": "pred.docs"}
    assert parse_columns(None) == {}


def test_a_column_that_no_row_has(tmp_path: Path) -> None:
    """The error names the column and those that there are."""
    with pytest.raises(ConfigurationError, match=r"'qq' \(question\); there are: question, contexts, response"):
        rows(tmp_path, GOOD, columns={"question": "qq"})
    with pytest.raises(ConfigurationError, match="no field answers; the fields are question"):
        rows(tmp_path, GOOD, columns={"answers": "response"})
    with pytest.raises(ConfigurationError, match="no column for response, which faithfulness needs"):
        rows(tmp_path, {"question": "q", "contexts": []})


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing, no text, and no JSON Lines are told apart; an empty file has no rows."""
    with pytest.raises(InputError, match="No such file"):
        read_records(tmp_path / "missing.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_records(tmp_path / "binary")
    with pytest.raises(InputError, match="JSON Lines"):
        rows(tmp_path, "question,contexts,response", "a,b,c")
    (tmp_path / "empty").write_text("\n")
    assert read_rows(read_records(tmp_path / "empty")) == []


def test_only_what_a_metric_needs_is_missed() -> None:
    """A file without contexts is fine for a metric of responses; a row without them is no bad row there."""
    records = [
        FileRow(1, {"answer": "Yes."}),
        FileRow(2, {"answer": "No.", "contexts": None}),
    ]
    without, empty = read_rows(records, needs={"brevity": ("response",)})
    assert (without.obstacle(["response"]), without.response) == (None, "Yes.")
    assert empty.obstacle(["contexts"]) == "no contexts: column 'contexts' is empty"


def test_a_column_may_be_a_function() -> None:
    """Of the row's values; where it fails the row says so and the others are read."""
    records = [FileRow(n, {"hits": hits, "response": "x"}) for n, hits in enumerate(([{"t": "a"}], 3), 1)]
    good, bad = read_rows(records, columns={"contexts": lambda row: [hit["t"] for hit in row["hits"]]})
    assert [chunk.text for chunk in good.chunks] == ["a"]
    assert "TypeError" in (bad.problem or "")


def test_a_row_is_named_as_the_file_names_it(tmp_path: Path) -> None:
    """By its id; where it has none, by the number of its line."""
    named, empty, unnamed = rows(tmp_path, {"id": "q-7", **GOOD}, {"id": "", **GOOD}, GOOD)
    assert [named.label, empty.label, unnamed.label] == ["q-7", "2", "3"]


def test_passages_of_one_document_can_be_told_apart() -> None:
    """Evidence is named by chunk id, so no two chunks of a row share one."""
    contexts = [{"id": "d", "text": "a"}, {"id": "d", "text": "b"}, {"id": 2, "text": "c"}, "d"]
    (row,) = read_rows([FileRow(1, {"contexts": contexts, "response": "x"})])
    assert len({chunk.id for chunk in row.chunks}) == 4
    assert [chunk.id for chunk in row.chunks][::2] == ["d", "2"]


def test_documents_are_read_by_their_shape() -> None:
    """LangChain's documents hold their text in page_content."""
    document = SimpleNamespace(page_content="Paris is in France.", metadata={}, id=None)
    (row,) = read_rows([FileRow(1, {"contexts": [document], "response": "x"})])
    assert [(chunk.id, chunk.text) for chunk in row.chunks] == [("0", "Paris is in France.")]


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("['a', \"it's b\"]", ["a", "it's b"]),
        ('[{"text": "a"}]', ["a"]),
        ("[1] A source. [2]", ["[1] A source. [2]"]),
        ("[1, 2]", ["[1, 2]"]),
        ("plain", ["plain"]),
    ],
)
def test_lists_in_a_cell(cell: str, texts: list[str]) -> None:
    """A list that was written into a text is a list again; a text that merely looks like one stays a text."""
    (row,) = read_rows([FileRow(1, {"contexts": cell, "response": "x"})])
    assert [chunk.text for chunk in row.chunks] == texts
