"""Parts of a data set, evaluated on their own and by Dask in processes of its own, against the whole at once."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators import evaluate, evaluate_file, evaluate_partition
from rag_otel_evaluators.metrics.critics import Aspect
from testkit.when_used import WhenUsed
from tests.evaluators.offline.test_examples import ROOT, run

pandas = WhenUsed("pandas")

PASSAGE = "The tower of case {} is 330 metres high and was finished in 1889."
COLUMNS = {"contexts": "hits[*].text"}
PAGE = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")


def some_rows(count: int) -> list[dict[str, Any]]:
    """Right and wrong answers. The second has no passages, the third no answer."""
    made: list[dict[str, Any]] = [
        {
            "id": f"row-{number}",
            "question": "When was it finished?",
            "hits": [{"text": PASSAGE.format(number)}],
            "contexts": [PASSAGE.format(number)],
            "answer": f"The tower was finished in {1889 + number % 2}.",
        }
        for number in range(count)
    ]
    made[1] |= {"hits": None, "contexts": None}
    made[2] |= {"answer": None}
    return made


def write_history(folder: Path, rows: list[dict[str, Any]], files: int) -> list[Path]:
    """The rows in so many Parquet files."""
    folder.mkdir()
    schema, size = pyarrow.Table.from_pylist(rows).schema, len(rows) // files
    paths = [folder / f"{number}.parquet" for number in range(files)]
    for number, path in enumerate(paths):
        part = rows[number * size : (number + 1) * size]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(part, schema=schema), path)
    return paths


def columns_of(path: Path) -> dict[str, list[Any]]:
    """The ids and the results of a file or a folder of files."""
    table = pyarrow.parquet.read_table(path)
    return {name: table[name].to_pylist() for name in ("id", "faithfulness", "faithfulness_detail")}


def evaluated_at_once(rows: list[dict[str, Any]], folder: Path, **settings: Any) -> dict[str, list[Any]]:
    """The same columns from the plain function."""
    path = folder / "at_once.parquet"
    evaluate(rows, **settings).save(path)
    return columns_of(path)


def blocks() -> list[str]:
    """Of the chapter on Dask and Ray."""
    return re.findall(r"```python\n(.*?)```", PAGE.partition("## Millions of rows")[2], re.DOTALL)


@pytest.mark.server
@pytest.mark.parametrize(("number", "written"), [(0, "scored"), pytest.param(2, "results", marks=pytest.mark.long)])
def test_the_pages_dask_gives_what_the_plain_function_gives_to_the_byte(
    tmp_path: Path, number: int, written: str
) -> None:
    rows = some_rows(12)
    write_history(tmp_path / "history", rows, files=3)
    (tmp_path / "page.py").write_text(blocks()[number])
    shown = run([sys.executable, "page.py"], tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert columns_of(tmp_path / written) == evaluated_at_once(rows, tmp_path)


@pytest.mark.server
@pytest.mark.parametrize("number", [1, 3])
def test_the_pages_ray(tmp_path: Path, number: int) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install 'ray[data]'")
    rows = some_rows(12)
    write_history(tmp_path / "history", rows, files=3)
    (tmp_path / "page.py").write_text(blocks()[number])
    shown = run([sys.executable, "page.py"], tmp_path)
    assert shown.returncode == 0, shown.stderr
    found = columns_of(tmp_path / ("scored" if number == 1 else "results"))
    by_id = sorted(zip(*found.values(), strict=True))
    assert by_id == sorted(zip(*evaluated_at_once(rows, tmp_path).values(), strict=True))


@pytest.mark.parametrize("pandas_frame", [True, False])
def test_a_partition_keeps_its_columns_and_index_and_gets_the_same_types_whatever_its_rows(pandas_frame: bool) -> None:
    """Also if it has no rows, or only rows that cannot be evaluated."""

    def part(rows: list[dict[str, Any]]) -> Any:
        table = pyarrow.Table.from_pylist(rows, schema=schema)
        return table.to_pandas().set_index(pandas.Index(range(7, 7 + len(rows)))) if pandas_frame else table

    schema = pyarrow.Table.from_pylist(some_rows(5)).schema
    parts = [evaluate_partition(part(rows), columns=COLUMNS) for rows in ([], some_rows(5)[1:3], some_rows(5))]
    if pandas_frame:
        assert len({tuple(map(str, each.dtypes)) for each in parts}) == 1
        assert list(parts[2].index) == [7, 8, 9, 10, 11]
        tables = [pyarrow.Table.from_pandas(each, preserve_index=False) for each in parts]
    else:
        assert len({each.schema for each in parts}) == 1
        tables = parts
    assert tables[2]["id"].to_pylist() == [f"row-{number}" for number in range(5)]
    assert tables[2]["hits"].to_pylist() == [row["hits"] for row in some_rows(5)]
    assert tables[2]["faithfulness"].to_pylist() == evaluate(some_rows(5), columns=COLUMNS).scores("faithfulness")
    reasons = [json.loads(text)["explanation"] for text in tables[1]["faithfulness_detail"].to_pylist()]
    assert reasons == ["no contexts: column 'hits[*].text' is empty", "no response: column 'answer' is empty"]


def test_wrong_settings_are_found_on_an_empty_partition() -> None:
    """Before an engine starts its processes."""
    empty = pandas.DataFrame(some_rows(3))[:0]
    with pytest.raises(ConfigurationError, match=r"no row has a column 'hit\.text'"):
        evaluate_partition(empty, columns={"contexts": "hit.text"})
    with pytest.raises(ConfigurationError, match="no column for contexts"):
        evaluate_partition(pandas.DataFrame({"answer": ["a"]}))


def test_the_evaluators_are_built_once_for_a_process_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Mapping[str, Any]] = []
    from rag_otel_evaluators.offline import partitions

    def counted(metrics: Any, settings: Any, resources: Any) -> Any:
        built.append(settings)
        return original(metrics, settings, resources)

    original = partitions.build_named
    monkeypatch.setattr(partitions, "build_named", counted)
    partitions._built.cache_clear()
    frame = pandas.DataFrame(some_rows(3))
    for judge in ("embedded", "embedded", {"model": "embedded", "samples": 2}, "embedded"):
        evaluate_partition(frame, judge=judge)
    assert len(built) == 2


def test_a_file_is_evaluated_once_and_appears_when_it_is_complete(tmp_path: Path) -> None:
    """A second run does nothing; a file that cannot be read leaves nothing behind and does not raise."""
    (path,) = write_history(tmp_path / "history", some_rows(6), files=1)
    output = tmp_path / "scored" / "deep" / "0.parquet"
    assert evaluate_file(path, output)["rows"] == 6
    written = output.stat()
    again = evaluate_file(path, output)
    assert (again["skipped"], again["rows"], output.stat().st_mtime_ns) == (True, 0, written.st_mtime_ns)
    path.write_bytes(path.read_bytes()[:-50])
    outcome = evaluate_file(path, tmp_path / "other" / "0.parquet")
    assert "Parquet" in (outcome["problem"] or "")
    assert os.listdir(tmp_path / "other") == []


def test_a_described_metric_and_a_function(tmp_path: Path) -> None:
    """Metrics of all kinds have their columns; an aspect needs a language model and says so."""
    frame = pandas.DataFrame(some_rows(3))

    def length(response: str) -> float:
        return min(1.0, len(response) / 100)

    assert list(evaluate_partition(frame, ["faithfulness", length]).columns[-2:]) == ["length", "length_detail"]
    polite = Aspect(name="polite", definition="Is the answer polite?")
    assert list(evaluate_partition(frame[:0], [polite]).columns[-2:]) == ["polite", "polite_detail"]
    with pytest.raises(ConfigurationError, match="needs a language model"):
        evaluate_partition(frame, [polite])
