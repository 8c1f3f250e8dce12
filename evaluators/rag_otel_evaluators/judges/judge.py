"""Who decides: the interface between a metric of claims and the judge that gives the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, Protocol, runtime_checkable

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Chunk, Claim, ClaimVerdict, Usage, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge says of one answer."""

    verdicts: tuple[ClaimVerdict, ...]
    """In the order of the claims. At least one per claim: a judge may split a claim further (the parts keep its
    sentence index and lie within its span); a claim that it could not judge is `unjudged`."""
    risk: float | None = None
    """Calibrated probability in 0..1 that at least one claim is unsupported; None: derived from the verdicts."""
    usage: Usage | None = None
    reason_code: str | None = None
    """Why claims are unjudged, a `ReasonCode` or a judge's own; None where all are judged."""
    prompts: tuple[str, ...] = ()
    """Which prompts were asked, for the record; empty for judges that are not asked in words."""
    answered_by: str | None = None
    """The judge's name with the version of the model that answered; None where that is `Judge.name`."""
    problems: tuple[str, ...] = ()
    """What was set aside of a model's answer, in words; what concerns one claim stands in its explanation."""


@runtime_checkable
class Judge(Protocol):
    """Gives a verdict on every claim of an answer, with its evidence."""

    @property
    def name(self) -> str:
        """For the record: `embedded`, `openai/gpt-4o-mini`, ..."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever the same answer may be judged differently."""
        ...

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """Judge the claims of `response` against the chunks; both are never empty.

        `claim.text` is what to judge (a list's stem is put before its item); `response[claim.start:claim.end]` is
        its verbatim slice. Quotes are verbatim slices of chunks, `chunk_ids` are ids of `chunks`. May raise
        `RetryableError` or `PermanentError`. CPU-bound work gives way often: see `cooperative`.
        """
        ...


def most_calls_of(judge: object) -> int:
    """Calls to a model that `judge` makes for one answer, at most: its `most_calls`; 0 for one that asks no model."""
    return int(getattr(judge, "most_calls", 0))


ASSUMED_CERTAINTY: Final = 0.95
"""The probability that a verdict is right, where the judge gives none and risk is derived from verdicts."""


def independent_risk(verdicts: Sequence[ClaimVerdict]) -> float | None:
    """Probability that at least one judged claim is unsupported, claims taken as independent; None without any."""
    judged = [verdict for verdict in verdicts if verdict.verdict is not Verdict.UNJUDGED]
    return 1.0 - prod(assumed_support(verdict) for verdict in judged) if judged else None


def likeliest_risk(verdicts: Sequence[ClaimVerdict]) -> float | None:
    """Probability in 0..1 that at least one judged claim is unsupported: that of the likeliest one; None without any.

    The lower bound of what claims with these probabilities can have in common (Fréchet), and what holds if the judge
    errs on them together. Taken as independent, ten claims that a model calls supported with its usual 0.95 would make
    an answer 40% unfaithful: a model's word for its confidence is too coarse for a product.
    """
    judged = [verdict for verdict in verdicts if verdict.verdict is not Verdict.UNJUDGED]
    return max((1.0 - assumed_support(verdict) for verdict in judged), default=None)


def assumed_support(verdict: ClaimVerdict) -> float:
    """Its probability of support, 0..1; where the judge gives none, the one that its verdict implies."""
    if verdict.support_probability is not None:
        return verdict.support_probability
    return ASSUMED_CERTAINTY if verdict.verdict is Verdict.SUPPORTED else 1.0 - ASSUMED_CERTAINTY
