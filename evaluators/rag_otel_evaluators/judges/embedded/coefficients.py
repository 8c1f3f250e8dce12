"""From features to probabilities: a logistic regression on each claim, a damped noisy-or over the answer.

p(claim unsupported) = sigmoid(w . x + b), raised by the rules of `judge`
risk                 = 1 - (1 - p of the riskiest claim) * (product over the others of (1 - p)) ** damping

A plain noisy-or (damping 1) takes claims as independent, but claims of one answer fail together, so it promises too
much risk; damping 0 would see the riskiest claim alone. An answer is never less risky than its riskiest claim. The
numbers are trained by `train` and shipped beside this file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel_evaluators.judges.embedded.features import FEATURES

SHIPPED: Final = Path(__file__).with_name("coefficients.json")
"""Trained on all of the development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Everything the embedded judge has learned."""

    weights: tuple[float, ...]
    """One per feature, in the order of `FEATURES`, on the features' own scales."""
    intercept: float
    damping: float
    """0..1: how much the claims beside the riskiest one add to the risk of the answer."""

    def log_odds(self, features: Sequence[float]) -> float:
        """Log-odds that the claim with these features is unsupported."""
        total = self.intercept
        for weight, value in zip(self.weights, features, strict=True):
            total += weight * value
        return total

    def risk(self, unsupported: Sequence[float]) -> float:
        """Probability in 0..1 that any of the claims (at least one) is unsupported, from the probability of each."""
        *others, riskiest = sorted(unsupported)
        return 1.0 - (1.0 - riskiest) * math.prod(1.0 - probability for probability in others) ** self.damping

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file; `from_json` reads them back."""
        return {
            "features": dict(zip(FEATURES, self.weights, strict=True)),
            "intercept": self.intercept,
            "damping": self.damping,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Coefficients:
        """Raises InputError where the features are not the ones that this version computes."""
        if tuple(values["features"]) != FEATURES:
            raise InputError(
                f"these coefficients are for the features {', '.join(values['features'])}; this version computes "
                f"{', '.join(FEATURES)}: train again"
            )
        return cls(
            weights=tuple(float(weight) for weight in values["features"].values()),
            intercept=float(values["intercept"]),
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
