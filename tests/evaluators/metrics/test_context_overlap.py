"""Context precision and recall without a judge, with the numbers of the worked examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, ReasonCode
from rag_otel_evaluators import evaluate
from rag_otel_evaluators.metrics.context_overlap import (
    IdContextPrecision,
    IdContextRecall,
    TextContextPrecision,
    TextContextRecall,
)
from rag_otel_evaluators.metrics.functions import function_evaluator

BY_ID = ["id_based_context_precision", "id_based_context_recall"]
BY_TEXT = ["non_llm_context_precision_with_reference", "non_llm_context_recall"]
IDS: dict[str, Any] = {"chunk_ids": ["a", "b", "c", "d"], "reference_chunk_ids": ["b", "d", "e"]}
TEXTS: dict[str, Any] = {"chunks": ["xyz", "kitten", "sitting"], "reference_chunks": ["kitten", "abcdef"]}


def test_by_ids() -> None:
    """2 of 4 retrieved ids are right, 2 of 3 right ones were retrieved."""
    assert IdContextPrecision().evaluate_sync(chunks=(), **IDS).score == 0.5
    recall = IdContextRecall().evaluate_sync(chunks=(), **IDS)
    assert recall.score == pytest.approx(2 / 3)
    assert "Missing: 'e'" in (recall.explanation or "")


def test_by_text() -> None:
    """The second and the third chunk resemble "kitten": (1/2 + 2/3) / 2; of two good chunks one was found."""
    precision = TextContextPrecision().evaluate_sync(**TEXTS)
    assert precision.score == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert precision.chunk_scores == (0.0, 1.0, 1.0)
    assert TextContextRecall().evaluate_sync(**TEXTS).score == 0.5


def test_the_thresholds_are_those_of_ragas() -> None:
    """A similarity of exactly 0.5 is enough for precision and not for recall."""
    half = {"chunks": ["abcd"], "reference_chunks": ["abxy"]}
    assert TextContextPrecision().evaluate_sync(**half).score == 1.0
    assert TextContextRecall().evaluate_sync(**half).score == 0.0
    assert TextContextPrecision(threshold=0.6).evaluate_sync(**half).score == 0.0


def test_ids_of_the_chunks_are_used() -> None:
    """A chunk whose id is only its position has none."""
    chunks = [Chunk(id="b", text="x", position=0), Chunk(id="1", text="y", position=1, has_id=False)]
    result = IdContextPrecision().evaluate_sync(chunks=chunks, reference_chunk_ids=["b"])
    assert (result.score, result.explanation) == (1.0, "1 of 1 retrieved ids are in the reference.")
    assert IdContextPrecision().evaluate_sync(chunks=["b"], reference_chunk_ids=["b"]).reason_code == "no_context"


METRICS = [IdContextPrecision(), IdContextRecall(), TextContextPrecision(), TextContextRecall()]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_nothing_to_compare(metric: Any) -> None:
    """No reference is no score. If nothing was retrieved, the recall is 0 and the precision is not defined."""
    missing = metric.evaluate_sync(chunks=["a"], chunk_ids=["a"])
    assert (missing.score, missing.reason_code) == (None, ReasonCode.NO_REFERENCE)
    empty = metric.evaluate_sync(chunks=[], reference_chunks=["a"], reference_chunk_ids=["a"])
    assert (empty.score, empty.reason_code) == (0.0 if "recall" in metric.name else None, ReasonCode.NO_CONTEXT)


@pytest.mark.parametrize(
    "row",
    [
        {"retrieved_context_ids": ["a", "b", "c", "d"], "reference_context_ids": ["b", "d", "e"]},
        {"retrieved_context_ids": "['a', 'b', 'c', 'd']", "reference_context_ids": '["b", "d", "e"]'},
        {
            "contexts": [{"id": name, "text": "x"} for name in "abcd"],
            "reference_contexts": [{"id": name, "text": "x"} for name in "bde"],
        },
        {
            "contexts": [{"id": name, "text": "x"} for name in "aabbcd"],  # several chunks of one document
            "reference_context_ids": ["b", "d", "e"],
        },
    ],
    ids=["columns of Ragas", "lists as text", "objects", "repeated ids"],
)
def test_ids_in_a_data_set(row: dict[str, Any]) -> None:
    """Wherever a row has them."""
    results = evaluate([row], metrics=BY_ID)
    assert [results.scores(name)[0] for name in BY_ID] == [0.5, pytest.approx(2 / 3)]


def test_numbers_as_ids() -> None:
    """1 and "1" are the same id, as in Ragas."""
    rows = [{"retrieved_context_ids": [1, 2], "reference_context_ids": ["1"]}]
    assert evaluate(rows, metrics=BY_ID).scores(BY_ID[0]) == [0.5]


def test_texts_in_a_data_set() -> None:
    """With the column names of Ragas; a row without good chunks says so and costs no other row."""
    row = {"retrieved_contexts": TEXTS["chunks"], "reference_contexts": TEXTS["reference_chunks"]}
    results = evaluate([row, {**row, "reference_contexts": None}], metrics=BY_TEXT)
    assert results.scores(BY_TEXT[1]) == [0.5, None]
    assert results[1][BY_TEXT[0]].reason_code == "bad_row"
    assert "no reference_contexts: column 'reference_contexts' is empty" in (results[1][BY_TEXT[0]].explanation or "")


def test_a_data_set_without_good_chunks() -> None:
    """Is refused before anything is judged, with the names that were looked for."""
    with pytest.raises(ConfigurationError, match="no column for reference_contexts, which non_llm_context_recall"):
        evaluate([{"contexts": ["a"]}], metrics=["non_llm_context_recall"])
    rows = [{"contexts": ["no id"], "reference_context_ids": ["b"]}]
    assert "have no id" in (evaluate(rows, metrics=BY_ID)[0][BY_ID[0]].explanation or "")


def test_other_metrics_do_not_read_these_columns() -> None:
    """A wrong value in them is not their problem."""
    rows = [{"contexts": ["It is 330 m high."], "answer": "It is 330 m high.", "reference_contexts": 7}]
    assert evaluate(rows).scores("faithfulness") == [1.0]


def test_a_function_may_use_the_good_chunks() -> None:
    """A retrieval metric of one's own: the reciprocal rank of the first good chunk."""

    @function_evaluator
    def reciprocal_rank(chunk_ids: list[str], reference_chunk_ids: list[str]) -> float:
        ranks = (rank for rank, each in enumerate(chunk_ids, start=1) if each in reference_chunk_ids)
        return 1 / next(ranks, len(chunk_ids) + 1)

    rows = [{"retrieved_context_ids": ["a", "b"], "reference_context_ids": ["b"]}]
    assert evaluate(rows, metrics=[reciprocal_rank]).scores("reciprocal_rank") == [0.5]


def test_on_the_command_line(tmp_path: Path) -> None:
    """By name, with columns of other names, without a judge."""
    file, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    file.write_text(json.dumps({"found": ["a", "b"], "good": ["b"]}), encoding="utf-8")
    columns = "context_ids=found,reference_context_ids=good"
    options = ["--metrics", ",".join(BY_ID), "--columns", columns, "--output", str(output)]
    assert main(["evaluate", str(file), *options]) == 0
    row = json.loads(output.read_text(encoding="utf-8"))
    assert (row[BY_ID[0]], row[BY_ID[1]]) == (0.5, 1.0)


def test_long_chunks_do_not_hold_up_the_loop() -> None:
    """10 times 10 chunks of 2,000 characters are compared one pair at a time."""
    texts = [f"{number} " * 1_000 for number in range(10)]
    assert TextContextRecall().evaluate_sync(chunks=texts, reference_chunks=texts).score == 1.0
