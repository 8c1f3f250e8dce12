"""From features to probabilities: log-odds of each claim, a damped noisy-or over the answer.

p(claim unsupported) = sigmoid(w . x + b), lifted by the floors of `verdicts`
risk                 = 1 - (1 - p of the riskiest claim) * (product over the others of (1 - p)) ** damping

A plain noisy-or (damping 1) takes claims as independent, but claims of one answer fail together, so it promises too
much risk; damping 0 would see the riskiest claim alone. The weights are learned from labels of people
(`benchmarks/training`) and shipped beside this file.
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

FEATURES: Final = (
    "chunk_coverage",  # share of the claim's words that the best single chunk holds
    "trigrams",  # share of the claim's word triples that the nearest sentences hold: wording taken over
    "unseen",  # log of the weight of words that are nowhere
    "unseen_digits",  # 1 where a number in figures is nowhere
    "list_item",  # 1 for an item of a list
)
"""Names of the features, in the order of the vector."""

DAMPING: Final = 0.25
"""0..1: how much the claims beside the riskiest one add to the risk of the answer. People's labels are about as likely
under any from .2 to .6."""
SHIPPED: Final = Path(__file__).with_name("coefficients.json")
"""Trained on all of the development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Everything the embedded judge has learned."""

    weights: tuple[float, ...]
    """One per feature, in the order of `FEATURES`, on the features' own scales."""
    intercept: float

    def log_odds(self, features: Sequence[float]) -> float:
        """Log-odds that the claim with these features is unsupported."""
        total = self.intercept
        for weight, value in zip(self.weights, features, strict=True):
            total += weight * value
        return total

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file; `from_json` reads them back."""
        return {"features": dict(zip(FEATURES, self.weights, strict=True)), "intercept": self.intercept}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Coefficients:
        """Raises InputError where the features are not the ones that this version computes."""
        features = values.get("features", {})
        if tuple(features) != FEATURES:
            raise InputError(
                f"these coefficients are for the features {', '.join(features)}; this version computes "
                f"{', '.join(FEATURES)}: train again"
            )
        return cls(weights=tuple(map(float, features.values())), intercept=float(values["intercept"]))


def risk_of_any(unsupported: Sequence[float]) -> float:
    """Probability in 0..1 that any of the claims (at least one) is unsupported, from the probability of each."""
    *others, riskiest = sorted(unsupported)
    return 1.0 - (1.0 - riskiest) * math.prod(1.0 - probability for probability in others) ** DAMPING


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
