"""Faithfulness: the share of an answer's claims that the retrieved chunks support.

score = supported claims / judged claims (as in RAGAS, https://docs.ragas.io/en/stable/concepts/metrics/), for every
judge. The label says whether one of them is unsupported (`rag_otel.evaluation.support`). risk = calibrated probability
that at least one claim is unsupported; it ranks answers better than the score, and decides neither verdict nor label.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Sequence
from typing import Final, NamedTuple

from rag_otel.evaluation.support import UNFAITHFUL, UNFAITHFUL_FROM, label_of, settled, worst_first
from rag_otel.model import Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel.protocols import Prepares
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge, Judgement, independent_risk
from rag_otel_evaluators.metrics.metric import Case, Metric, with_problems

_REVISION: Final = "2"
"""Raised when the same judgement would lead to another score or label."""
LONGEST_ANSWER: Final = 50_000
"""Characters of an answer that are judged; of a longer one the beginning, with the reason `too_long`."""
MOST_CLAIMS: Final = 1_000
"""Claims of an answer that are judged; of more the first ones, with the same reason."""
_COMPILES_ALL: Final = "I don't know who built it, but the tower is 330 metres high."
"""An answer that needs all patterns of segmentation."""
_NAMED_CLAIMS: Final = 3
"""How many unsupported claims an explanation names."""
_SAYS: Final = {Verdict.CONTRADICTED: "Contradicted", Verdict.NOT_ENOUGH_INFO: "Not supported"}


class Faithfulness(Metric):
    """The evaluator `faithfulness`. Without a judge it uses the embedded one: no key, no download.

    The score is None with the reason `no_claims`, `abstained`, or a reason given by the judge. If there are claims and
    no context, the score is 0 with the reason `no_context`. The judge's errors are raised.
    """

    needs = ("chunks", "response")
    conversation_as: Final = "chunks"
    """See `rag_otel.protocols.ReadsConversation`."""
    caught = ()

    def __init__(self, *, judge: Judge | None = None, unfaithful_from: float = UNFAITHFUL_FROM) -> None:
        """`unfaithful_from`: probability in 0..1 from which a claim is unsupported, and so its answer `unfaithful`."""
        if not 0.0 <= unfaithful_from <= 1.0:
            raise ValueError(f"unfaithful_from must be within 0..1, not {unfaithful_from!r}")
        super().__init__("faithfulness")
        self.judge = EmbeddedJudge() if judge is None else judge
        self.unfaithful_from = unfaithful_from

    @property
    def version(self) -> str:
        moved = "" if self.unfaithful_from == UNFAITHFUL_FROM else f"[{self.unfaithful_from:g}]"
        return f"{_REVISION}{moved}+{self.judge.version}"

    @property
    def judge_name(self) -> str:
        return self.judge.name

    def prepare(self) -> None:
        """See `rag_otel.protocols.Prepares`."""
        from rag_otel_evaluators.text.claim_segmentation import segment

        segment(_COMPILES_ALL)
        if isinstance(self.judge, Prepares):
            self.judge.prepare()

    async def _score(self, case: Case) -> Evaluation:
        read = await cooperatively(read_claims(case.response or ""))
        claims = read.claims
        if not claims:
            return self._without_claims(abstained=read.abstained)
        if not case.has_context:
            return self._without_context(claims)
        judgement = await self.judge.judge(
            question=case.question, chunks=case.given_chunks, response=case.response or "", claims=claims
        )
        result = self._scored(judgement)
        return result if read.complete else self._partial(result)

    def _partial(self, result: Evaluation) -> Evaluation:
        """What is known of an answer of which only the beginning was judged: never that it is faithful."""
        return dataclasses.replace(
            result,
            label=result.label if result.label == UNFAITHFUL else None,
            reason_code=result.reason_code or ReasonCode.TOO_LONG,
            explanation=f"{result.explanation} The answer is too long: only its beginning was judged.",
        )

    def _scored(self, judgement: Judgement) -> Evaluation:
        verdicts = settled(judgement.verdicts, unfaithful_from=self.unfaithful_from)
        judged = sum(verdict.verdict is not Verdict.UNJUDGED for verdict in verdicts)
        supported = sum(verdict.verdict is Verdict.SUPPORTED for verdict in verdicts)
        risk = judgement.risk if judgement.risk is not None else independent_risk(verdicts)
        return Evaluation(
            name=self.name,
            score=supported / judged if judged else None,
            risk=risk if judged else None,
            label=label_of(verdicts),
            explanation=with_problems(_explanation(verdicts, supported, judged), judgement.problems),
            reason_code=judgement.reason_code or _unexplained(judged, len(verdicts)),
            claims=verdicts,
            answered_by=judgement.answered_by,
            prompts=judgement.prompts,
            usage=judgement.usage,
        )

    def _without_claims(self, *, abstained: bool) -> Evaluation:
        if abstained:
            return self._null(ReasonCode.ABSTAINED, "The answer says that it does not know, and makes no claim.")
        return self._null(ReasonCode.NO_CLAIMS, "The answer contains no statement that could be checked.")

    def _without_context(self, claims: Sequence[Claim]) -> Evaluation:
        """Without context no claim is supported. The score is 0 and the risk is 1 by definition; no judge is asked."""
        reason = "No context was retrieved."
        verdicts = tuple(
            ClaimVerdict(claim=claim, verdict=Verdict.NOT_ENOUGH_INFO, support_probability=0.0, explanation=reason)
            for claim in claims
        )
        return Evaluation(
            name=self.name,
            score=0.0,
            risk=1.0,
            label=label_of(verdicts),
            explanation=f"{reason} {_explanation(verdicts, 0, len(verdicts))}",
            reason_code=ReasonCode.NO_CONTEXT,
            claims=verdicts,
        )


def _unexplained(judged: int, claims: int) -> str | None:
    """The reason code if a judge left claims out without giving a reason."""
    if judged == claims:
        return None
    return ReasonCode.INCOMPLETE if judged else ReasonCode.JUDGE_ERROR


class _Read(NamedTuple):
    """What an answer claims."""

    claims: tuple[Claim, ...]
    abstained: bool
    """It says, somewhere, that it does not know."""
    complete: bool
    """False where only the beginning was read."""


def read_claims(response: str) -> Generator[None, None, _Read]:
    from rag_otel_evaluators.text.claim_segmentation import (  # compiles its patterns, so only with the first answer
        SegmentKind,
        claim_of,
        iter_segments,
    )

    beginning = response[:LONGEST_ANSWER]
    complete, abstained = beginning == response, False
    claims: list[Claim] = []
    for segment in iter_segments(beginning):
        if len(claims) == MOST_CLAIMS:
            complete = False
            break
        if segment.kind is SegmentKind.CLAIM:
            claims.append(claim_of(beginning, segment))
        abstained = abstained or segment.kind is SegmentKind.ABSTENTION
        yield
    return _Read(tuple(claims), abstained, complete)


def _explanation(verdicts: Sequence[ClaimVerdict], supported: int, judged: int) -> str:
    """The first few unsupported claims with their reasons, the worst one first, then how many there are. Contains
    "unsupported" only if there are any."""
    failing = worst_first(verdicts)
    parts = [f'{_SAYS[v.verdict]}: "{v.claim.text}" {v.explanation or ""}'.rstrip() for v in failing[:_NAMED_CLAIMS]]
    if failing:
        parts.append(f"{len(failing)} of {judged} claims are unsupported.")
    else:
        parts.append(f"{supported} of {judged} claims are supported.")
    if unjudged := len(verdicts) - judged:
        parts.append(f"{unjudged} not judged.")
    return " ".join(parts)
