"""Train the embedded judge: `python -m rag_otel_evaluators.judges.embedded.training.train` (or `make train`).

Reads answers with human-marked hallucinations and pairs of short answers that differ in one point, and writes two
files, the same bytes on every run: `coefficients.json` beside this file, trained on all of them, and
`examples/data/out_of_fold.json`, five sets of coefficients of which each never saw one fifth of the questions. Folds
never share a question or a context.

The answers tell how likely a claim is to be unsupported, the pairs which of two claims is the likelier one. So the
weights are fitted on both, the intercept on the answers alone: their share of unsupported claims is the prior.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rag_otel_evaluators.judges.embedded.coefficients import FEATURES, SHIPPED, Coefficients
from rag_otel_evaluators.judges.embedded.training.labelled import (
    DATA,
    PAIRS,
    ROOT,
    ContrastPair,
    LabelledAnswer,
    load_answers,
    load_pairs,
)
from rag_otel_evaluators.judges.embedded.training.logistic_regression import LogisticFit, fit_logistic
from rag_otel_evaluators.judges.embedded.training.out_of_fold import OutOfFold
from rag_otel_evaluators.judges.embedded.verdicts import doubt_of, unsupported_probability

OUT_OF_FOLD: Final = ROOT / "examples/data/out_of_fold.json"

FOLDS: Final = 5
PENALTY: Final = 4.0
"""Ridge penalty on standardised weights. Anything from 1 to 30 does about as well; not tuned further."""
CALIBRATION_PENALTY: Final = 0.01
DAMPINGS: Final = tuple(step / 20 for step in range(4, 21))
"""Candidates for `Coefficients.damping`: the data tell it no better than to a twentieth. Below 0.2 the likelihood
hardly changes, and the answers are ranked worse."""
PAIR_WEIGHT: Final = 0.3
"""How much a pair counts beside a claim. From 0.2 to 0.6 the AUROC on people's answers stays (out of fold) and pairs
are told apart better; from 1 on it falls."""
FREE: Final = frozenset(
    {*FEATURES[:2], *FEATURES[6:10], "cohesion", "spread", "unread", "events_turned", "list_item"},
)
"""Features that may speak for a claim as well as against it. The others name a defect: their weight is not negative."""
DIGITS: Final = 4
"""Decimals that are kept: far more than the data can tell, few enough that no machine's rounding shows."""


def assign_folds(source_ids: Sequence[str], folds: int = FOLDS) -> dict[str, int]:
    """source_id -> fold, all folds of nearly one size; by a hash, so that the order of the file says nothing."""
    shuffled = sorted(set(source_ids), key=lambda source: hashlib.sha256(source.encode()).hexdigest())
    return {source: position % folds for position, source in enumerate(shuffled)}


def train(answers: Sequence[LabelledAnswer], pairs: Sequence[ContrastPair]) -> Coefficients:
    """Fit the claim model on everything; calibrate it, and then the risk, on claims that their model had not seen."""
    folds = assign_folds([answer.source_id for answer in answers])
    unseen_by: list[Coefficients] = [
        _fit_claims(
            [answer for answer in answers if folds[answer.source_id] != fold],
            [pair for pair in pairs if fold_of(pair.group, folds) != fold],
        )
        for fold in range(FOLDS)
    ]
    calibration = _fit_calibration(answers, [unseen_by[folds[answer.source_id]] for answer in answers])
    calibrated = [_calibrate(unseen_by[folds[answer.source_id]], calibration) for answer in answers]
    final = _calibrate(_fit_claims(answers, pairs), calibration)
    return replace(final, damping=_fit_damping(answers, calibrated))


def fold_of(group: str, folds: Mapping[str, int]) -> int:
    """The fold of a group of pairs: its question's where it shares a question's passages, else by a hash."""
    if group in folds:
        return folds[group]
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % FOLDS


def _fit_claims(answers: Sequence[LabelledAnswer], pairs: Sequence[ContrastPair]) -> Coefficients:
    """The claim model alone."""
    fit = fit_logistic(
        [claim.features for answer in answers for claim in answer.claims],
        [label for answer in answers for label in answer.unsupported],
        penalty=PENALTY,
        pairs=[
            [bad - good for bad, good in zip(pair.unfaithful[0].features, pair.faithful[0].features, strict=True)]
            for pair in pairs
        ],
        pair_weight=PAIR_WEIGHT,
        at_least_zero=[at for at, name in enumerate(FEATURES) if name not in FREE],
    )
    return Coefficients(weights=fit.weights, intercept=fit.intercept, damping=1.0)


def _fit_calibration(answers: Sequence[LabelledAnswer], models: Sequence[Coefficients]) -> LogisticFit:
    """Platt scaling: from the log-odds of models that had not seen the claim to those of the human labels.

    Takes back what the pairs add to the probabilities, and keeps what they add to the ranking.
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
        (
            [unsupported_probability(model, claim, doubt_of(answer.claims)) for claim in answer.claims],
            answer.unfaithful,
            model,
        )
        for answer, model in zip(answers, models, strict=True)
        if answer.claims
    ]

    def log_loss(damping: float) -> float:
        risks = ((replace(model, damping=damping).risk(claims), label) for claims, label, model in judged)
        return -math.fsum(math.log(risk if label else 1.0 - risk) for risk, label in risks)

    return min(DAMPINGS, key=log_loss)


def train_out_of_fold(answers: Sequence[LabelledAnswer], pairs: Sequence[ContrastPair]) -> OutOfFold:
    """One set of coefficients per fold; calibration too sees only the other folds."""
    folds = assign_folds([answer.source_id for answer in answers])
    return OutOfFold(
        folds=dict(sorted(folds.items())),
        coefficients=tuple(
            train(
                [answer for answer in answers if folds[answer.source_id] != fold],
                [pair for pair in pairs if fold_of(pair.group, folds) != fold],
            )
            for fold in range(FOLDS)
        ),
    )


def write(values: Mapping[str, Any], path: Path) -> None:
    """As JSON that is stable to the byte."""
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train the embedded judge.")
    parser.add_argument("--data", type=Path, default=DATA, help="answers with human labels (JSONL)")
    parser.add_argument("--pairs", type=Path, default=PAIRS, help="pairs of answers that differ in one point (JSONL)")
    parser.add_argument("--output", type=Path, default=SHIPPED, help="where the coefficients go")
    parser.add_argument("--out-of-fold", type=Path, default=OUT_OF_FOLD, help="where the per-fold coefficients go")
    options = parser.parse_args(arguments)
    answers, pairs = load_answers(options.data), load_pairs(options.pairs)
    write(train(answers, pairs).as_json(), options.output)
    write(train_out_of_fold(answers, pairs).as_json(), options.out_of_fold)
    claims = sum(len(answer.claims) for answer in answers)
    print(f"{len(answers)} answers, {claims} claims, {len(pairs)} pairs -> {options.output}, {options.out_of_fold}")


if __name__ == "__main__":
    main()
