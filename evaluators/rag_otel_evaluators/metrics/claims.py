"""What the metrics of claims share: the claims of two texts in one numbered list, and answers about claims."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator

from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.metric import Case, with_problems
from rag_otel_evaluators.prompts.numbered_items import A, AnswerForm
from rag_otel_evaluators.prompts.prompt import InputField
from rag_otel_evaluators.text.claim_segmentation import segment

MOST_CLAIMS: Final = 30
"""Maximum number of claims of each text, so that one call is enough. Of more, the first ones are judged."""
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


def stated(claim: Claim, holds: bool | None, reason: str = "", chunk_ids: Sequence[str] = ()) -> ClaimVerdict:
    """The verdict on a claim that the other text states, or does not; None: `unjudged`."""
    verdict = Verdict.UNJUDGED if holds is None else Verdict.SUPPORTED if holds else Verdict.NOT_ENOUGH_INFO
    return ClaimVerdict(claim=claim, verdict=verdict, chunk_ids=tuple(chunk_ids), explanation=reason or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPair:
    """The claims of a response and of a reference answer."""

    response: tuple[Claim, ...]
    reference: tuple[Claim, ...]
    abstained: bool
    """The response only says that it does not know."""
    cut: bool
    """One of the texts has more than `MOST_CLAIMS`."""

    @property
    def items(self) -> list[str]:
        """All claims with their origin, as the prompts number them:

        [0] (response) Tower Bridge was opened in 1894.
        [1] (reference) It was opened on 30 June 1894.
        """
        return [
            *(f"(response) {claim.text}" for claim in self.response),
            *(f"(reference) {claim.text}" for claim in self.reference),
        ]


def claim_pair(response: str, reference: str) -> ClaimPair:
    """Splits both texts into claims. A short answer without a statement ("No") is one claim."""
    ours, abstained = _claims(response)
    theirs, _ = _claims(reference)
    return ClaimPair(
        response=ours[:MOST_CLAIMS],
        reference=theirs[:MOST_CLAIMS],
        abstained=abstained,
        cut=max(len(ours), len(theirs)) > MOST_CLAIMS,
    )


def _claims(text: str) -> tuple[tuple[Claim, ...], bool]:
    """Returns the claims of a text, and whether it only abstains."""
    segmentation = segment(text)
    claims = tuple(segmentation.claims)
    if claims or segmentation.abstained:
        return claims, not claims
    start = len(text) - len(text.lstrip())
    return (Claim(text=text.strip(), sentence_index=0, start=start, end=len(text.rstrip())),), False


class ClaimPairMetric(LlmMetric, Generic[A]):
    """Asks about each claim of the response and of the reference, in one step. The formulas need all answers."""

    needs: tuple[str, ...] = ("response", "reference")

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        if result := self._without_call(case):
            return result
        pair = claim_pair(case.response or "", case.reference or "")
        if not pair.reference:
            return self._null(ReasonCode.NO_CLAIMS, "The reference states nothing to compare with.")
        if pair.abstained:
            return self._abstained()
        answers = await self._about_each(model, {**self._fields(case), "claims": pair.items}, self._form(case))
        verdicts = tuple(self._verdict(case, claim, answers.by_index.get(i)) for i, claim in enumerate(pair.response))
        if unjudged := len(pair.items) - len(answers.by_index):
            result = self._null(ReasonCode.INCOMPLETE, f"{unjudged} of {len(pair.items)} claims got no verdict.")
        else:
            given = [answers.by_index[index] for index in range(len(pair.items))]
            ours = len(pair.response)
            result = self._compared(case, pair, given[:ours], given[ours:])
            result = replace(result, reason_code=ReasonCode.TOO_LONG if pair.cut else None)
        explanation = with_problems(result.explanation or "", answers.problems)
        return replace(result, explanation=explanation, claims=verdicts)

    def _without_call(self, case: Case) -> Evaluation | None:
        return self._missing(case, "response", "reference")

    @abstractmethod
    def _abstained(self) -> Evaluation:
        """The result for a response that only says that it does not know."""

    @abstractmethod
    def _fields(self, case: Case) -> dict[str, InputField | None]:
        """What the prompt shows before the claims."""

    @abstractmethod
    def _form(self, case: Case) -> AnswerForm[Any, A]: ...

    @abstractmethod
    def _verdict(self, case: Case, claim: Claim, answer: A | None) -> ClaimVerdict:
        """The verdict on a claim of the response."""

    @abstractmethod
    def _compared(self, case: Case, pair: ClaimPair, ours: Sequence[A], theirs: Sequence[A]) -> Evaluation:
        """Score and explanation from the answers about the response's claims, and about the reference's."""
