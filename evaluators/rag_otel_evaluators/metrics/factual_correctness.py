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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.claim_pairs import ClaimPair, claim_pair
from rag_otel_evaluators.metrics.inputs import Case
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.outcomes import with_problems
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts
from rag_otel_evaluators.prompts.numbered_items import Answers, Form, ask_about_each

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
class Agreement:
    """How many claims of a response and of a reference agree."""

    true_positives: int
    """Claims of the response that the reference states."""
    false_positives: int
    false_negatives: int
    """Claims of the reference that the response does not state."""

    def score(self, mode: Mode = "f1", beta: float = 1.0) -> float:
        """Returns precision, recall or F-beta, in 0..1. A share of nothing is 0.

        >>> round(Agreement(true_positives=1, false_positives=1, false_negatives=3).score(), 5)
        0.33333
        """
        precision = _share(self.true_positives, self.false_positives)
        recall = _share(self.true_positives, self.false_negatives)
        if mode != "f1":
            return precision if mode == "precision" else recall
        weighted = beta**2 * precision + recall
        return (1 + beta**2) * precision * recall / weighted if weighted else 0.0


class FactualCorrectness(LlmMetric):
    """Compares response and reference claim by claim, in one step (one call and at most one repeat).

    `claims` of the result are the claims of the response; `not_enough_info` means that the reference does not state the
    claim. An abstention ("I don't know") scores 0 with the reason `abstained`. Of more than 30 claims the first ones
    are judged, with the reason `too_long`. The score is None with the reason `no_response`, `no_reference`, `no_claims`
    (the reference states nothing), `incomplete` (a claim got no verdict; the formula needs all).
    """

    needs: tuple[str, ...] = ("response", "reference")

    def __init__(
        self,
        *,
        model: StructuredModel,
        mode: Mode = "f1",
        beta: float = 1.0,
        name: str = "factual_correctness",
        language: str = "en",
        prompt: Prompt | None = None,
        prompt_folder: Path | str | None = None,
    ) -> None:
        """`mode`: what is scored. `beta`: above 1 recall counts more, below 1 precision. Other arguments as for
        `LlmMetric`."""
        super().__init__(
            model=model,
            name=name,
            prompts=choose_prompts(["factual_correctness"], [prompt], language, prompt_folder),
        )
        if beta <= 0:
            raise ValueError(f"beta must be above 0, not {beta}")
        self.mode: Mode = mode
        self.beta = beta

    async def _score(self, case: Case, model: StructuredModel) -> Evaluation:
        if case.response is None:
            return self._null(ReasonCode.NO_RESPONSE, "There is no response to compare.")
        if case.reference is None:
            return self._null(ReasonCode.NO_REFERENCE, "There is no reference to compare with.")
        pair = claim_pair(case.response, case.reference)
        if not pair.reference:
            return self._null(ReasonCode.NO_CLAIMS, "The reference states nothing to compare with.")
        if pair.abstained:
            return Evaluation(
                name=self.name,
                score=0.0,
                reason_code=ReasonCode.ABSTAINED,
                explanation="The response says that it does not know; the reference answers.",
            )
        answers = await ask_about_each(
            model,
            self.prompts["factual_correctness"],
            {
                "question": case.question,
                "response": case.response,
                "reference": case.reference,
                "claims": pair.items,
            },
            items="claims",
            form=Form(response_model=Statements, answers=lambda response: response.verdicts),
        )
        return self._result(pair, answers)

    def _result(self, pair: ClaimPair, answers: Answers[Statement]) -> Evaluation:
        ours = len(pair.response)
        verdicts = tuple(_verdict(claim, answers.by_index.get(index)) for index, claim in enumerate(pair.response))
        unjudged = len(pair.items) - len(answers.by_index)
        if unjudged:
            explanation = with_problems(f"{unjudged} of {len(pair.items)} claims got no verdict.", answers.problems)
            return Evaluation(
                name=self.name, reason_code=ReasonCode.INCOMPLETE, explanation=explanation, claims=verdicts
            )
        missing = [
            claim.text for index, claim in enumerate(pair.reference) if not answers.by_index[ours + index].stated
        ]
        agreement = _agreement(answers.by_index, ours, missing=len(missing))
        return Evaluation(
            name=self.name,
            score=agreement.score(self.mode, self.beta),
            reason_code=ReasonCode.TOO_LONG if pair.cut else None,
            explanation=with_problems(_explanation(agreement, len(pair.reference), missing), answers.problems),
            claims=verdicts,
        )


def _agreement(answers: Mapping[int, Statement], ours: int, *, missing: int) -> Agreement:
    stated = sum(answers[index].stated for index in range(ours))
    return Agreement(true_positives=stated, false_positives=ours - stated, false_negatives=missing)


def _explanation(agreement: Agreement, reference: int, missing: list[str]) -> str:
    ours = agreement.true_positives + agreement.false_positives
    named = f" Missing: {'; '.join(repr(text) for text in missing[:3])}." if missing else ""
    return (
        f"The reference states {agreement.true_positives} of {ours} claims of the response; "
        f"the response states {reference - len(missing)} of {reference} claims of the reference.{named}"
    )


def _verdict(claim: Claim, answer: Statement | None) -> ClaimVerdict:
    if answer is None:
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED)
    verdict = Verdict.SUPPORTED if answer.stated else Verdict.NOT_ENOUGH_INFO
    return ClaimVerdict(claim=claim, verdict=verdict, explanation=answer.reason or None)


def _share(right: int, wrong: int) -> float:
    return right / (right + wrong) if right + wrong else 0.0
