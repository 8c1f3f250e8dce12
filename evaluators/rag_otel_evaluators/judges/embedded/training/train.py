"""Train the embedded judge: `python -m rag_otel_evaluators.judges.embedded.training.train` (or `make train`).

Reads answers with human-marked hallucinations and writes two files, the same bytes on every run:
`coefficients.json` beside this file, trained on all of them, and `examples/data/out_of_fold.json`, five sets of
coefficients of which each never saw one fifth of the questions. Folds never share a question.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rag_otel_evaluators.judges.embedded.coefficients import SHIPPED, Coefficients
from rag_otel_evaluators.judges.embedded.training.labelled import DATA, ROOT, LabelledAnswer, load_answers
from rag_otel_evaluators.judges.embedded.training.logistic_regression import LogisticFit, fit_logistic
from rag_otel_evaluators.judges.embedded.training.out_of_fold import OutOfFold
from rag_otel_evaluators.judges.embedded.verdicts import unsupported_probability

OUT_OF_FOLD: Final = ROOT / "examples/data/out_of_fold.json"

FOLDS: Final = 5
PENALTY: Final = 4.0
"""Ridge penalty on standardised weights. Anything from 1 to 30 does about as well; not tuned further."""
CALIBRATION_PENALTY: Final = 0.01
DAMPINGS: Final = tuple(step / 20 for step in range(21))
"""Candidates for `Coefficients.damping`: the data tell it no better than to a twentieth."""
MISMATCH_WEIGHT: Final = 0.05
"""How much a claim counts when it is laid against another question's passages, where nothing of it is supported.
People rarely mark short or generic claims; without these examples a claim of few words would pass whatever it says."""
SWAP_WEIGHT: Final = 0.03
"""How much all perturbed claims of one kind count together, per answer. People's answers hold few subtle swaps, so
the model learns them from examples; at 0.1 it ranks swaps better by .02 and real claims worse by .01."""
DIGITS: Final = 4
"""Decimals that are kept: far more than the data can tell, few enough that no machine's rounding shows."""


def assign_folds(source_ids: Sequence[str], folds: int = FOLDS) -> dict[str, int]:
    """source_id -> fold, all folds of nearly one size; by a hash, so that the order of the file says nothing."""
    shuffled = sorted(set(source_ids), key=lambda source: hashlib.sha256(source.encode()).hexdigest())
    return {source: position % folds for position, source in enumerate(shuffled)}


def train(answers: Sequence[LabelledAnswer]) -> Coefficients:
    """Fit the claim model on all answers; calibrate it, and then the risk, on claims that their model had not seen."""
    folds = assign_folds([answer.source_id for answer in answers])
    unseen_by: list[Coefficients] = [
        _fit_claims([answer for answer in answers if folds[answer.source_id] != fold]) for fold in range(FOLDS)
    ]
    calibration = _fit_calibration(answers, [unseen_by[folds[answer.source_id]] for answer in answers])
    calibrated = [_calibrate(unseen_by[folds[answer.source_id]], calibration) for answer in answers]
    final = _calibrate(_fit_claims(answers), calibration)
    return replace(final, damping=_fit_damping(answers, calibrated))


def _fit_claims(answers: Sequence[LabelledAnswer]) -> Coefficients:
    """The claim model alone."""
    rows = [claim.features for answer in answers for claim in answer.claims]
    labels = [label for answer in answers for label in answer.unsupported]
    mismatched = [claim.features for answer in answers for claim in answer.mismatched]
    perturbed = [perturbed for answer in answers for perturbed in answer.perturbed]
    of_kind = Counter(example.kind for example in perturbed)
    wrong = [*mismatched, *(example.claim.features for example in perturbed)]
    fit = fit_logistic(
        [*rows, *wrong],
        [*labels, *(1 for _ in wrong)],
        penalty=PENALTY,
        weights=[
            *(1.0 for _ in rows),
            *(MISMATCH_WEIGHT for _ in mismatched),
            *(SWAP_WEIGHT * len(answers) / of_kind[example.kind] for example in perturbed),
        ],
    )
    return Coefficients(weights=fit.weights, intercept=fit.intercept, damping=1.0)


def _fit_calibration(answers: Sequence[LabelledAnswer], models: Sequence[Coefficients]) -> LogisticFit:
    """Platt scaling: from the log-odds of models that had not seen the claim to those of the human labels.

    Takes back what the mismatched and perturbed examples add to the probabilities, and keeps what they add to the
    ranking.
    """
    rows = [
        [model.log_odds(claim.features)]
        for answer, model in zip(answers, models, strict=True)
        for claim in answer.claims
    ]
    labels = [label for answer in answers for label in answer.unsupported]
    return fit_logistic(rows, labels, penalty=CALIBRATION_PENALTY)


def _calibrate(model: Coefficients, calibration: LogisticFit) -> Coefficients:
    """The model with the calibration folded into its weights, rounded as it is shipped."""
    (slope,) = calibration.weights
    return Coefficients(
        weights=tuple(round(weight * slope, DIGITS) for weight in model.weights),
        intercept=round(model.intercept * slope + calibration.intercept, DIGITS),
        damping=model.damping,
    )


def _fit_damping(answers: Sequence[LabelledAnswer], models: Sequence[Coefficients]) -> float:
    """The damping whose risks the human labels of the answers are likeliest under."""
    judged = [
        ([unsupported_probability(model, claim) for claim in answer.claims], answer.unfaithful, model)
        for answer, model in zip(answers, models, strict=True)
        if answer.claims
    ]

    def log_loss(damping: float) -> float:
        risks = ((replace(model, damping=damping).risk(claims), label) for claims, label, model in judged)
        return -math.fsum(math.log(risk if label else 1.0 - risk) for risk, label in risks)

    return min(DAMPINGS, key=log_loss)


def train_out_of_fold(answers: Sequence[LabelledAnswer]) -> OutOfFold:
    """One set of coefficients per fold; calibration too sees only the other folds."""
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
