"""Faithfulness: which share of an answer's claims the retrieved chunks support.

score = supported claims / judged claims (as in RAGAS, https://docs.ragas.io/en/stable/concepts/metrics/), for every
judge. risk = calibrated probability that at least one claim is unsupported; it separates answers far better than the
hard ratio, so the label comes from it.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Final

from rag_otel.model import Chunk, Claim, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.judges.embedded import EmbeddedJudge
from rag_otel_evaluators.judges.judge import Judge, Judgement, risk_of
from rag_otel_evaluators.metrics.inputs import as_chunks
from rag_otel_evaluators.metrics.outcomes import with_problems
from rag_otel_evaluators.sync import SyncTwin

if TYPE_CHECKING:
    from rag_otel_evaluators.text.claim_segmentation import Segment, Segmentation

UNFAITHFUL_FROM: Final = 0.3
"""Risk from which an answer is labelled `unfaithful`. Frozen: chosen once, on out-of-fold risks of the development
data, near the best F1. The embedded judge calls a claim unsupported from the same probability on, and an answer is
never less risky than its riskiest claim: so an answer with an unsupported claim is always `unfaithful`."""

LONGEST_ANSWER: Final = 50_000
"""Characters of an answer that are judged; of a longer one the beginning, with the reason `too_long`."""
MOST_CLAIMS: Final = 1_000
"""Claims of an answer that are judged; of more the first ones, with the same reason."""
_NAMED_CLAIMS: Final = 3
"""How many unsupported claims an explanation names."""


class Faithfulness(SyncTwin):
    """The evaluator `faithfulness`. Without a judge it uses the embedded one: no key, no download."""

    needs = ("chunks", "response")

    def __init__(self, *, judge: Judge | None = None, unfaithful_from: float = UNFAITHFUL_FROM) -> None:
        """`unfaithful_from`: risk in 0..1 from which the label is `unfaithful`."""
        if not 0.0 <= unfaithful_from <= 1.0:
            raise ValueError(f"unfaithful_from must be within 0..1, not {unfaithful_from!r}")
        self.judge = EmbeddedJudge() if judge is None else judge
        self.unfaithful_from = unfaithful_from

    @property
    def name(self) -> str:
        return "faithfulness"

    @property
    def version(self) -> str:
        return f"1+{self.judge.version}"

    @property
    def judge_name(self) -> str:
        return self.judge.name

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        """Score one answer. The `reference` is not looked at.

        Null with a reason where there is nothing to judge: `no_claims`, `abstained`, or the judge's own. Claims
        without any context score 0, with the reason `no_context` as a flag. The judge's errors are raised.
        """
        started = time.perf_counter()
        result = await self._evaluate(question, as_chunks(chunks), response)
        return dataclasses.replace(
            result,
            evaluator=type(self).__qualname__,
            version=self.version,
            judge=self.judge_name,
            duration_s=time.perf_counter() - started,
        )

    async def _evaluate(self, question: str | None, chunks: Sequence[Chunk], response: str) -> Evaluation:
        segmentation = await cooperatively(_segment(response))
        claims = segmentation.claims
        if not claims:
            return self._without_claims(segmentation)
        if not any(chunk.text.strip() for chunk in chunks):
            return self._without_context(claims)
        judgement = await self.judge.judge(question=question, chunks=chunks, response=response, claims=claims)
        result = self._scored(judgement)
        return self._partial(result) if segmentation.text != response else result

    def _partial(self, result: Evaluation) -> Evaluation:
        """What is known of an answer of which only the beginning was judged: never that it is faithful."""
        return dataclasses.replace(
            result,
            label=result.label if result.label == "unfaithful" else None,
            reason_code=result.reason_code or ReasonCode.TOO_LONG,
            explanation=f"{result.explanation} The answer is too long: only its beginning was judged.",
        )

    def _scored(self, judgement: Judgement) -> Evaluation:
        verdicts = judgement.verdicts
        judged = sum(verdict.verdict is not Verdict.UNJUDGED for verdict in verdicts)
        supported = sum(verdict.verdict is Verdict.SUPPORTED for verdict in verdicts)
        risk = judgement.risk if judgement.risk is not None else risk_of(verdicts)
        return Evaluation(
            name=self.name,
            score=supported / judged if judged else None,
            risk=risk if judged else None,
            label=self._label(risk) if judged and risk is not None else None,
            explanation=with_problems(_explanation(verdicts, supported, judged), judgement.problems),
            reason_code=judgement.reason_code or (None if judged else ReasonCode.JUDGE_ERROR),
            claims=verdicts,
            prompts=judgement.prompts,
            usage=judgement.usage,
        )

    def _label(self, risk: float) -> str:
        return "unfaithful" if risk >= self.unfaithful_from else "faithful"

    def _without_claims(self, segmentation: Segmentation) -> Evaluation:
        if segmentation.abstained:
            explanation = "The answer says that it does not know, and claims nothing."
            return Evaluation(name=self.name, reason_code=ReasonCode.ABSTAINED, explanation=explanation)
        explanation = "The answer holds no statement that could be checked."
        return Evaluation(name=self.name, reason_code=ReasonCode.NO_CLAIMS, explanation=explanation)

    def _without_context(self, claims: Sequence[Claim]) -> Evaluation:
        """Nothing was retrieved, so nothing is supported: 0 and certain, by definition and not by a judge."""
        reason = "No context was retrieved."
        verdicts = tuple(
            ClaimVerdict(claim=claim, verdict=Verdict.NOT_ENOUGH_INFO, confidence=0.0, explanation=reason)
            for claim in claims
        )
        return Evaluation(
            name=self.name,
            score=0.0,
            risk=1.0,
            label=self._label(1.0),
            explanation=f"{reason} {_explanation(verdicts, 0, len(verdicts))}",
            reason_code=ReasonCode.NO_CONTEXT,
            claims=verdicts,
        )


def _segment(response: str) -> Generator[None, None, Segmentation]:
    from rag_otel_evaluators.text.claim_segmentation import (  # its patterns: with the first answer
        Segmentation,
        SegmentKind,
        iter_segments,
    )

    beginning = response[:LONGEST_ANSWER]
    segments: list[Segment] = []
    claims = 0
    for segment in iter_segments(beginning):
        if claims == MOST_CLAIMS:
            beginning = beginning[: segment.start]
            break
        segments.append(segment)
        claims += segment.kind is SegmentKind.CLAIM
        yield
    return Segmentation(text=beginning, segments=tuple(segments))


def _explanation(verdicts: Sequence[ClaimVerdict], supported: int, judged: int) -> str:
    """How many claims hold, then the first few that do not; the word "unsupported" stands there only if some do not."""
    failing = [v for v in verdicts if v.verdict in (Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO)]
    parts = [f"{supported} of {judged} claims supported" + ("; unsupported:" if failing else ".")]
    parts += [f"{v.claim.text!r} ({v.verdict}). {v.explanation or ''}".rstrip() for v in failing[:_NAMED_CLAIMS]]
    if len(failing) > _NAMED_CLAIMS:
        parts.append(f"And {len(failing) - _NAMED_CLAIMS} more.")
    if unjudged := len(verdicts) - judged:
        parts.append(f"{unjudged} not judged.")
    return " ".join(parts)
