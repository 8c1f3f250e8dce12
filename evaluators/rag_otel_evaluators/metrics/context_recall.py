"""Context recall: how much of a known good answer (the reference) was retrieved?

    Context Recall = claims of the reference that the chunks support / claims of the reference

Source: RAGAS, "Context Recall", docs.ragas.io. `claim_segmentation` splits the reference into claims, not the judge, so
the denominator does not depend on the judge. Example: 3 of 4 claims attributed give 0.75.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from pydantic import BaseModel

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.claims import NamesChunks, chunks_from_zero, stated
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.metric import Case, with_problems
from rag_otel_evaluators.prompts.numbered_items import AnswerForm
from rag_otel_evaluators.text.claim_segmentation import segment

MOST_CLAIMS: Final = 60
"""Maximum number of claims that are judged, so that one call is enough. If there are more, the first ones are
judged."""


class Attribution(NamesChunks):
    """Whether one claim of the reference was found, and in which chunks."""

    reason: str = ""
    attributed: bool

    @property
    def decision(self) -> bool:
        return self.attributed


class Attributions(BaseModel):
    """What the judge returns."""

    verdicts: list[Attribution]


class ContextRecall(LlmMetric):
    """Attributes all claims of the reference to the chunks, in one step (one call and at most one repeat).

    `claims` of the result are the claims of the reference, with offsets in the reference. `not_enough_info` means that
    the claim was not found. A claim that is attributed only to unknown chunks, also in the repeat, is `unjudged`. If
    nothing was retrieved, the score is 0 with the reason `no_context`. If only some claims were judged, the score is
    over these, with the reason `incomplete` or `too_long`. The score is None with the reason `no_reference`,
    `no_claims` (the reference has no claims), `incomplete` (no claim got a verdict).
    """

    needs = ("chunks", "reference")
    default_name = "context_recall"
    prompt_names = ("context_recall",)

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        if missing := self._missing(case, "reference"):
            return missing
        claims = segment(case.reference or "").claims
        if not claims:
            return self._null(ReasonCode.NO_CLAIMS, "The reference contains no claim.")
        if not case.has_context:
            return Evaluation(
                name=self.name,
                score=0.0,
                reason_code=ReasonCode.NO_CONTEXT,
                explanation=f"Nothing was retrieved, so none of {len(claims)} claims was found.",
                claims=tuple(stated(claim, False) for claim in claims),
            )
        answers = await self._about_each(
            model,
            {
                "question": case.question,
                "chunks": case.chunks,
                "claims": [claim.text for claim in claims[:MOST_CLAIMS]],
            },
            AnswerForm(
                response_model=Attributions,
                answers=lambda response: response.verdicts,
                refers=partial(chunks_from_zero, len(case.chunks)),
                usable=lambda answer: not answer.attributed or bool(answer.chunks),
            ),
        )
        problems = list(answers.problems)
        verdicts = [
            _verdict(claim, answers.by_index.get(index) or answers.unusable.get(index), case, problems)
            for index, claim in enumerate(claims)
        ]
        return self._result(tuple(verdicts), problems)

    def _result(self, claims: tuple[ClaimVerdict, ...], problems: list[str]) -> Evaluation:
        judged = sum(claim.verdict is not Verdict.UNJUDGED for claim in claims)
        found = sum(claim.verdict is Verdict.SUPPORTED for claim in claims)
        explanation = f"{found} of {judged} claims of the reference were retrieved."
        reason = None
        if judged < len(claims):
            explanation += f" {len(claims) - judged} got no verdict."
            reason = ReasonCode.TOO_LONG if judged == MOST_CLAIMS else ReasonCode.INCOMPLETE
        return Evaluation(
            name=self.name,
            score=found / judged if judged else None,
            reason_code=reason,
            explanation=with_problems(explanation, problems),
            claims=claims,
        )


def _verdict(claim: Claim, answer: Attribution | None, case: Case, problems: list[str]) -> ClaimVerdict:
    """Converts the judge's answer to a verdict. A claim that is attributed to no chunk is `unjudged`."""
    if answer is None:
        return stated(claim, None)
    if answer.attributed and not answer.chunks:
        problems.append(f"{claim.text!r}: attributed to no chunk")
        return stated(claim, None, answer.reason)
    chunks = dict.fromkeys(answer.chunks) if answer.attributed else ()
    return stated(claim, answer.attributed, answer.reason, [case.chunk_ids[number] for number in chunks])
