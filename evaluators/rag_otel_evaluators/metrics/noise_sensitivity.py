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
from typing import Literal, Unpack

from pydantic import BaseModel

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.claims import ClaimPair, ClaimPairMetric, NamesChunks, chunks_from_zero, stated
from rag_otel_evaluators.metrics.llm_metric import LlmOptions
from rag_otel_evaluators.metrics.metric import Case
from rag_otel_evaluators.prompts.numbered_items import AnswerForm
from rag_otel_evaluators.prompts.prompt import InputField


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


class NoiseSensitivity(ClaimPairMetric[Origin]):
    """Finds the origin of all claims in one step (one call and at most one repeat). A lower score is better.

    `claims` of the result are the claims of the response: `not_enough_info` means that the reference does not state the
    claim, `chunk_ids` name the chunks that do. `chunk_scores` are 1 for useful chunks. Of more than 30 claims of a text
    the first ones are judged, with the reason `too_long`. The score is None with the reason `no_response`,
    `no_reference`, `no_context`, `abstained` (the response makes no claim), `no_claims` (the reference states nothing),
    `incomplete` (a claim got no verdict; the formula needs all).
    """

    needs = ("chunks", "response", "reference")
    prompt_names = ("noise_sensitivity",)

    def __init__(
        self,
        *,
        model: StructuredModel,
        mode: Literal["relevant", "irrelevant"] = "relevant",
        **options: Unpack[LlmOptions],
    ) -> None:
        """`mode`: whether errors from useful or from useless chunks are counted. `options`: see `LlmOptions`."""
        self.default_name = "noise_sensitivity" if mode == "relevant" else "noise_sensitivity_irrelevant"
        super().__init__(model=model, **options)
        self.mode: Literal["relevant", "irrelevant"] = mode

    def _without_call(self, case: Case) -> Evaluation | None:
        if (missing := super()._without_call(case)) or case.has_context:
            return missing
        return self._null(ReasonCode.NO_CONTEXT, "Nothing was retrieved that could mislead.")

    def _abstained(self) -> Evaluation:
        return self._null(ReasonCode.ABSTAINED, "The response says that it does not know, and makes no claim.")

    def _fields(self, case: Case) -> dict[str, InputField | None]:
        return {"question": case.question, "chunks": case.chunks, "reference": case.reference}

    def _form(self, case: Case) -> AnswerForm[Origins, Origin]:
        return AnswerForm(
            response_model=Origins,
            answers=lambda response: response.verdicts,
            refers=partial(chunks_from_zero, len(case.chunks)),
        )

    def _verdict(self, case: Case, claim: Claim, answer: Origin | None) -> ClaimVerdict:
        if answer is None:
            return stated(claim, None)
        chunk_ids = [case.chunk_ids[number] for number in sorted(set(answer.chunks))]
        return stated(claim, answer.in_reference, answer.reason, chunk_ids)

    def _compared(self, case: Case, pair: ClaimPair, ours: Sequence[Origin], theirs: Sequence[Origin]) -> Evaluation:
        useful = {chunk for answer in theirs for chunk in answer.chunks}
        wrong = [set(answer.chunks) for answer in ours if not answer.in_reference]
        misled = misled_claims(wrong, useful, self.mode)
        kind = "useful" if self.mode == "relevant" else "useless"
        return Evaluation(
            name=self.name,
            score=misled / len(ours),
            explanation=f"{misled} of {len(ours)} claims are wrong and come from {kind} chunks; "
            f"{len(wrong)} are wrong in all.",
            chunk_scores=tuple(float(chunk in useful) for chunk in range(len(case.chunks))),
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
