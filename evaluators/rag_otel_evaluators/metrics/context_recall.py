"""Context recall: how much of a known good answer (the reference) was retrieved?

    Context Recall = claims of the reference that the chunks support / claims of the reference

Source: RAGAS, "Context Recall", docs.ragas.io. `claim_segmentation` splits the reference into claims, not the judge, so
the denominator does not depend on the judge. Example: 3 of 4 claims attributed give 0.75.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.inputs import Case
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.outcomes import with_problems
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts
from rag_otel_evaluators.prompts.numbered_items import ask_about_each
from rag_otel_evaluators.text.claim_segmentation import segment


class Attribution(BaseModel):
    """Whether one claim of the reference was found, and in which chunks."""

    claim: int
    chunks: list[int] = []
    reason: str = ""
    attributed: bool

    @property
    def index(self) -> int:
        return self.claim

    @property
    def decision(self) -> bool:
        return self.attributed


class Attributions(BaseModel):
    """What the judge returns."""

    verdicts: list[Attribution]


class ContextRecall(LlmMetric):
    """Attributes all claims of the reference to the chunks, in one call.

    `claims` of the result are the claims of the reference, with offsets in the reference. `not_enough_info` means that
    the claim was not found. An attribution without an existing chunk does not count. If nothing was retrieved, the
    score is 0 with the reason `no_context`. The score is None with the reason `no_reference`, `no_claims` (the
    reference has no claims), `incomplete` (no claim got a verdict).
    """

    needs = ("chunks", "reference")

    def __init__(
        self,
        *,
        model: StructuredModel,
        name: str = "context_recall",
        language: str = "en",
        prompt: Prompt | None = None,
        prompt_folder: Path | str | None = None,
    ) -> None:
        super().__init__(
            model=model,
            name=name,
            prompts=choose_prompts(["context_recall"], [prompt], language, prompt_folder),
        )

    async def _score(self, case: Case, model: StructuredModel) -> Evaluation:
        if case.reference is None:
            return self._null(ReasonCode.NO_REFERENCE, "There is no reference to look for in the chunks.")
        claims = segment(case.reference).claims
        if not claims:
            return self._null(ReasonCode.NO_CLAIMS, "The reference contains no claim.")
        if not case.has_context:
            missed = tuple(ClaimVerdict(claim=claim, verdict=Verdict.NOT_ENOUGH_INFO) for claim in claims)
            return Evaluation(
                name=self.name,
                score=0.0,
                reason_code=ReasonCode.NO_CONTEXT,
                explanation=f"Nothing was retrieved, so none of {len(claims)} claims was found.",
                claims=missed,
            )
        answers = await ask_about_each(
            model,
            self.prompts["context_recall"],
            {"question": case.question, "chunks": case.chunks, "claims": [claim.text for claim in claims]},
            items="claims",
            response_model=Attributions,
            answers=lambda response: response.verdicts,
        )
        problems = list(answers.problems)
        verdicts = tuple(
            _verdict(claim, answers.by_index.get(index), case, problems) for index, claim in enumerate(claims)
        )
        return self._result(verdicts, problems)

    def _result(self, claims: tuple[ClaimVerdict, ...], problems: list[str]) -> Evaluation:
        judged = sum(claim.verdict is not Verdict.UNJUDGED for claim in claims)
        found = sum(claim.verdict is Verdict.SUPPORTED for claim in claims)
        explanation = f"{found} of {judged} claims of the reference were retrieved."
        if judged < len(claims):
            explanation += f" {len(claims) - judged} got no verdict."
        return Evaluation(
            name=self.name,
            score=found / judged if judged else None,
            reason_code=None if judged else ReasonCode.INCOMPLETE,
            explanation=with_problems(explanation, problems),
            claims=claims,
        )


def _verdict(claim: Claim, answer: Attribution | None, case: Case, problems: list[str]) -> ClaimVerdict:
    """Converts the judge's answer to a verdict. Chunk numbers that do not exist are ignored and added to `problems`."""
    if answer is None:
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED)
    known = [number for number in dict.fromkeys(answer.chunks) if 0 <= number < len(case.chunks)]
    if invented := sorted(set(answer.chunks) - set(known)):
        problems.append(f"{claim.text!r}: chunks {invented} do not exist")
    attributed = answer.attributed and bool(known)
    if answer.attributed and not known:
        problems.append(f"{claim.text!r}: attributed to no chunk that exists")
    return ClaimVerdict(
        claim=claim,
        verdict=Verdict.SUPPORTED if attributed else Verdict.NOT_ENOUGH_INFO,
        chunk_ids=tuple(case.chunk_ids[number] for number in known) if attributed else (),
        explanation=answer.reason or None,
    )
