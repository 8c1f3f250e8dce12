"""`evaluate(dataset, metrics=[...])` in Python: whatever a notebook has at hand, with any metric."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import rag_otel
import rag_otel_evaluators
from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError, InputError
from rag_otel.evaluation.calibration import Calibration, read_calibrations, write_calibrations
from rag_otel.model import Chunk
from rag_otel_evaluators import compare, evaluate
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.metrics.functions import function_evaluator
from rag_otel_evaluators.metrics.registry import RAGAS_NAMES, metric_names
from rag_otel_evaluators.offline.partitions import evaluate_partition
from testkit.when_used import WhenUsed

datasets, pandas = WhenUsed("datasets"), WhenUsed("pandas")

EINSTEIN = "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist."
ROWS: list[dict[str, Any]] = [
    {"question": "When?", "contexts": [EINSTEIN], "answer": "Einstein was born on 14th March 1879."},
    {"question": "When?", "contexts": [EINSTEIN], "answer": "Einstein was born on 20th March 1879."},
    {"question": "When?", "contexts": [EINSTEIN], "answer": None},
]
SCORES = [1.0, 0.0, None]


def from_file(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "convert",
    [
        lambda folder: ROWS,
        lambda folder: iter(ROWS),
        lambda folder: pandas.DataFrame(ROWS),
        lambda folder: datasets.Dataset.from_list(ROWS),
        lambda folder: pyarrow.Table.from_pylist(ROWS),
        from_file,
        lambda folder: str(from_file(folder)),
    ],
    ids=["list", "generator", "pandas", "hugging face", "arrow", "path", "path as text"],
)
def test_data_sets_of_every_kind(tmp_path: Path, convert: Any) -> None:
    """The same rows, whatever holds them, have the same scores; what is missing in a data frame is missing here."""
    results = evaluate(convert(tmp_path), metrics=["faithfulness"])
    assert results.scores("faithfulness") == SCORES
    assert results.evaluations("faithfulness")[2].reason_code == "bad_row"


def test_what_comes_out() -> None:
    """Rows with a column and a detail for each metric, as dicts or as a data frame, and figures."""
    results = evaluate(ROWS)
    frame = results.to_pandas()
    assert list(frame.columns) == ["question", "contexts", "answer", "faithfulness", "faithfulness_detail"]
    assert frame["faithfulness"][:2].tolist() == SCORES[:2]
    assert results.to_dicts()[1]["faithfulness_detail"]["claims"][0]["verdict"] == "contradicted"
    (summary,) = results.summary()
    assert (summary.mean, summary.scored, dict(summary.nulls)) == (0.5, 2, {"bad_row": 1})
    with pytest.raises(KeyError, match="there are: faithfulness"):
        results.scores("politeness")


def test_one_metric_needs_no_list(tmp_path: Path) -> None:
    """A name, names with commas, or an object; the same for data frames and comparisons."""
    assert evaluate(ROWS, metrics="faithfulness").scores("faithfulness") == SCORES
    names = evaluate(ROWS, "faithfulness, non_llm_context_recall", columns={"reference_contexts": "contexts"}).metrics
    assert names == ("faithfulness", "non_llm_context_recall")
    results = evaluate(ROWS, metrics=Faithfulness())
    assert results.scores("faithfulness") == SCORES
    frame = evaluate_partition(pandas.DataFrame(ROWS[:2]), "faithfulness")
    assert frame["faithfulness"].tolist() == SCORES[:2]
    assert [each.metric for each in compare(results, results, metrics="faithfulness").metrics] == ["faithfulness"]
    with pytest.raises(ConfigurationError, match="Shortness is a class: give an object"):
        evaluate(ROWS, metrics=type("Shortness", (Faithfulness,), {}))


def test_what_there_is_can_be_listed() -> None:
    """In a notebook one looks with dir() and the tab key."""
    assert {"aevaluate", "compare", "evaluate"} <= set(dir(rag_otel_evaluators))
    assert all(callable(getattr(rag_otel_evaluators, name)) for name in dir(rag_otel_evaluators))


def test_the_names_of_ragas_work_or_say_what_to_write() -> None:
    """Names, classes and objects of Ragas, and its way to a column of scores."""
    results = evaluate(ROWS, metrics=["Faithfulness"])
    assert results["faithfulness"] == results.scores("faithfulness") == SCORES
    with pytest.raises(KeyError, match="there are: faithfulness"):
        results["politeness"]
    with pytest.raises(AttributeError, match="in metrics= write the name of the metric: 'context_recall'"):
        rag_otel_evaluators.LLMContextRecall  # noqa: B018
    ragas_metric = type("LLMContextRecall", (), {})
    for given in (ragas_metric, ragas_metric()):
        with pytest.raises(ConfigurationError, match="write the name of the metric: 'context_recall'"):
            evaluate(ROWS, metrics=[given])
    with pytest.raises(ConfigurationError, match=r"write rag_otel_evaluators.metrics.critics.Aspect"):
        evaluate(ROWS, metrics=["AspectCritic"])
    with pytest.raises(ConfigurationError, match="write the name of the metric: 'faithfulness'"):
        rag_otel.instrument(metrics=["Faithfulness"])
    assert set(RAGAS_NAMES.values()) <= set(metric_names())


def test_metrics_of_every_kind() -> None:
    """A name, an evaluator, a decorated function and a plain one; each a column, in this order."""

    @function_evaluator(name="short")
    def shortness(response: str) -> float:
        return 1.0 if len(response) < 100 else 0.0

    async def has_chunks(chunks: list[Chunk]) -> float:
        return float(bool(chunks))

    class Renamed(Faithfulness):
        @property
        def name(self) -> str:
            return "my_faithfulness"

    results = evaluate(ROWS, metrics=[shortness, "faithfulness", has_chunks, Renamed()])
    assert results.metrics == ("short", "faithfulness", "has_chunks", "my_faithfulness")
    assert results.scores("short") == [1.0, 1.0, None]
    assert results.scores("has_chunks") == [1.0, 1.0, 1.0]
    assert results.scores("my_faithfulness") == SCORES


def test_columns_by_function_and_by_path() -> None:
    """What no name says can be computed."""
    rows = [{"out": {"text": "Einstein was born in 1879."}, "hits": [{"body": EINSTEIN}]}]
    columns = {"response": "out.text", "contexts": lambda row: [hit["body"] for hit in row["hits"]]}
    assert evaluate(rows, columns=columns).scores("faithfulness") == [1.0]


async def test_inside_a_notebook() -> None:
    """An event loop that is running already does not matter."""
    assert evaluate(ROWS[:1]).scores("faithfulness") == [1.0]


@pytest.mark.parametrize(
    ("dataset", "metrics", "error", "message"),
    [
        ({"train": ROWS, "test": ROWS}, ["faithfulness"], InputError, "one split"),
        (7, ["faithfulness"], InputError, "int is not a table"),
        (ROWS, [], ConfigurationError, "at least one"),
        (ROWS, ["faithfulness", Faithfulness()], ConfigurationError, "different names"),
        (ROWS, ["context_recall"], ConfigurationError, "needs a language model"),
        (ROWS, [3], ConfigurationError, "a name, an evaluator or a function"),
        ([{"question": "Q"}], ["faithfulness"], ConfigurationError, "no column for contexts"),
    ],
)
def test_what_is_wrong_with_the_whole(dataset: Any, metrics: Any, error: type[Exception], message: str) -> None:
    """Is raised before anything is judged."""
    with pytest.raises(error, match=message):
        evaluate(dataset, metrics=metrics)


def test_rows_that_are_no_rows() -> None:
    """One bad item does not cost the others."""
    results = evaluate([ROWS[0], "nonsense", ROWS[1]])
    assert results.scores("faithfulness") == [1.0, None, 0.0]
    assert "row 2 is not a mapping" in (results.evaluations("faithfulness")[1].explanation or "")


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet"])
def test_results_can_be_saved(tmp_path: Path, name: str) -> None:
    """In every format, and evaluated again from there."""
    evaluate(pandas.DataFrame(ROWS)).save(tmp_path / name)
    assert evaluate(tmp_path / name).scores("faithfulness") == SCORES


def test_importing_the_package_brings_nothing() -> None:
    """An application that judges live traces carries no data set code, no pandas and no progress bar."""
    script = "import sys, rag_otel_evaluators, rag_otel_evaluators.metrics.faithfulness; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    unwanted = {
        "pandas",
        "numpy",
        "pyarrow",
        "tqdm",
        "rag_otel_evaluators.offline.evaluate",
        "rag_otel_evaluators.offline.datasets",
    }
    assert unwanted.isdisjoint(shown.stdout.split())


def test_a_calibration_applies_as_in_live_traffic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In Python, on the command line and for a part of a data set; the report says so."""
    file = tmp_path / "calibration.json"
    plain = evaluate(ROWS)
    judged = plain[0]["faithfulness"]
    fitted = {"slope": 0.5, "intercept": 1.0, "threshold": 0.01, "labels": 20, "bad": 10}
    write_calibrations(
        file,
        [Calibration(metric="faithfulness", judge=judged.judge, version=judged.version, **fitted)],  # type: ignore[arg-type]
    )
    calibrated = evaluate(ROWS, calibration_file=file)
    wanted = [*map(read_calibrations(file).apply, plain.evaluations("faithfulness"))]
    found = calibrated.evaluations("faithfulness")
    assert [(each.risk, each.label, each.version) for each in found] == [
        (each.risk, each.label, each.version) for each in wanted
    ]
    assert [each.risk for each in found] != [each.risk for each in plain.evaluations("faithfulness")]
    for kept in ("score", "label", "claims"):
        assert [getattr(each, kept) for each in found] == [
            getattr(each, kept) for each in plain.evaluations("faithfulness")
        ]
    said = "of 2 rows calibrated with a calibration file"
    assert said in calibrated.report(tmp_path / "report").read_text(encoding="utf-8")
    assert said not in plain.report(tmp_path / "plain").read_text(encoding="utf-8")
    part = evaluate_partition(pyarrow.Table.from_pylist(ROWS), calibration_file=file)
    details = [json.loads(each) for each in part.column("faithfulness_detail").to_pylist()]
    assert [each.get("version") for each in details] == [each.to_dict().get("version") for each in wanted]
    command = ["evaluate", str(from_file(tmp_path)), "--output", str(tmp_path / "out.jsonl")]
    assert main([*command, "--allow-bad-rows", "--calibration-file", str(file)]) == 0
    assert f"calibration: {file} was applied to faithfulness (2 rows)" in capsys.readouterr().err
    with pytest.raises(ConfigurationError, match=r"calibration_file = .*cannot be read"):
        evaluate(ROWS, calibration_file=tmp_path / "none.json")
