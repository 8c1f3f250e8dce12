"""Two judges, one result: a cheap judge decides what it is sure of, an expensive one gets only what is left.

    Faithfulness(judge=CascadeJudge(cheap=EmbeddedJudge(), expensive=LlmJudge(model=llm_model("openai/gpt-4o-mini"))))

An answer of which every claim is clear costs no call at all; of the others only the uncertain claims are asked about.
Every verdict names who decided it. The band of uncertainty is the cheap judge's own probability, so it must be one
that can be believed: the embedded judge's is calibrated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final

from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.evaluation.current_evaluation import add_usage, metered
from rag_otel.model import Chunk, Claim, ClaimVerdict, ReasonCode, Verdict
from rag_otel_evaluators.judges.judge import Judge, Judgement, assumed_support, independent_risk, most_calls_of

SURE_SUPPORTED_FROM: Final = 0.97
"""Probability of being supported from which the cheap judge's word is enough. Frozen: of the development data's claims
beyond it, fewer than one in a hundred are unsupported, by the embedded judge out of fold."""
SURE_UNSUPPORTED_TO: Final = 0.0
"""Probability of being supported up to which it is enough that a claim is not. 0: what the cheap judge suspects is
always checked, because alerts on its word alone are mostly wrong (`benchmarks/alert_precision.py`)."""
_REVISION: Final = "2"


class CascadeJudge:
    """A `Judge` that shares an answer's claims out between two others."""

    def __init__(
        self,
        *,
        cheap: Judge,
        expensive: Judge,
        sure_supported_from: float = SURE_SUPPORTED_FROM,
        sure_unsupported_to: float = SURE_UNSUPPORTED_TO,
    ) -> None:
        """Claims whose probability of being supported, as `cheap` sees it, lies between the two bounds are uncertain.

        A wider band asks `expensive` more often. Raises ConfigurationError for bounds that are not 0 <= to < from <= 1.
        """
        if not 0.0 <= sure_unsupported_to < sure_supported_from <= 1.0:
            raise ConfigurationError(
                "a cascade needs 0 <= sure_unsupported_to < sure_supported_from <= 1, "
                f"not {sure_unsupported_to!r} and {sure_supported_from!r}"
            )
        self.cheap = cheap
        self.expensive = expensive
        self.sure_supported_from = sure_supported_from
        self.sure_unsupported_to = sure_unsupported_to

    @property
    def name(self) -> str:
        return f"cascade({self.cheap.name},{self.expensive.name})"

    @property
    def version(self) -> str:
        """`<revision>[<band>]+<version of the cheap judge>+<version of the expensive one>`."""
        band = f"{self.sure_unsupported_to:g}-{self.sure_supported_from:g}"
        return f"{_REVISION}[{band}]+{self.cheap.version}+{self.expensive.version}"

    @property
    def most_calls(self) -> int:
        """Calls that one answer can cost, at most, whatever comes back."""
        return most_calls_of(self.cheap) + most_calls_of(self.expensive)

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`. Errors of the cheap judge are raised.

        Where the expensive one fails or leaves a claim open, the cheap one's verdict stands, under its name, and the
        reason code says so: an outage makes the result weaker, not absent.
        """
        first = await self.cheap.judge(question=question, chunks=chunks, response=response, claims=claims)
        decided = [_of_claim(claim, first.verdicts) for claim in claims]
        uncertain = [claim for claim, verdicts in zip(claims, decided, strict=True) if not self._is_sure(verdicts)]
        if not uncertain:
            return dataclasses.replace(first, verdicts=_signed(first.verdicts, self.cheap))
        try:
            with metered() as spent:
                second = await self.expensive.judge(
                    question=question, chunks=chunks, response=response, claims=uncertain
                )
        except (RetryableError, PermanentError) as error:
            problem = f"{self.expensive.name} failed, so {self.cheap.name} decided alone: {error}"
            return dataclasses.replace(
                first,
                verdicts=_signed(first.verdicts, self.cheap),
                usage=add_usage(first.usage, spent.usage),
                reason_code=first.reason_code or ReasonCode.JUDGE_ERROR,
                problems=(*first.problems, problem),
            )
        return self._merged(claims, decided, uncertain, first, second)

    def _is_sure(self, verdicts: Sequence[ClaimVerdict]) -> bool:
        """True when every part of a claim has a verdict, and with a probability outside the band."""
        return bool(verdicts) and all(
            verdict.verdict is not Verdict.UNJUDGED
            and verdict.support_probability is not None
            and not self.sure_unsupported_to < verdict.support_probability < self.sure_supported_from
            for verdict in verdicts
        )

    def _merged(
        self,
        claims: Sequence[Claim],
        decided: Sequence[Sequence[ClaimVerdict]],
        uncertain: Sequence[Claim],
        first: Judgement,
        second: Judgement,
    ) -> Judgement:
        """The verdicts of both, in the order of the claims."""
        verdicts: list[ClaimVerdict] = []
        for claim, before in zip(claims, decided, strict=True):
            after = _of_claim(claim, second.verdicts) if claim in uncertain else ()
            settled = bool(after) and all(verdict.verdict is not Verdict.UNJUDGED for verdict in after)
            verdicts += _signed(after, self.expensive) if settled else _signed(before, self.cheap)
        return Judgement(
            verdicts=tuple(verdicts),
            risk=_joint_risk(verdicts, second, self.expensive.name),
            usage=add_usage(first.usage, second.usage),
            reason_code=_reason_code(verdicts, first, second),
            prompts=(*first.prompts, *second.prompts),
            problems=(*first.problems, *second.problems),
        )


def _reason_code(verdicts: Sequence[ClaimVerdict], first: Judgement, second: Judgement) -> str | None:
    """Why claims are unjudged; a claim that the cheap judge could not read (another language) is settled by the other.

    What the expensive judge left open is told also where the cheap one's verdict stands in for it.
    """
    left_open = any(verdict.verdict is Verdict.UNJUDGED for verdict in verdicts)
    return second.reason_code or (first.reason_code if left_open else None)


def _of_claim(claim: Claim, verdicts: Sequence[ClaimVerdict]) -> tuple[ClaimVerdict, ...]:
    """The verdicts on a claim or on its parts."""
    whole = tuple(verdict for verdict in verdicts if verdict.claim == claim)
    return whole or tuple(
        verdict
        for verdict in verdicts
        if verdict.claim.sentence_index == claim.sentence_index
        and claim.start <= verdict.claim.start
        and verdict.claim.end <= claim.end
    )


def _signed(verdicts: Sequence[ClaimVerdict], judge: Judge) -> tuple[ClaimVerdict, ...]:
    return tuple(dataclasses.replace(verdict, judge=verdict.judge or judge.name) for verdict in verdicts)


def _joint_risk(verdicts: Sequence[ClaimVerdict], second: Judgement, expensive: str) -> float | None:
    """The greater of the expensive judge's risk and that of the likeliest unsupported claim of the cheap one's.

    What the cheap judge calls clear adds next to nothing by itself; added up over a long answer it would.
    """
    kept = [
        1.0 - assumed_support(verdict)
        for verdict in verdicts
        if verdict.judge != expensive and verdict.verdict is not Verdict.UNJUDGED
    ]
    asked = second.risk if second.risk is not None else independent_risk(second.verdicts)
    return max((risk for risk in (*kept, asked) if risk is not None), default=None)
