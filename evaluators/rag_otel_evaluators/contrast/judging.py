"""Runs a judge over pairs: both answers of each, as any answer is evaluated."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from rag_otel.evaluation.evaluate import UNREADABLE
from rag_otel.model import Evaluation, ReasonCode
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.contrast.pairs import Pair
from rag_otel_evaluators.metrics.metric import as_chunks
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.rows import evaluate_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A pair with what a judge said of each answer."""

    pair: Pair
    faithful: Evaluation
    unfaithful: Evaluation

    @property
    def obstacle(self) -> str | None:
        """Why an answer could not be put to the judge: its server failed, or the money was spent. None where both were.
        This says nothing of how well the judge judges; an answer of its own that cannot be read does, and is none."""
        return next(
            (
                f"{each.reason_code}: {each.explanation}"
                for each in (self.faithful, self.unfaithful)
                if each.error_type not in (None, UNREADABLE) or each.reason_code == ReasonCode.BUDGET
            ),
            None,
        )


def judge_pairs(
    pairs: Sequence[Pair],
    evaluator: Evaluator,
    *,
    concurrency: int,
    timeout_s: float = 600.0,
    budget_usd: float | None = None,
) -> Generator[JudgedPair, None, None]:
    """Each pair with both evaluations, in order. A failure is an evaluation too."""
    rows = [
        Row(number=number, values={}, question=pair.question, chunks=tuple(as_chunks(pair.contexts)), response=answer)
        for number, (pair, answer) in enumerate(
            ((pair, answer) for pair in pairs for answer in (pair.faithful, pair.unfaithful)), start=1
        )
    ]
    judged = evaluate_rows(rows, [evaluator], concurrency=concurrency, timeout_s=timeout_s, budget_usd=budget_usd)
    for pair in pairs:
        (faithful,), (unfaithful,) = next(judged).evaluations, next(judged).evaluations
        yield JudgedPair(pair=pair, faithful=faithful, unfaithful=unfaithful)
