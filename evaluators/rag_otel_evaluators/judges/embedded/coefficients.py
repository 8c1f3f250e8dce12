"""From features to probabilities: log-odds of each claim, a damped noisy-or over the answer.

log-odds(claim unsupported) = (1 - s) * (w . x + b) + s * (v . x + trees(x) + c)
risk                        = 1 - (1 - p of the riskiest claim) * (product over the others of (1 - p)) ** damping

s is how short the answer is, 0..1. In a long answer what is not in the context weighs most, and its data can teach no
more than a logistic regression. An answer of a few words is wrong in one of them, and trees read the differences. A
plain noisy-or (damping 1) takes claims as independent, but claims of one answer fail together, so it promises too much
risk; damping 0 would see the riskiest claim alone. An answer is never less risky than its riskiest claim. The numbers
are trained by `train` and shipped beside this file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.trees import Trees

DIFFERENCES: Final = (
    "cohesion",  # neighbouring words of the claim stand near each other in the evidence, 0..1
    "number_missing",  # numbers that no near sentence has, nor gives by conversion or arithmetic, 0..2
    "number_derived",  # numbers that arithmetic gives, 0..2
    "calculated",  # the claim copies a number that goes into what is asked; -1 where it has the result
    "number_rival",  # how much better another number of the unit fits, 0..1
    "name_rival",  # the same for names
    "denial_lost",  # the evidence denies beside the claim's words, the claim does not
    "denial_added",  # the claim denies, the evidence does not
    "opposite",  # a word with an opposite stands against it
    "opposite_meaning",  # the same by the table of meanings
    "too_wide",  # the claim says all, most or only, and the evidence does not, 0..2
    "only_lost",  # the evidence says only or some, the claim does not
    "hedge_lost",  # the evidence hedges, the claim does not
    "hedge_added",  # the claim hedges, the evidence does not
    "limits_kept",  # limits ("most", "only", "if", "may") that the claim and the evidence both have, 0..2
    "compared_wrong",  # the values in the evidence say the opposite of a comparison; -1 where they say the same
    "events_turned",  # what comes first in the evidence comes later in the claim; -1 where it is plainly the same
    "reported",  # the nearest sentence is quoted or reported speech, 0..2
    "unreliable",  # the sentence with what the claim adds to the question is quoted, reported or of the past
    "denial_turned",  # one denies and the other affirms; below 0 where both deny, -1..1
    "reply_turned",  # a yes or a no against what the evidence says of the question; -1 where they agree
    "spread",  # share of the claim's words that the nearest sentence lacks and another one has
    "unread",  # share of the claim's words of weight that none of these sentences has
    "sure",  # the claim is certain, exclusive, or holds in any case, and the evidence does not say so, 0..3
    "focus_gap",  # the sentence nearest to the question lacks what the claim adds to it, and another one has it, 0..1
    "members_missing",  # share of the members of the claim's list that the list of the evidence lacks, 0..1
    "focus_near",  # how near what the claim adds stands to the question's words, 0..1
    "unread_run",  # the longest run of words of weight that no sentence has, as a share of the claim's, 0..1
    "one_clause",  # the largest share of the claim's words that one clause has, 0..1
    "asked_clause",  # share of what the claim adds to the question in the clause that has most of the question, 0..1
    "elsewhere",  # what the claim adds stands in another chunk than what is asked; 0.5 in another sentence of it
    "adds_name",  # the claim adds a name to the question
    "reply",  # 1 for a claim that begins with "Yes,", -1 for one that begins with "No,"
)
"""From `denial_lost` to `hedge_added` each counts as far as the nearest sentence holds the claim: what stands in a
sentence about something else says nothing."""

FOR_SHORT: Final = (
    "opposite_meaning",
    "hedge_added",
    "limits_kept",
    "reported",
    "unreliable",
    "sure",
    "focus_gap",
    "members_missing",
    "focus_near",
    "unread_run",
    "one_clause",
    "asked_clause",
    "elsewhere",
    "adds_name",
    "reply",
)
"""Those of `DIFFERENCES` that are read in short answers alone."""

FEATURES: Final = (
    "chunk_coverage",  # share of the claim's words that the best single chunk holds
    "trigrams",  # share of the claim's word triples that the nearest sentences hold: wording taken over
    "unseen",  # log of the weight of words that are nowhere
    "unseen_digits",  # 1 where a number in figures is nowhere
    "list_item",  # 1 for an item of a list
    "conflict",  # 1 where a rule of `conflicts` finds that the evidence says otherwise
    "short",  # 1 - words of weight / 10, at least 0: shares of a few words say less
    "short_coverage",  # `short` times the first three
    "short_trigrams",
    "short_unseen",
    *DIFFERENCES,
)
"""Names of the features, in the order of the vector."""

FEW_WORDS: Final = 8
MANY_WORDS: Final = 14
"""Words of weight and numbers up to which an answer is short, and from which it is long. Of the answers to questions of
people 96% have at least `MANY_WORDS`; those of the contrast pairs have four. With 20 the weights for short answers
spoke in 22 of the 335 answers, and the AUROC of risk fell by .01."""

SHIPPED: Final = Path(__file__).with_name("coefficients.json")
"""Trained on all of the development data."""


def shortness_of(words: int) -> float:
    """How short an answer of so many words of weight and numbers is, 0..1."""
    return min(1.0, max(0.0, (MANY_WORDS - words) / (MANY_WORDS - FEW_WORDS)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Weights and an intercept: log-odds that are linear in the features."""

    weights: tuple[float, ...]
    """One per feature, in the order of `FEATURES`, on the features' own scales."""
    intercept: float

    def at(self, features: Sequence[float]) -> float:
        """The log-odds."""
        total = self.intercept
        for weight, value in zip(self.weights, features, strict=True):
            total += weight * value
        return total

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {"features": dict(zip(FEATURES, self.weights, strict=True)), "intercept": self.intercept}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Line:
        """Raises InputError where the features are not the ones that this version computes."""
        features = values.get("features", {})
        if tuple(features) != FEATURES:
            raise InputError(
                f"these coefficients are for the features {', '.join(features)}; this version computes "
                f"{', '.join(FEATURES)}: train again"
            )
        return cls(weights=tuple(map(float, features.values())), intercept=float(values["intercept"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Everything the embedded judge has learned."""

    long: Line
    """For claims of long answers."""
    short: Trees
    """For claims of short ones."""
    damping: float
    """0..1: how much the claims beside the riskiest one add to the risk of the answer."""

    def log_odds(self, features: Sequence[float], shortness: float) -> float:
        """Log-odds that the claim with these features is unsupported, in an answer so short (0..1)."""
        if shortness <= 0.0:
            return self.long.at(features)
        if shortness >= 1.0:
            return self.short.at(features)
        return (1.0 - shortness) * self.long.at(features) + shortness * self.short.at(features)

    def risk(self, unsupported: Sequence[float]) -> float:
        """Probability in 0..1 that any of the claims (at least one) is unsupported, from the probability of each."""
        *others, riskiest = sorted(unsupported)
        return 1.0 - (1.0 - riskiest) * math.prod(1.0 - probability for probability in others) ** self.damping

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file; `from_json` reads them back."""
        return {"long": self.long.as_json(), "short": self.short.as_json(FEATURES), "damping": self.damping}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Coefficients:
        """Raises InputError where the features are not the ones that this version computes."""
        return cls(
            long=Line.from_json(values.get("long", {})),
            short=Trees.from_json(values.get("short", {}), FEATURES),
            damping=float(values["damping"]),
        )


@cache
def shipped_coefficients() -> Coefficients:
    """The coefficients of this version of the package."""
    return Coefficients.from_json(json.loads(SHIPPED.read_text(encoding="utf-8")))


def sigmoid(value: float) -> float:
    """1 / (1 + exp(-value)), without overflow."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    power = math.exp(value)
    return power / (1.0 + power)
