"""From what was measured in a claim to its verdict: probability, quotes, and a reason that people can read.

p(claim unsupported) = sigmoid(w . x + b), lifted where something is plain: a conflict with the evidence, figures that
                       are nowhere, hardly a word in common
risk                 = 1 - (1 - p of the riskiest claim) * (product over the others of (1 - p)) ** damping

The weights w are learned from labels of people (`benchmarks/training`) and shipped beside this file. The verdict
follows the probability, as for every judge (`evaluation.support`). Effect of the floors, measured: .07 to .19 more of
everyday short answers labelled right, RAGTruth unchanged.

The risk is a damped noisy-or. A plain one (damping 1) takes claims as independent, but claims of one answer fail
together, so it promises too much risk; damping 0 would see the riskiest claim alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.evaluation.support import is_unsupported
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Chunk, Claim, ClaimVerdict, Quote, Usage, Verdict
from rag_otel_evaluators.judges.embedded.assessment import AssessedClaim, assess
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex, PassageMemory, index_chunks
from rag_otel_evaluators.judges.embedded.language import speaks_another_language
from rag_otel_evaluators.judges.judge import Judgement

CAUTION: Final = 1.7
"""How many times the odds of being unsupported count in a verdict: the threshold that all judges share, .3, then lies
at a probability of .2, near the best F1 of the label on people's answers, out of fold. Risk is computed without it."""
SHORT_ANSWER: Final = 20
"""Words of weight and numbers up to which an answer is short: there the line knows little, and what is plain counts."""
MOSTLY_UNKNOWN: Final = 0.5
"""A claim of which the context holds a smaller share than this says, in a short answer, something that is not there."""
UNKNOWN: Final = 0.35
"""Least probability of such a claim, and of one with figures that are nowhere. Of people's answers 51 of 146 claims
that are mostly unknown are unsupported, and 18 of 28 with unknown figures."""
CONTRADICTED: Final = 0.8
"""Least probability of a claim of a short answer with a plain conflict: of such claims of other data sets 74% to 92%
are unsupported ..."""
CONTRADICTED_IN_LONG: Final = 0.25
"""... and in a long answer, where a conflict is more often a paraphrase."""
MARGIN: Final = 0.11
"""The risk of a short answer stays this far from 0 and from 1: a few words in common, or not, prove little."""
_NAMED_WORDS: Final = 8

LANGUAGE_MISMATCH: Final = "language_mismatch"
"""Reason code: answer and chunks are in different languages."""

FREE: Final = Usage(cost_usd=0.0)


def judge_steps(
    coefficients: Coefficients,
    memory: PassageMemory,
    *,
    question: str | None,
    chunks: Sequence[Chunk],
    response: str,
    claims: Sequence[Claim],
) -> Generator[None, None, Judgement]:
    """Judge the claims of an answer; yields at cooperative points. `memory`: of the chunks that came before."""
    index = yield from index_chunks(chunks, question, memory)
    if speaks_another_language(index, response):
        return _unjudged(claims)
    assessments = []
    for claim in claims:
        yield
        yield from index.look_up(claim.text)
        assessments.append(assess(index, claim, response))
    words = sum(each.words for each in assessments)
    verdicts, probabilities = [], []
    for assessed in assessments:
        yield
        probability = unsupported_probability(coefficients, assessed, words)
        verdicts.append(_verdict(index, assessed, probability))
        probabilities.append(probability)
    risk = risk_of_answer(probabilities, words)
    return Judgement(verdicts=tuple(verdicts), risk=risk, usage=FREE)


def risk_of_answer(unsupported: Sequence[float], words: int) -> float:
    """The risk of an answer of so many words of weight, from the probability of each claim."""
    risk = risk_of_any(unsupported)
    return MARGIN + (1.0 - 2.0 * MARGIN) * risk if words <= SHORT_ANSWER else risk


def unsupported_probability(coefficients: Coefficients, claim: AssessedClaim, words: int) -> float:
    """What the line says of a claim in an answer of so many words of weight, lifted where something is plain."""
    is_short = words <= SHORT_ANSWER
    probability = sigmoid(coefficients.log_odds(claim.features))
    if claim.conflict is not None:
        return max(probability, CONTRADICTED if is_short else CONTRADICTED_IN_LONG)
    aligned = claim.alignment
    is_mostly_unknown = is_short and aligned.coverage < MOSTLY_UNKNOWN
    if not aligned.evidence or aligned.has_unseen_digits or is_mostly_unknown:
        return max(probability, UNKNOWN)
    return probability


def cautious(unsupported: float) -> float:
    """The probability that decides the verdict."""
    return CAUTION * unsupported / (CAUTION * unsupported + 1.0 - unsupported)


def _unjudged(claims: Sequence[Claim]) -> Judgement:
    reason = "The answer is in another language than its context: this judge cannot compare them."
    return Judgement(
        verdicts=tuple(ClaimVerdict(claim=c, verdict=Verdict.UNJUDGED, explanation=reason) for c in claims),
        reason_code=LANGUAGE_MISMATCH,
        usage=FREE,
    )


def _verdict(index: EvidenceIndex, assessed: AssessedClaim, unsupported: float) -> ClaimVerdict:
    support = 1.0 - cautious(unsupported)
    conflict = assessed.conflict if is_unsupported(support) else None
    verdict = Verdict.NOT_ENOUGH_INFO if is_unsupported(support) else Verdict.SUPPORTED
    sentences = [sentence for sentence, _ in assessed.alignment.evidence]
    if conflict is not None:
        verdict, sentences = Verdict.CONTRADICTED, [conflict.sentence]
    quotes = tuple(_quote(index, sentence) for sentence in sentences)
    names_chunks = verdict is not Verdict.NOT_ENOUGH_INFO
    return ClaimVerdict(
        claim=assessed.claim,
        verdict=verdict,
        chunk_ids=tuple(dict.fromkeys(quote.chunk_id for quote in quotes)) if names_chunks else (),
        quotes=quotes,
        explanation=_explanation(assessed, verdict),
        support_probability=support,
    )


def _quote(index: EvidenceIndex, number: int) -> Quote:
    sentence = index.sentences[number]
    chunk = index.chunks[index.chunk_of[number]]
    return Quote(
        chunk_id=chunk.id,
        start=sentence.start,
        end=sentence.end,
        text=chunk.text[sentence.start : sentence.end],
    )


def _explanation(assessed: AssessedClaim, verdict: Verdict) -> str:
    if verdict is Verdict.CONTRADICTED:
        return str(assessed.conflict)
    missing = _missing(assessed.alignment.unseen_runs)
    if verdict is Verdict.SUPPORTED:
        return f"The context holds its words, except: {missing}." if missing else "The context holds its words."
    if missing:
        return f"Not in the context: {missing}."
    return "The context holds its words, but not together."


def _missing(words: Sequence[str]) -> str:
    more = f" and {len(words) - _NAMED_WORDS} more" if len(words) > _NAMED_WORDS else ""
    return ", ".join(words[:_NAMED_WORDS]) + more


# --- what was learned -------------------------------------------------------------------------------------------------

FEATURES: Final = (
    "chunk_coverage",  # share of the claim's words that the best single chunk holds
    "trigrams",  # share of the claim's word triples that the nearest sentences hold: wording taken over
    "unseen",  # log of the weight of words that are nowhere
    "unseen_digits",  # 1 where a number in figures is nowhere
    "list_item",  # 1 for an item of a list
)
"""Names of the features, in the order of the vector."""

DAMPING: Final = 0.25
"""0..1: how much the claims beside the riskiest one add to the risk of the answer. People's labels are about as likely
under any from .2 to .6."""
SHIPPED: Final = Path(__file__).with_name("coefficients.json")
"""Trained on all of the development data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """Everything the embedded judge has learned."""

    weights: tuple[float, ...]
    """One per feature, in the order of `FEATURES`, on the features' own scales."""
    intercept: float

    def log_odds(self, features: Sequence[float]) -> float:
        """Log-odds that the claim with these features is unsupported."""
        total = self.intercept
        for weight, value in zip(self.weights, features, strict=True):
            total += weight * value
        return total

    def as_json(self) -> dict[str, Any]:
        """Plain values for a file; `from_json` reads them back."""
        return {"features": dict(zip(FEATURES, self.weights, strict=True)), "intercept": self.intercept}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Coefficients:
        """Raises InputError where the features are not the ones that this version computes."""
        features = values.get("features", {})
        if tuple(features) != FEATURES:
            raise InputError(
                f"these coefficients are for the features {', '.join(features)}; this version computes "
                f"{', '.join(FEATURES)}: train again"
            )
        return cls(weights=tuple(map(float, features.values())), intercept=float(values["intercept"]))


def risk_of_any(unsupported: Sequence[float]) -> float:
    """Probability in 0..1 that any of the claims (at least one) is unsupported, from the probability of each."""
    *others, riskiest = sorted(unsupported)
    return 1.0 - (1.0 - riskiest) * math.prod(1.0 - probability for probability in others) ** DAMPING


@cache
def shipped_coefficients() -> Coefficients:
    """The coefficients of this version of the package."""
    return Coefficients.from_json(json.loads(SHIPPED.read_text(encoding="utf-8")))


def sigmoid(value: float) -> float:
    """1 / (1 + exp(-value)), without overflow."""
    if value >= 0.0:
        return 1.0 / (1.0 + math.exp(-value))
    power = math.exp(value)
    return power / (1.0 + power)
