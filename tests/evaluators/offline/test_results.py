"""How results look in a notebook and as JSON, and which data sets of Python objects are read."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser
from typing import Any

import numpy
import pytest
from pydantic import BaseModel

from rag_otel.errors import InputError
from rag_otel_evaluators import evaluate
from testkit.when_used import WhenUsed

pandas = WhenUsed("pandas")

FACT = "The tower is 330 metres high."
HOSTILE = "<script>alert(1)</script> The tower is <b>390</b> metres high."
COLUMNS: dict[str, Any] = {
    "question": ["How high?", "<img src=x onerror=alert(1)>", "How high?"],
    "contexts": [[FACT], [FACT], [FACT]],
    "answer": ["The tower is 330 metres high.", HOSTILE, "I do not know."],
}
RAGAS: dict[str, Any] = {
    "user_input": COLUMNS["question"],
    "retrieved_contexts": COLUMNS["contexts"],
    "response": COLUMNS["answer"],
    "reference": [FACT, FACT, FACT],
}
SCORES = [1.0, 0.0, None]


class Sample(BaseModel):
    user_input: str
    retrieved_contexts: list[str]
    response: str


@dataclasses.dataclass
class TestCaseOfDeepEval:
    """The names of its fields."""

    __test__ = False
    input: str
    retrieval_context: list[str]
    actual_output: str


@pytest.mark.parametrize(
    "dataset",
    [
        COLUMNS,
        RAGAS,
        {name: tuple(values) for name, values in COLUMNS.items()},
        {name: pandas.Series(values) for name, values in COLUMNS.items()},
        {**COLUMNS, "answer": numpy.array(COLUMNS["answer"])},
        [Sample(user_input=q, retrieved_contexts=c, response=a) for q, c, a in zip(*COLUMNS.values(), strict=True)],
        [TestCaseOfDeepEval(q, c, a) for q, c, a in zip(*COLUMNS.values(), strict=True)],
    ],
    ids=["columns", "names of Ragas", "tuples", "pandas columns", "numpy", "pydantic", "dataclasses"],
)
def test_columns_and_objects(dataset: Any) -> None:
    """A dict of columns and lists of objects are tables too, with the names of other libraries."""
    assert evaluate(dataset).scores("faithfulness") == SCORES


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ({**COLUMNS, "answer": ["one"]}, "question has 3, contexts has 3, answer has 1"),
        ({"question": "How high?", "contexts": [FACT], "answer": "330 m"}, "a list for every column"),
        ({"train": [{"question": "q"}], "test": [{"question": "q"}]}, "one split"),
        ({}, "a mapping of nothing"),
    ],
)
def test_mappings_that_are_no_tables(dataset: Any, message: str) -> None:
    """The message says what is wrong and what to give."""
    with pytest.raises(InputError, match=message):
        evaluate(dataset)


def test_a_repr_is_one_short_line() -> None:
    """Also of many rows with long texts."""
    many = {name: values * 200 for name, values in COLUMNS.items()}
    results = evaluate(many)
    assert repr(results) == "Results(600 rows: faithfulness 0.500 (400 scored))"
    assert repr(results[0]) == "Result(row 1: faithfulness=1.000)"
    assert repr(results[2]) == "Result(row 3: faithfulness=abstained)"
    assert repr(results[:2]) == "Results(2 rows: faithfulness 0.500)"
    assert repr(evaluate([])) == "Results(0 rows: faithfulness none)"


class Tags(HTMLParser):
    """The tags and the texts of a fragment."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_view_in_a_notebook_is_escaped() -> None:
    """Markup of the data is shown as text, in the view of all rows and in that of one."""
    results = evaluate(COLUMNS)
    for html in (results._repr_html_(), results[1]._repr_html_()):
        seen = Tags(html)
        assert {"script", "img", "b", "a"}.isdisjoint(seen.tags)
        assert "<script>alert(1)</script>" in seen.text
        assert seen.tags.count("div") >= 1
    assert "0.500" in results._repr_html_()
    assert "abstained" in results[2]._repr_html_()


def test_everything_becomes_json() -> None:
    """Results, one result and one evaluation; values that are not JSON become text."""
    stamp = pandas.Timestamp("2026-01-02")
    results = evaluate({**COLUMNS, "time": [stamp] * 3})
    whole = json.loads(results.to_json())
    assert whole["metrics"] == ["faithfulness"]
    assert (whole["summary"]["faithfulness"]["mean"], whole["summary"]["faithfulness"]["scored"]) == (0.5, 2)
    assert len(whole["summary"]["faithfulness"]["interval"]) == 2
    assert [row["faithfulness"] for row in whole["rows"]] == SCORES
    one = json.loads(results[1].to_json())
    assert one["time"] == str(stamp)
    assert one["faithfulness_detail"] == results[1]["faithfulness"].to_dict()
    assert one["faithfulness_detail"]["claims"][0]["verdict"] == "contradicted"
    with pytest.raises(KeyError, match="there are: faithfulness"):
        results[0]["politeness"]
