"""Training: reproducible to the byte, and no answer is ever scored by what saw its question."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from rag_otel.errors import InputError
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold
from rag_otel_evaluators.judges.embedded.verdicts import SHIPPED, sigmoid

sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks" / "training"))

import labelled
import train as training
from logistic_regression import fit_logistic


@pytest.mark.long
def test_training_reproduces_the_shipped_files(tmp_path: Path) -> None:
    """`make train` writes exactly what is shipped."""
    coefficients, out_of_fold = tmp_path / "coefficients.json", tmp_path / "out_of_fold.json"
    training.main(["--output", str(coefficients), "--out-of-fold", str(out_of_fold)])
    assert coefficients.read_bytes() == SHIPPED.read_bytes()
    assert out_of_fold.read_bytes() == training.OUT_OF_FOLD.read_bytes()


def test_every_question_has_a_fold() -> None:
    """Each question of the data is in one fold, and its judge is not the shipped one."""
    folds = OutOfFold.load(training.OUT_OF_FOLD)
    rows = [json.loads(line) for line in labelled.DATA.read_text(encoding="utf-8").splitlines()]
    sizes = [sum(fold == number for fold in folds.folds.values()) for number in range(training.FOLDS)]
    assert {row["source_id"] for row in rows} == set(folds.folds)
    assert max(sizes) - min(sizes) <= 1
    for row in rows:
        assert folds.judge_for(row["source_id"]).coefficients != EmbeddedJudge().coefficients


def test_an_unknown_question_is_refused() -> None:
    """A question that was never assigned has no out-of-fold judge."""
    with pytest.raises(InputError, match="no fold"):
        OutOfFold.load(training.OUT_OF_FOLD).judge_for("nobody asked")


def test_folds_do_not_hang_on_the_order() -> None:
    """The same questions in another order, or repeated, get the same folds."""
    sources = [str(number) for number in range(30)]
    assert training.assign_folds(sources) == training.assign_folds([*reversed(sources), "3"])


def test_training_needs_its_data(tmp_path: Path) -> None:
    """Without a source checkout there is nothing to train on, and the error says so."""
    with pytest.raises(InputError, match="source checkout"):
        labelled.load_answers(tmp_path / "nothing.jsonl")


def test_fit_finds_the_optimum() -> None:
    """At the fitted weights the gradient of the penalised loss is zero, with and without example weights."""
    rows = [[float(i % 7), float((i * i) % 5), 1.0] for i in range(60)]
    labels = [int((i * 13) % 11 < i % 7) for i in range(60)]
    for weights in (None, [1.0 + i % 3 for i in range(60)]):
        fit = fit_logistic(rows, labels, penalty=1e-9, weights=weights)
        errors = [
            (weights[i] if weights else 1.0)
            * (sigmoid(math.fsum(w * x for w, x in zip(fit.weights, row, strict=True)) + fit.intercept) - labels[i])
            for i, row in enumerate(rows)
        ]
        assert math.fsum(errors) == pytest.approx(0.0, abs=1e-6)
        for column in range(2):
            assert math.fsum(e * row[column] for e, row in zip(errors, rows, strict=True)) == pytest.approx(0, abs=1e-6)


def test_penalty_shrinks() -> None:
    """A penalty pulls the weights towards zero and leaves the base rate alone."""
    rows, labels = [[float(i)] for i in range(20)], [int(i >= 10) for i in range(20)]
    loose, tight = (fit_logistic(rows, labels, penalty=penalty) for penalty in (0.1, 10.0))
    assert 0 < tight.weights[0] < loose.weights[0]
    rate = sum(sigmoid(tight.weights[0] * row[0] + tight.intercept) for row in rows) / len(rows)
    assert rate == pytest.approx(0.5)
