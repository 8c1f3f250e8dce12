"""Train the embedded judge: `python -m rag_otel_evaluators.judges.embedded.training.train` (or `make train`).

Reads answers with human-marked hallucinations and pairs of short answers that differ in one point, and writes two
files, the same bytes on every run: `coefficients.json` beside this file, trained on all of them, and
`examples/data/out_of_fold.json`, five sets of coefficients of which each never saw one fifth of the questions. Folds
never share a question or a context.

The answers tell how likely a claim is to be unsupported, the pairs which of two claims is the likelier one. So the
weights for long answers are fitted on both, and calibrated on the answers: their share of unsupported claims is the
prior. The trees for short answers are grown on the pairs and on short claims of the answers, and calibrated on both as
if one in `1 / PRIOR` were unfaithful.
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

from rag_otel_evaluators.judges.embedded.assessment import AssessedClaim
from rag_otel_evaluators.judges.embedded.coefficients import (
    FEATURES,
    FOR_SHORT,
    MANY_WORDS,
    SHIPPED,
    Coefficients,
    Line,
    shortness_of,
    sigmoid,
)
from rag_otel_evaluators.judges.embedded.training.boosted_trees import Singles, fit_trees
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
from rag_otel_evaluators.judges.embedded.wording import WORDED

OUT_OF_FOLD: Final = ROOT / "examples/data/out_of_fold.json"

FOLDS: Final = 5
PENALTY: Final = 4.0
"""Ridge penalty on standardised weights. Anything from 1 to 30 does about as well; not tuned further."""
CALIBRATION_PENALTY: Final = 0.01
DAMPINGS: Final = tuple(step / 20 for step in range(4, 21))
"""Candidates for `Coefficients.damping`: the data tell it no better than to a twentieth. Below 0.2 the likelihood
hardly changes, and the answers are ranked worse."""
PAIR_WEIGHT: Final = 0.2
"""How much a pair counts beside a claim in the weights for long answers. From 0.2 to 0.6 the AUROC on people's answers
stays (out of fold) and pairs are told apart better; from 1 on it falls."""
SINGLE_WEIGHT: Final = 4.0
"""How much a short claim of people's answers counts beside a pair in the trees for short answers. Without them the
trees know twins alone: of people's short claims the AUROC is .56 instead of .84, and of claims of other data sets .48
to .60 instead of .57 to .78, while pairs are told apart as well (.68 and .70 of those of writers left out)."""
MADE_UP_WEIGHT: Final = 1.0
"""The same for an answer against other passages. With 1, of the pairs of writers left out .72 are told apart, instead
of .73 without them, and answers from the same ones against other passages with an AUROC of .92 instead of .69; with
0.3, .73 and .88. A rule that raised the risk of answers in other words did worse: .71 and .83."""
PRIOR: Final = 0.2
"""Share of short answers that are taken to be unfaithful. Of people's answers in the data it is 0.17."""
FREE: Final = frozenset(
    [
        *("chunk_coverage", "trigrams", "list_item", "short", "short_coverage", "short_trigrams", "short_unseen"),
        *(
            "cohesion",
            "number_derived",
            "calculated",
            "denial_added",
            "only_lost",
            "limits_kept",
            "hedge_added",
            "compared_wrong",
            "events_turned",
        ),
        *("denial_turned", "reply_turned", "spread", "unread", "focus_gap", "focus_near", "reply", *WORDED),
    ]
)
"""Features that may speak for a claim as well as against it. The others name a defect: their weight is not negative."""
_FOR_SHORT: Final = frozenset(map(FEATURES.index, FOR_SHORT))
_CALIBRATING: Final = "w10-"
"""How the groups of pairs begin of which nothing is learned but how sure the others make the judge: neither rules nor
weights have seen them. Calibrated on pairs that the rules were made with, short answers below a risk of .1 were
unfaithful in 14% of them, where one in five is unfaithful."""
_COVERAGE: Final = FEATURES.index("chunk_coverage")
DIGITS: Final = 4
"""Decimals that are kept: far more than the data can tell, few enough that no machine's rounding shows."""


def assign_folds(source_ids: Sequence[str], folds: int = FOLDS) -> dict[str, int]:
    """source_id -> fold, all folds of nearly one size; by a hash, so that the order of the file says nothing."""
    shuffled = sorted(set(source_ids), key=lambda source: hashlib.sha256(source.encode()).hexdigest())
    return {source: position % folds for position, source in enumerate(shuffled)}


def train(answers: Sequence[LabelledAnswer], pairs: Sequence[ContrastPair]) -> Coefficients:
    """Fit the claim models on everything; calibrate them, and then the risk, on claims that their model never saw."""
    calibrating = [pair for pair in pairs if pair.group.startswith(_CALIBRATING)]
    learned = [pair for pair in pairs if not pair.group.startswith(_CALIBRATING)]
    folds = assign_folds([answer.source_id for answer in answers])
    unseen_by: list[Coefficients] = [
        _fit_claims(
            [answer for answer in answers if folds[answer.source_id] != fold],
            [pair for pair in learned if fold_of(pair.group, folds) != fold],
        )
        for fold in range(FOLDS)
    ]
    own = [unseen_by[folds[answer.source_id]] for answer in answers]
    model = _fit_claims(answers, learned)
    long = _calibration_on_answers(answers, own)
    short = _calibration_on_short(calibrating or learned, model, answers, own)
    final = _calibrate(model, long, short)
    return replace(final, damping=_fit_damping(answers, [_calibrate(each, long, short) for each in own]))


def fold_of(group: str, folds: Mapping[str, int]) -> int:
    """The fold of a group of pairs: its question's where it shares a question's passages, else by a hash."""
    if group in folds:
        return folds[group]
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % FOLDS


def _fit_claims(answers: Sequence[LabelledAnswer], pairs: Sequence[ContrastPair]) -> Coefficients:
    """The claim models alone."""
    differences = [_minus(pair.unfaithful, pair.faithful) for pair in pairs]
    counts = _balanced(differences)
    at_least_zero = [at for at, name in enumerate(FEATURES) if name not in FREE]
    long = fit_logistic(
        [_for_long(claim.features) for answer in answers for claim in answer.claims],
        [label for answer in answers for label in answer.unsupported],
        penalty=PENALTY,
        pairs=[_for_long(row) for row in differences],
        pair_weight=PAIR_WEIGHT,
        pair_counts=counts,
        at_least_zero=at_least_zero,
    )
    line = fit_logistic(
        [],
        [],
        penalty=PENALTY,
        pairs=differences,
        pair_counts=counts,
        at_least_zero=at_least_zero,
        towards=long.weights,
    )
    short = fit_trees(
        [
            ([claim.features for claim in pair.faithful], [claim.features for claim in pair.unfaithful])
            for pair in pairs
        ],
        weights=line.weights,
        counts=counts,
        singles=[_short_claims(answers), _made_up(pairs)],
        rising=at_least_zero,
    )
    return Coefficients(
        long=Line(weights=long.weights, intercept=long.intercept),
        short=short,
        damping=1.0,
    )


def _short_claims(answers: Sequence[LabelledAnswer]) -> Singles:
    """The claims of people's answers that would be short answers alone: what is wrong with answers of every day."""
    found = [
        (claim.features, label)
        for answer in answers
        for claim, label in zip(answer.claims, answer.unsupported, strict=True)
        if claim.words < MANY_WORDS
    ]
    return Singles(
        claims=[features for features, _ in found],
        unsupported=[label for _, label in found],
        weight=SINGLE_WEIGHT,
        share=sum(label for _, label in found) / max(1, len(found)),
    )


def _made_up(pairs: Sequence[ContrastPair]) -> Singles:
    """Faithful answers against passages that do not say them: what a made-up answer looks like."""
    claims = [pair.elsewhere[0].features for pair in pairs if pair.elsewhere]
    return Singles(claims=claims, unsupported=[1] * len(claims), weight=MADE_UP_WEIGHT, share=0.5)


def _for_long(features: Sequence[float]) -> list[float]:
    """The features with those of short answers left at 0, so that their weights for long answers are 0."""
    return [0.0 if at in _FOR_SHORT else value for at, value in enumerate(features)]


def _balanced(differences: Sequence[Sequence[float]]) -> list[float]:
    """How much each pair counts, so that those whose unfaithful answer shares more words with the context weigh as much
    as those whose faithful one does: the pairs are not to teach that shared words tell the truth."""
    signs = [(value > 0.0) - (value < 0.0) for value in (row[_COVERAGE] for row in differences)]
    more, less = signs.count(1), signs.count(-1)
    if not more or not less:
        return [1.0] * len(signs)
    even = (more + less) / 2
    return [even / more if sign > 0 else even / less if sign < 0 else 1.0 for sign in signs]


def _minus(bad: Sequence[AssessedClaim], good: Sequence[AssessedClaim]) -> list[float]:
    """The features of one answer, added up, less those of another."""
    totals = ([math.fsum(values) for values in zip(*(c.features for c in side), strict=True)] for side in (bad, good))
    return [one - other for one, other in zip(*totals, strict=True)]


def _calibration_on_answers(answers: Sequence[LabelledAnswer], models: Sequence[Coefficients]) -> LogisticFit:
    """Platt scaling: from the log-odds of models that had not seen the claim to those of the human labels.

    Takes back what the pairs add to the probabilities, and keeps what they add to the ranking.
    """
    rows = [
        [model.long.at(claim.features)]
        for answer, model in zip(answers, models, strict=True)
        for claim in answer.claims
    ]
    labels = [label for answer in answers for label in answer.unsupported]
    return fit_logistic(rows, labels, penalty=CALIBRATION_PENALTY)


def _calibration_on_short(
    pairs: Sequence[ContrastPair],
    of_pairs: Coefficients,
    answers: Sequence[LabelledAnswer],
    of_answers: Sequence[Coefficients],
) -> LogisticFit:
    """The same for short answers: pairs, and people's short claims, as much of each, `PRIOR` of either unfaithful."""
    rows: list[tuple[float, int, float]] = []
    for pair in pairs:
        for claims, label, weight in ((pair.faithful, 0, 1.0 - PRIOR), (pair.unfaithful, 1, PRIOR)):
            rows.append((max(of_pairs.short.at(claim.features) for claim in claims), label, weight))
    singles = [_short_claims([answer]) for answer in answers]
    unsupported = sum(sum(found.unsupported) for found in singles)
    supported = sum(len(found.unsupported) for found in singles) - unsupported
    weights = (len(pairs) * (1.0 - PRIOR) / max(1, supported), len(pairs) * PRIOR / max(1, unsupported))
    for found, model in zip(singles, of_answers, strict=True):
        for features, label in zip(found.claims, found.unsupported, strict=True):
            rows.append((model.short.at(features), label, weights[label]))
    return fit_logistic(
        [[value] for value, _, _ in rows],
        [label for _, label, _ in rows],
        weights=[weight for _, _, weight in rows],
        penalty=CALIBRATION_PENALTY,
    )


def _calibrate(model: Coefficients, long: LogisticFit, short: LogisticFit) -> Coefficients:
    """The model with the calibrations folded into its weights, rounded as it is shipped."""
    (slope,) = short.weights
    return Coefficients(
        long=_scaled(model.long, long),
        short=model.short.scaled(slope, short.intercept, DIGITS),
        damping=model.damping,
    )


def _scaled(line: Line, calibration: LogisticFit) -> Line:
    (slope,) = calibration.weights
    return Line(
        weights=tuple(round(weight * slope, DIGITS) for weight in line.weights),
        intercept=round(line.intercept * slope + calibration.intercept, DIGITS),
    )


def _fit_damping(answers: Sequence[LabelledAnswer], models: Sequence[Coefficients]) -> float:
    """The damping whose risks the human labels of the answers are likeliest under."""
    judged = []
    for answer, model in zip(answers, models, strict=True):
        shortness = shortness_of(sum(claim.words for claim in answer.claims))
        odds = [model.log_odds(claim.features, shortness) for claim in answer.claims]
        if odds:
            judged.append(([sigmoid(each) for each in odds], answer.unfaithful, model))

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
