"""Two evaluations of the same questions: differences by hand, pairs, intervals and thresholds."""

from __future__ import annotations

import doctest
import json
import random
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError, InputError
from rag_otel_evaluators import compare, evaluate
from rag_otel_evaluators.offline import statistics

FACT = "The tower is 330 metres high."


def rows(*scores: float | None, **columns: Any) -> list[dict[str, Any]]:
    """Rows as `rag-otel evaluate` writes them, each with its own question."""
    return [
        {"question": f"Question {number}?", "m": score, "m_detail": {"score": score}, **columns}
        for number, score in enumerate(scores)
    ]


def write(path: Path, values: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


def test_the_difference_is_that_of_the_pairs() -> None:
    """Differences -0.5, 0, +0.25 and -0.75: mean -0.25. Rows without a score in both are counted, not compared."""
    before = rows(1.0, 0.5, 0.5, 1.0, 0.9, None)
    after = rows(0.5, 0.5, 0.75, 0.25, None, 0.4)
    metric = compare(before, after)["m"]
    assert (metric.pairs, metric.lost, metric.gained) == (4, 1, 1)
    assert (metric.before, metric.after, metric.difference, metric.drop) == (0.75, 0.5, -0.25, 0.25)
    assert (metric.better, metric.worse) == (1, 2)
    assert [(each.question, each.before, each.after) for each in metric.changes] == [
        ("Question 3?", 1.0, 0.25),
        ("Question 0?", 1.0, 0.5),
    ]
    assert metric.interval is not None
    assert metric.interval[0] <= -0.25 <= metric.interval[1]
    assert metric.verdict == "not shown"


def test_a_shift_of_all_rows_is_shown() -> None:
    """Pairs take away the spread between questions: 0.05 is sure here, though the scores spread over 0.5."""
    draw = random.Random(0)
    before = [draw.uniform(0.2, 0.8) for _ in range(30)]
    after = [score - 0.05 + draw.uniform(-0.02, 0.02) for score in before]
    assert compare(rows(*before), rows(*after))["m"].verdict == "worse"
    assert compare(rows(*after), rows(*before))["m"].verdict == "better"
    assert compare(rows(*before), rows(*before))["m"].verdict == "not shown"


def test_answers_to_one_question_count_once() -> None:
    """Ten copies of every row are not ten times as sure."""
    before, after = rows(1.0, 0.5, 0.5, 0.8), rows(0.5, 0.5, 0.75, 0.4)
    once, copies = compare(before, after)["m"], compare(before * 10, after * 10)["m"]
    assert copies.pairs == 10 * once.pairs
    assert copies.interval == pytest.approx(once.interval)


def test_small_samples_have_wider_intervals() -> None:
    """The tail of the percentile interval, with the example of the docstring."""
    tried = doctest.testmod(statistics)
    assert (tried.attempted, tried.failed) == (1, 0)
    assert statistics.expanded_tail(5) < statistics.expanded_tail(50) < statistics.expanded_tail(10_000) < 0.025


@pytest.mark.parametrize("column", ["id", None])
def test_rows_are_matched_whatever_their_order(column: str | None) -> None:
    """By an id, by the question, or by a column that is named."""
    before = [{**row, "id": 7 - number, "key": number} for number, row in enumerate(rows(0.1, 0.2, 0.3))]
    after = list(reversed(before))
    if column is None:
        before, after = ([{k: v for k, v in row.items() if k != "id"} for row in each] for each in (before, after))
    found = compare(before, after)
    assert (found.matched, found.unmatched, found["m"].worse, found["m"].better) == (3, 0, 0, 0)
    assert compare(before, after[:2], by="key").unmatched == 1


def test_lower_may_be_better() -> None:
    """For noise sensitivity, and for metrics of one's own that are named."""
    before, after = rows(0.1, 0.2, 0.1), rows(0.3, 0.4, 0.3)
    assert compare(before, after)["m"].drop == pytest.approx(-0.2)
    own = compare(before, after, lower_is_better=["m"])
    assert (own["m"].verdict, own["m"].worse, own["m"].drop) == ("worse", 3, pytest.approx(0.2))
    assert own.shortcomings(fail_below={"m": 0.2}) == ["m: the mean 0.3333 is above 0.2"]
    noise = [[{**row, "noise_sensitivity": row["m"]} for row in each] for each in (before, after)]
    assert compare(*noise, metrics=["noise_sensitivity"])["noise_sensitivity"].verdict == "worse"


def test_scores_of_another_tool() -> None:
    """Columns without details are compared if they are named; text, NaN and empty cells as in a CSV file."""
    before = [{"user_input": "a", "faithfulness": "1.0"}, {"user_input": "b", "faithfulness": "nan"}]
    after = [{"user_input": "a", "faithfulness": "0.5"}, {"user_input": "b", "faithfulness": ""}]
    assert compare(before, after, metrics=["faithfulness"])["faithfulness"].difference == -0.5
    with pytest.raises(ConfigurationError, match="no metric in common"):
        compare(before, after)
    with pytest.raises(ConfigurationError, match="no column 'recall' in both; there are: user_input, faithfulness"):
        compare(before, after, metrics=["recall"])
    with pytest.raises(InputError, match="'good' is not a score"):
        compare(before, [{"user_input": "a", "faithfulness": "good"}], metrics=["faithfulness"])


def test_what_cannot_be_compared() -> None:
    """The message says why."""
    with pytest.raises(InputError, match="without rows"):
        compare([], rows(1.0))
    with pytest.raises(InputError, match="matched by question"):
        compare(rows(1.0), [{**rows(1.0)[0], "question": "Another?"}])
    with pytest.raises(ConfigurationError, match="no row has a column 'key'"):
        compare(rows(1.0), rows(1.0), by="key")


def test_results_are_compared_directly() -> None:
    """Of two versions of an application; short as text, a table in a notebook, everything as JSON."""
    questions = ["How high?", "<b>How tall?</b>"]
    good = {"question": questions, "contexts": [[FACT]] * 2, "answer": [FACT] * 2}
    bad = {**good, "answer": ["The tower is 390 metres high."] * 2}
    comparison = compare(evaluate(good), evaluate(bad))
    assert repr(comparison) == "Comparison(2 rows: faithfulness -1.000 (worse))"
    assert "<td>-1.000</td>" in comparison._repr_html_()
    assert json.loads(comparison.to_json())["metrics"]["faithfulness"]["changes"][1]["question"] == "<b>How tall?</b>"
    with pytest.raises(KeyError, match="there are: faithfulness"):
        comparison["recall"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 0, ""),
        (["--fail-below", "m=0.5"], 0, ""),
        (["--fail-below", "m=0.55"], 1, "m: the mean 0.5000 is below 0.55"),
        (["--max-drop", "0.3"], 0, ""),
        (["--max-drop", "m=0.1"], 1, "m: the mean became worse by 0.2500, more than 0.1"),
        (["--max-drop", "0.1"], 1, "95% interval"),
        (["--max-drop", "0.1", "--significant"], 0, ""),
        (["--max-drop", "0", "--max-drop", "m=0.3"], 0, ""),
        (["--fail-below", "0.5"], 2, "is not METRIC=NUMBER"),
        (["--max-drop", "recall=0.1"], 2, "'recall' was not compared; there are: m"),
    ],
)
def test_thresholds_in_a_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: int, message: str
) -> None:
    """0 if all are met, 1 if not, 2 for a wrong option."""
    before = write(tmp_path / "before.jsonl", rows(1.0, 0.5, 0.5, 1.0))
    after = write(tmp_path / "after.jsonl", rows(0.5, 0.5, 0.75, 0.25))
    assert main(["compare", str(before), str(after), *options]) == code
    assert message in capsys.readouterr().err


def test_one_question_has_no_interval() -> None:
    """A drop is told without one."""
    comparison = compare(rows(1.0), rows(0.0))
    assert comparison.shortcomings(max_drop=0.1) == [
        "m: the mean became worse by 1.0000, more than 0.1 (difference -1.000, no interval from so few questions)"
    ]


@pytest.mark.parametrize("kept", [rows(1.0, 1.0, None, None), rows(1.0, 1.0)], ids=["without a score", "missing"])
def test_lost_rows_are_a_gate_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kept: list[dict[str, Any]]
) -> None:
    """The rows that are left became no worse; that half of them are gone is no success."""
    before, after = write(tmp_path / "before.jsonl", rows(1.0, 1.0, 0.5, 0.5)), write(tmp_path / "after.jsonl", kept)
    assert main(["compare", str(before), str(after), "--max-drop", "0"]) == 1
    assert "m: 2 of 4 rows that had a score have none now" in capsys.readouterr().err
    assert main(["compare", str(before), str(after), "--max-drop", "0", "--max-lost", "0.5"]) == 0
    assert main(["compare", str(before), str(after), "--max-lost", "2"]) == 2


def test_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table, the rows that became worse, lost scores, and a file with everything."""
    before = write(tmp_path / "before.jsonl", rows(1.0, 0.5, 0.5, 1.0, 0.5))
    after = write(tmp_path / "after.jsonl", rows(0.5, 0.5, 0.75, 0.25, None))
    allowed = ["--max-lost", "0.2"]
    assert main(["compare", str(before), str(after), *allowed, "--output", str(tmp_path / "out.json")]) == 0
    shown = capsys.readouterr().out
    assert "m           4   0.750  0.500      -0.250" in shown
    assert "Question 3?" in shown
    assert "m: 1 rows have lost their score, 0 have got one" in shown
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert written["metrics"]["m"]["difference"] == -0.25


def test_a_threshold_without_a_score_is_not_met() -> None:
    """Nothing to compare is not a success."""
    comparison = compare(rows(None), rows(0.5))
    assert comparison.shortcomings(fail_below={"m": 0.1}, max_drop=0.1) == [
        "m: no row has a score in both; the mean must be at least 0.1",
        "m: no row has a score in both; the drop must be at most 0.1",
    ]
