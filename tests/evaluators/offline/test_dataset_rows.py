"""Files in and out: JSON Lines, CSV and Parquet hold the same rows, and nothing of a row is lost."""

from __future__ import annotations

import csv
import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.errors import ConfigurationError, InputError
from rag_otel_evaluators.offline.dataset_rows import read_records
from rag_otel_evaluators.offline.dataset_writers import open_writer, plain
from rag_otel_evaluators.offline.datasets import Row, read_rows

ROWS: list[dict[str, Any]] = [
    {"question": 'Where, "exactly"?', "contexts": ["Paris is in France.", "Line one.\nLine two."], "answer": "France."},
    {"question": "Qué?", "contexts": [], "answer": "Niño 爱; 1,5"},
]
RESULTS = {"faithfulness": 0.5, "faithfulness_detail": {"score": 0.5, "claims": []}}


def written(path: Path, rows: list[dict[str, Any]], results: list[dict[str, Any]], source: Path | None = None) -> Path:
    """The file after rows and their results were written to it."""
    columns = list(dict.fromkeys(name for result in results for name in result))
    as_rows = [Row(number=n, values=row) for n, row in enumerate(rows, 1)]
    with open_writer(str(path), source=source, rows=as_rows, results=columns) as writer:
        for row, result in zip(rows, results, strict=True):
            writer.write(row, result)
    return path


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.tsv", "rows.parquet"])
def test_every_format_holds_the_same_rows(tmp_path: Path, name: str) -> None:
    """What is written in one format is read back as the same questions, chunks, responses and scores."""
    records = read_records(written(tmp_path / name, ROWS, [RESULTS, {**RESULTS, "faithfulness": None}]))
    rows = read_rows(records)
    assert [(row.question, [chunk.text for chunk in row.chunks], row.response) for row in rows] == [
        tuple(row.values()) for row in ROWS
    ]
    assert [float(score) if (score := row.values["faithfulness"]) is not None else None for row in rows] == [0.5, None]
    detail = rows[0].values["faithfulness_detail"]
    assert (json.loads(detail) if isinstance(detail, str) else detail) == RESULTS["faithfulness_detail"]


@pytest.fixture
def default_csv_limit() -> Iterator[None]:
    """The csv module's own limit of a cell's length, which other libraries in this process may have changed."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("default_csv_limit")
def test_csv_as_spreadsheets_write_it(tmp_path: Path) -> None:
    """Semicolons, a byte order mark, quoted line ends and long cells; an empty cell is a missing value."""
    path = tmp_path / "rows.csv"
    text = f'question;contexts;answer\r\n"a\r\nb";"{"x" * 200_000}";"1,5"\r\nq;c;\r\n'
    path.write_text(text, encoding="utf-8-sig", newline="")
    first, second = read_rows(read_records(path))
    assert (first.question, len(first.chunks[0].text), first.response) == ("a\r\nb", 200_000, "1,5")
    assert second.obstacle(["response"]) == "no response: column 'answer' is empty"
    assert (first.number, second.number) == (2, 4)
    assert csv.field_size_limit() == 131_072


def test_a_line_of_another_length_is_a_bad_row(tmp_path: Path) -> None:
    """A cell too many or too few would put every value into another column."""
    path = tmp_path / "rows.csv"
    path.write_text("contexts,response\na,b\na,b,c\n\na\nd,e\n", encoding="utf-8")
    rows = read_rows(read_records(path))
    assert [row.problem for row in rows] == [
        None,
        "line 3 has 3 cells, the header 2",
        "line 5 has 1 cells, the header 2",
        None,
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b'question,contexts\n"a,b\n', "is not CSV: line 2"),
        ("a.csv", b"question,question\na,b\n", "two columns have the name 'question'"),
        ("a.parquet", b"nothing of the kind", "is not Parquet"),
        ("a.csv", b"\xff\xfe\x00", "UTF-8"),
        ("a.xlsx", b"PK\x03\x04", "spreadsheets are not read; save it as CSV"),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    """The error names the file and what is wrong with it."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as raised:
        read_records(path)
    assert str(path) in str(raised.value)


def test_a_missing_parquet_file(tmp_path: Path) -> None:
    """As for the other formats."""
    with pytest.raises(InputError, match="cannot be read"):
        read_records(tmp_path / "missing.parquet")


def test_parquet_keeps_the_types_of_its_columns(tmp_path: Path) -> None:
    """Dates, small integers and dictionaries come out as they went in; details are text, scores are numbers."""
    source = tmp_path / "in.parquet"
    table = pyarrow.table(
        {
            "contexts": pyarrow.array([["a"], ["b"]], pyarrow.large_list(pyarrow.large_string())),
            "response": pyarrow.array(["x", "y"]).dictionary_encode(),
            "day": pyarrow.array([datetime.date(2026, 1, 2)] * 2),
            "n": pyarrow.array([1, 2], pyarrow.int16()),
            "faithfulness": ["old", "old"],
        }
    )
    pyarrow.parquet.write_table(table, source)
    rows = [dict(record.value or {}) for record in read_records(source)]
    result = read_table(written(tmp_path / "out.parquet", rows, [{**RESULTS, "faithfulness": None}] * 2, source=source))
    kept = ["contexts", "response", "day", "n"]
    assert result.select(kept).equals(pyarrow.parquet.read_table(source).select(kept))
    assert result.schema.field("faithfulness").type == pyarrow.float64()
    assert json.loads(result["faithfulness_detail"][0].as_py()) == RESULTS["faithfulness_detail"]


def test_rows_that_disagree_still_make_a_parquet_file(tmp_path: Path) -> None:
    """A column of numbers and objects becomes text; half a surrogate pair becomes its escape."""
    rows = [{"a": 1, "b": "\ud83d"}, {"a": {"x": [1, 2]}}, {"b": "ok"}]
    table = read_table(written(tmp_path / "out.parquet", rows, [RESULTS] * 3))
    assert table["a"].to_pylist() == ["1", '{"x": [1, 2]}', None]
    assert table["b"].to_pylist() == ["\\ud83d", None, "ok"]


def test_an_interrupted_parquet_file_is_no_file(tmp_path: Path) -> None:
    """It is written at the end: until then there is nothing that could be taken for a result."""
    path = tmp_path / "out.parquet"
    opened = open_writer(str(path), source=None, rows=[], results=["x"])
    opened.__enter__().write({"a": 1}, {"x": 0.5})
    interrupt = KeyboardInterrupt()
    assert not opened.__exit__(KeyboardInterrupt, interrupt, None)
    assert not path.exists()


@pytest.mark.parametrize("name", ["no/folder/out.jsonl", "no/folder/out.csv", "no/folder/out.parquet"])
def test_a_place_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    """Known before anything is judged."""
    with pytest.raises(ConfigurationError, match="cannot be written"):
        written(tmp_path / name, [], [])


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | st.dates() | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=3),
)


@settings(deadline=None)
@given(values)
def test_whatever_a_row_holds_can_be_written_as_json(value: Any) -> None:
    """No value stops a file half way; what is no number is null."""
    json.dumps(plain(value), allow_nan=False)


def read_table(path: Path) -> Any:
    return pyarrow.parquet.read_table(path)
