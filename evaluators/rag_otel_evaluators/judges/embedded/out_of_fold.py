"""Coefficients that have not seen the question: for judging the development data itself without flattery."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_otel.errors import InputError
from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.judge import EmbeddedJudge
from rag_otel_evaluators.judges.embedded.verdicts import Coefficients


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfFold:
    """Which fold each question is in, and for each fold coefficients trained on the other folds only."""

    folds: Mapping[str, int]
    """`source_id` of a question -> its fold."""
    coefficients: tuple[Coefficients, ...]
    """By fold."""

    def judge_for(self, source_id: str) -> EmbeddedJudge:
        """A judge that never saw this question. Raises InputError for a question that is in no fold."""
        if source_id not in self.folds:
            raise InputError(f"question {source_id!r} is in no fold: it was not in the training data")
        return EmbeddedJudge(self.coefficients[self.folds[source_id]])

    def as_json(self) -> dict[str, Any]:
        return {"coefficients": [fold.as_json() for fold in self.coefficients], "folds": dict(self.folds)}

    @classmethod
    def load(cls, path: Path) -> OutOfFold:
        """Read what `train` wrote. Raises InputError where the file is for other features."""
        values = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            folds=values["folds"],
            coefficients=tuple(Coefficients.from_json(fold) for fold in values["coefficients"]),
        )
