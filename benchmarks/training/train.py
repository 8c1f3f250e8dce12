"""Train the embedded judge on people's labels: `python benchmarks/training/train.py` (or `make train`).

Writes two files, the same bytes on every run: the judge's `coefficients.json`, learned from all answers, and
`examples/data/out_of_fold.json`, five sets of coefficients of which each never saw one fifth of the questions. Pairs
that were made up teach nothing: as training data they bought pairs and sold people's answers at every weight.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

from labelled import DATA, ROOT, LabelledAnswer, load_answers
from logistic_regression import fit_logistic

from rag_otel_evaluators.judges.embedded.out_of_fold import OutOfFold
from rag_otel_evaluators.judges.embedded.verdicts import SHIPPED, Coefficients

OUT_OF_FOLD: Final = ROOT / "examples/data/out_of_fold.json"
FOLDS: Final = 5
PENALTY: Final = 1.0
"""Ridge penalty on standardised weights. Anything from .1 to 10 does as well (within .003 AUROC); not tuned further."""
DIGITS: Final = 4
"""Decimals that are kept: far more than the data can tell, few enough that no machine's rounding shows."""


def assign_folds(source_ids: Sequence[str], folds: int = FOLDS) -> dict[str, int]:
    """source_id -> fold, all folds of nearly one size; by a hash, so that the order of the file says nothing."""
    shuffled = sorted(set(source_ids), key=lambda source: hashlib.sha256(source.encode()).hexdigest())
    return {source: position % folds for position, source in enumerate(shuffled)}


def train(answers: Sequence[LabelledAnswer]) -> Coefficients:
    """Fit the line on the claims of these answers."""
    fit = fit_logistic(
        [claim.features for answer in answers for claim in answer.claims],
        [label for answer in answers for label in answer.unsupported],
        penalty=PENALTY,
    )
    return Coefficients(
        weights=tuple(round(weight, DIGITS) for weight in fit.weights), intercept=round(fit.intercept, DIGITS)
    )


def train_out_of_fold(answers: Sequence[LabelledAnswer]) -> OutOfFold:
    """One set of coefficients per fold."""
    folds = assign_folds([answer.source_id for answer in answers])
    return OutOfFold(
        folds=dict(sorted(folds.items())),
        coefficients=tuple(
            train([answer for answer in answers if folds[answer.source_id] != fold]) for fold in range(FOLDS)
        ),
    )


def write(values: Mapping[str, Any], path: Path) -> None:
    """As JSON that is stable to the byte."""
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train the embedded judge.")
    parser.add_argument("--data", type=Path, default=DATA, help="answers with human labels (JSONL)")
    parser.add_argument("--output", type=Path, default=SHIPPED, help="where the coefficients go")
    parser.add_argument("--out-of-fold", type=Path, default=OUT_OF_FOLD, help="where the per-fold coefficients go")
    options = parser.parse_args(arguments)
    answers = load_answers(options.data)
    write(train(answers).as_json(), options.output)
    write(train_out_of_fold(answers).as_json(), options.out_of_fold)
    claims = sum(len(answer.claims) for answer in answers)
    print(f"{len(answers)} answers, {claims} claims -> {options.output}, {options.out_of_fold}")


if __name__ == "__main__":
    main()
