"""Context recall: how much of a known good answer (the reference) was retrieved?

    Context Recall = claims of the reference that the chunks support / claims of the reference

Source: RAGAS, "Context Recall", docs.ragas.io. `claim_segmentation` splits the reference into claims, not the judge, so
the denominator does not depend on the judge. Example: 3 of 4 claims attributed give 0.75.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.inputs import Case
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.outcomes import with_problems
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts
from rag_otel_evaluators.prompts.numbered_items import Form, ask_about_each
from rag_otel_evaluators.text.claim_segmentation import segment

MOST_CLAIMS: Final = 60
"""Maximum number of claims that are judged, so that one call is enough. If there are more, the first ones are
judged."""
_NUMBER: Final = re.compile(r"\d{1,6}")


def chunk_numbers(value: Any) -> Any:
    """Parses chunk numbers in any form: `"0, 2"`, `["c0", "[2]"]`, `0`, null."""
    if isinstance(value, str):
        return [int(number) for number in _NUMBER.findall(value)]
    if isinstance(value, list):
        return [number for each in value for number in (chunk_numbers(each) if isinstance(each, str) else [each])]
    return [] if value is None else [value]


class NamesChunks(BaseModel):
    """An answer about one claim that names chunks by number."""

    claim: int
    chunks: Annotated[list[int], BeforeValidator(chunk_numbers)] = []

    @property
    def index(self) -> int:
        return self.claim


N = TypeVar("N", bound=NamesChunks)


def chunks_from_zero(count: int, answers: Sequence[N], first: int) -> Sequence[N] | None:
    """Returns the answers with chunks counted from 0. None where a chunk is named that does not exist.

    A judge that counts the claims from 1 (`first`) counts the `count` chunks likewise, unless it names a chunk 0.
    """
    named = {number for answer in answers for number in answer.chunks}
    shift = first if 0 not in named else 0
    if not all(0 <= number - shift < count for number in named):
        return None
    return [answer.model_copy(update={"chunks": [number - shift for number in answer.chunks]}) for answer in answers]


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
        asked = claims[:MOST_CLAIMS]
        answers = await ask_about_each(
            model,
            self.prompts["context_recall"],
            {"question": case.question, "chunks": case.chunks, "claims": [claim.text for claim in asked]},
            items="claims",
            form=Form(
                response_model=Attributions,
                answers=lambda response: response.verdicts,
                refers=partial(chunks_from_zero, len(case.chunks)),
                usable=lambda answer: not answer.attributed or bool(answer.chunks),
            ),
        )
        problems = list(answers.problems)
        verdicts = tuple(
            _verdict(claim, answers.by_index.get(index) or answers.unusable.get(index), case, problems)
            for index, claim in enumerate(asked)
        )
        left_out = tuple(ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED) for claim in claims[MOST_CLAIMS:])
        return self._result((*verdicts, *left_out), problems)

    def _result(self, claims: tuple[ClaimVerdict, ...], problems: list[str]) -> Evaluation:
        judged = sum(claim.verdict is not Verdict.UNJUDGED for claim in claims)
        found = sum(claim.verdict is Verdict.SUPPORTED for claim in claims)
        explanation = f"{found} of {judged} claims of the reference were retrieved."
        if judged < len(claims):
            explanation += f" {len(claims) - judged} got no verdict."
        return Evaluation(
            name=self.name,
            score=found / judged if judged else None,
            reason_code=_reason_code(judged, len(claims)),
            explanation=with_problems(explanation, problems),
            claims=claims,
        )


def _reason_code(judged: int, claims: int) -> str | None:
    if judged == claims:
        return None
    return ReasonCode.TOO_LONG if judged == MOST_CLAIMS else ReasonCode.INCOMPLETE


def _verdict(claim: Claim, answer: Attribution | None, case: Case, problems: list[str]) -> ClaimVerdict:
    """Converts the judge's answer to a verdict. A claim that is attributed to no chunk is `unjudged`."""
    if answer is None:
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED)
    if answer.attributed and not answer.chunks:
        problems.append(f"{claim.text!r}: attributed to no chunk")
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED, explanation=answer.reason or None)
    return ClaimVerdict(
        claim=claim,
        verdict=Verdict.SUPPORTED if answer.attributed else Verdict.NOT_ENOUGH_INFO,
        chunk_ids=tuple(case.chunk_ids[n] for n in dict.fromkeys(answer.chunks)) if answer.attributed else (),
        explanation=answer.reason or None,
    )
