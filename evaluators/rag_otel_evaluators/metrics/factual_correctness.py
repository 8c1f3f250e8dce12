"""Factual correctness: does the response say what a reference answer says, no less and no more?

    TP = claims of the response that the reference states      FP = claims of the response that it does not state
    FN = claims of the reference that the response does not state

    precision = TP / (TP + FP)      recall = TP / (TP + FN)
    F-beta = (1 + beta^2) * precision * recall / (beta^2 * precision + recall)

Example: of two claims of the response, the reference states one (TP 1, FP 1); of three claims of the reference, the
response states none entirely (FN 3). Precision is 1/2, recall 1/4, F1 = 2 * 0.5 * 0.25 / 0.75 = 0.33333.

Source: Ragas, "Factual Correctness", docs.ragas.io. Differences: both directions are judged in one call, the claims are
split by `claim_segmentation`, so that the denominators do not depend on the judge, and the score is not rounded to two
decimals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

from pydantic import BaseModel

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.claims import ClaimPair, ClaimPairMetric, stated
from rag_otel_evaluators.metrics.llm_metric import LlmOptions
from rag_otel_evaluators.metrics.metric import Case
from rag_otel_evaluators.prompts.numbered_items import AnswerForm
from rag_otel_evaluators.prompts.prompt import InputField

Mode = Literal["f1", "precision", "recall"]


class Statement(BaseModel):
    """Whether the other text states one claim."""

    claim: int
    reason: str = ""
    stated: bool

    @property
    def index(self) -> int:
        return self.claim

    @property
    def decision(self) -> bool:
        return self.stated


class Statements(BaseModel):
    """What the judge returns."""

    verdicts: list[Statement]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAgreement:
    """How many claims of a response and of a reference agree."""

    true_positives: int
    """Claims of the response that the reference states."""
    false_positives: int
    false_negatives: int
    """Claims of the reference that the response does not state."""

    def score(self, mode: Mode = "f1", beta: float = 1.0) -> float:
        """Returns precision, recall or F-beta, in 0..1. A share of nothing is 0.

        >>> round(ClaimAgreement(true_positives=1, false_positives=1, false_negatives=3).score(), 5)
        0.33333
        """
        precision = _share(self.true_positives, self.false_positives)
        recall = _share(self.true_positives, self.false_negatives)
        if mode != "f1":
            return precision if mode == "precision" else recall
        weighted = beta**2 * precision + recall
        return (1 + beta**2) * precision * recall / weighted if weighted else 0.0


class FactualCorrectness(ClaimPairMetric[Statement]):
    """Compares response and reference claim by claim, in one step (one call and at most one repeat).

    `claims` of the result are the claims of the response; `not_enough_info` means that the reference does not state the
    claim. An abstention ("I don't know") scores 0 with the reason `abstained`. Of more than 30 claims the first ones
    are judged, with the reason `too_long`. The score is None with the reason `no_response`, `no_reference`, `no_claims`
    (the reference states nothing), `incomplete` (a claim got no verdict; the formula needs all).
    """

    default_name = "factual_correctness"
    prompt_names = ("factual_correctness",)

    def __init__(
        self, *, model: StructuredModel, mode: Mode = "f1", beta: float = 1.0, **options: Unpack[LlmOptions]
    ) -> None:
        """`mode`: what is scored. `beta`: above 1 recall counts more, below 1 precision. `options`: see
        `LlmOptions`."""
        super().__init__(model=model, **options)
        if beta <= 0:
            raise ValueError(f"beta must be above 0, not {beta}")
        self.mode: Mode = mode
        self.beta = beta

    def _abstained(self) -> Evaluation:
        return Evaluation(
            name=self.name,
            score=0.0,
            reason_code=ReasonCode.ABSTAINED,
            explanation="The response says that it does not know; the reference answers.",
        )

    def _fields(self, case: Case) -> dict[str, InputField | None]:
        return {"question": case.question, "response": case.response, "reference": case.reference}

    def _form(self, case: Case) -> AnswerForm[Statements, Statement]:
        return AnswerForm(response_model=Statements, answers=lambda response: response.verdicts)

    def _verdict(self, case: Case, claim: Claim, answer: Statement | None) -> ClaimVerdict:
        return stated(claim, None) if answer is None else stated(claim, answer.stated, answer.reason)

    def _compared(
        self, case: Case, pair: ClaimPair, ours: Sequence[Statement], theirs: Sequence[Statement]
    ) -> Evaluation:
        right = sum(answer.stated for answer in ours)
        missing = [claim.text for claim, answer in zip(pair.reference, theirs, strict=True) if not answer.stated]
        agreement = ClaimAgreement(
            true_positives=right, false_positives=len(ours) - right, false_negatives=len(missing)
        )
        named = f" Missing: {'; '.join(repr(text) for text in missing[:3])}." if missing else ""
        return Evaluation(
            name=self.name,
            score=agreement.score(self.mode, self.beta),
            explanation=f"The reference states {right} of {len(ours)} claims of the response; the response states "
            f"{len(theirs) - len(missing)} of {len(theirs)} claims of the reference.{named}",
        )


def _share(right: int, wrong: int) -> float:
    return right / (right + wrong) if right + wrong else 0.0
