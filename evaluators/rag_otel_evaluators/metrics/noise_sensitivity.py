"""Noise sensitivity: how much of the response is wrong because the retrieval misled it? Lower is better.

    noise_sensitivity = wrong claims that a useful chunk states / claims of the response
    noise_sensitivity_irrelevant = wrong claims that only useless chunks state / claims of the response

A claim of the response is wrong if the reference answer does not state it. A chunk is useful if it states any claim of
the reference.

Example: a response of four claims, of which the reference states two. Chunk 0 states a claim of the reference, so it is
useful; chunk 1 states none. One wrong claim is in chunk 0, the other only in chunk 1: both scores are 1/4 = 0.25. Wrong
claims that no chunk states are counted by neither; faithfulness shows them.

Source: Ragas, "Noise Sensitivity", docs.ragas.io. Difference: one call in place of two for each chunk and three more.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.claim_pairs import ClaimPair, claim_pair
from rag_otel_evaluators.metrics.context_recall import NamesChunks, chunks_from_zero
from rag_otel_evaluators.metrics.inputs import Case
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.outcomes import with_problems
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts
from rag_otel_evaluators.prompts.numbered_items import Answers, Form, ask_about_each


class Origin(NamesChunks):
    """Which chunks state one claim, and whether the reference does."""

    reason: str = ""
    in_reference: bool

    @property
    def decision(self) -> tuple[frozenset[int], bool]:
        return frozenset(self.chunks), self.in_reference


class Origins(BaseModel):
    """What the judge returns."""

    verdicts: list[Origin]


class NoiseSensitivity(LlmMetric):
    """Finds the origin of all claims in one step (one call and at most one repeat). A lower score is better.

    `claims` of the result are the claims of the response: `not_enough_info` means that the reference does not state the
    claim, `chunk_ids` name the chunks that do. `chunk_scores` are 1 for useful chunks. Of more than 30 claims of a text
    the first ones are judged, with the reason `too_long`. The score is None with the reason `no_response`,
    `no_reference`, `no_context`, `abstained` (the response makes no claim), `no_claims` (the reference states nothing),
    `incomplete` (a claim got no verdict; the formula needs all).
    """

    needs = ("chunks", "response", "reference")

    def __init__(
        self,
        *,
        model: StructuredModel,
        mode: Literal["relevant", "irrelevant"] = "relevant",
        name: str | None = None,
        language: str = "en",
        prompt: Prompt | None = None,
        prompt_folder: Path | str | None = None,
    ) -> None:
        """`mode`: whether errors from useful or from useless chunks are counted. Other arguments as for `LlmMetric`."""
        super().__init__(
            model=model,
            name=name or ("noise_sensitivity" if mode == "relevant" else "noise_sensitivity_irrelevant"),
            prompts=choose_prompts(["noise_sensitivity"], [prompt], language, prompt_folder),
        )
        self.mode: Literal["relevant", "irrelevant"] = mode

    async def _score(self, case: Case, model: StructuredModel) -> Evaluation:
        if case.response is None:
            return self._null(ReasonCode.NO_RESPONSE, "There is no response to judge.")
        if case.reference is None:
            return self._null(ReasonCode.NO_REFERENCE, "There is no reference to compare with.")
        if not case.has_context:
            return self._null(ReasonCode.NO_CONTEXT, "Nothing was retrieved that could mislead.")
        pair = claim_pair(case.response, case.reference)
        if pair.abstained:
            return self._null(ReasonCode.ABSTAINED, "The response says that it does not know, and makes no claim.")
        if not pair.reference:
            return self._null(ReasonCode.NO_CLAIMS, "The reference states nothing to compare with.")
        answers = await ask_about_each(
            model,
            self.prompts["noise_sensitivity"],
            {"question": case.question, "chunks": case.chunks, "reference": case.reference, "claims": pair.items},
            items="claims",
            form=Form(
                response_model=Origins,
                answers=lambda response: response.verdicts,
                refers=partial(chunks_from_zero, len(case.chunks)),
            ),
        )
        return self._result(case, pair, answers)

    def _result(self, case: Case, pair: ClaimPair, answers: Answers[Origin]) -> Evaluation:
        ours, chunks = len(pair.response), range(len(case.chunks))
        origins = {index: frozenset(answer.chunks) for index, answer in answers.by_index.items()}
        verdicts = tuple(
            _verdict(claim, answers.by_index.get(index), sorted(origins.get(index, ())), case.chunk_ids)
            for index, claim in enumerate(pair.response)
        )
        unjudged = len(pair.items) - len(answers.by_index)
        if unjudged:
            explanation = with_problems(f"{unjudged} of {len(pair.items)} claims got no verdict.", answers.problems)
            return Evaluation(
                name=self.name, reason_code=ReasonCode.INCOMPLETE, explanation=explanation, claims=verdicts
            )
        useful = frozenset().union(*(origins[ours + index] for index in range(len(pair.reference))))
        wrong = [origins[index] for index in range(ours) if not answers.by_index[index].in_reference]
        misled = misled_claims(wrong, useful, self.mode)
        kind = "useful" if self.mode == "relevant" else "useless"
        explanation = f"{misled} of {ours} claims are wrong and come from {kind} chunks; {len(wrong)} are wrong in all."
        return Evaluation(
            name=self.name,
            score=misled / ours,
            reason_code=ReasonCode.TOO_LONG if pair.cut else None,
            explanation=with_problems(explanation, answers.problems),
            claims=verdicts,
            chunk_scores=tuple(float(chunk in useful) for chunk in chunks),
        )


def misled_claims(wrong: Sequence[Set[int]], useful: Set[int], mode: Literal["relevant", "irrelevant"]) -> int:
    """Counts the wrong claims that come from useful chunks, or only from useless ones.

    `wrong`: for each wrong claim, the numbers of the chunks that state it. `useful`: the numbers of the useful chunks.

    >>> misled_claims([{0}, {1}, {0, 1}, set()], {0}, "relevant")
    2
    >>> misled_claims([{0}, {1}, {0, 1}, set()], {0}, "irrelevant")
    1
    """
    if mode == "relevant":
        return sum(bool(chunks & useful) for chunks in wrong)
    return sum(bool(chunks) and not chunks & useful for chunks in wrong)


def _verdict(claim: Claim, answer: Origin | None, chunks: Sequence[int], ids: Sequence[str]) -> ClaimVerdict:
    if answer is None:
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED)
    return ClaimVerdict(
        claim=claim,
        verdict=Verdict.SUPPORTED if answer.in_reference else Verdict.NOT_ENOUGH_INFO,
        chunk_ids=tuple(ids[number] for number in chunks),
        explanation=answer.reason or None,
    )
