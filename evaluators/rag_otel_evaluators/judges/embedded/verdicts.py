"""From what was measured in a claim to its verdict: probability, quotes, and a reason that people can read."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from rag_otel.model import Chunk, Claim, ClaimVerdict, Quote, Usage, Verdict
from rag_otel_evaluators.judges.answer_language import in_another_language
from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.assessment import AssessedClaim, assess
from rag_otel_evaluators.judges.embedded.coefficients import Coefficients, sigmoid
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex, index_chunks
from rag_otel_evaluators.judges.embedded.language import speaks_another_language
from rag_otel_evaluators.judges.embedded.passages import PassageMemory
from rag_otel_evaluators.judges.judge import Judgement

UNSUPPORTED_FROM: Final = 0.3
"""Probability of being unsupported from which a claim's verdict is `not_enough_info`. Frozen: chosen once, on
out-of-fold probabilities of the development data, near the best F1."""
CONFLICT_PROBABILITY: Final = 0.5
"""Least probability of being unsupported for a claim that the evidence contradicts. Among pairs that differ in one
point four of five such claims are wrong, among the claims of people's answers few: a conflict is rare there."""
DOUBT: Final = 0.13
FEW_WORDS: Final = 12
MANY_WORDS: Final = 30
"""An answer of few words can be wrong in one of them, and overlap of few words says little. So each claim of an answer
of at most `FEW_WORDS` is unsupported with a probability of `DOUBT` at least; from `MANY_WORDS` on there is none.
Answers to questions of people mostly have more words; those of the contrast pairs have five."""
MOSTLY_UNKNOWN: Final = 0.5
"""A claim of which the context holds a smaller share than this, or with figures that are nowhere in it, says something
that is not there ..."""
UNKNOWN_PROBABILITY: Final = 0.22
"""... and has this much more of the way to certainly unsupported."""
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
    if speaks_another_language(index, response) or in_another_language(response, [chunk.text for chunk in chunks]):
        return _unjudged(claims)
    assessments = []
    for claim in claims:
        yield
        yield from index.look_up(claim.text)
        assessments.append(assess(index, claim, response))
    doubt = doubt_of(assessments)
    verdicts, probabilities = [], []
    for assessed in assessments:
        yield
        probability = unsupported_probability(coefficients, assessed, doubt)
        verdicts.append(_verdict(index, assessed, probability))
        probabilities.append(probability)
    return Judgement(verdicts=tuple(verdicts), risk=coefficients.risk(probabilities), usage=FREE)


def doubt_of(claims: Sequence[AssessedClaim]) -> float:
    """How little an answer of these claims says, 0..`DOUBT`."""
    words = sum(claim.words for claim in claims)
    return DOUBT * min(1.0, max(0.0, (MANY_WORDS - words) / (MANY_WORDS - FEW_WORDS)))


def unsupported_probability(coefficients: Coefficients, claim: AssessedClaim, doubt: float) -> float:
    """What the model says of the claim, raised by the doubt in the answer and where a rule knows better."""
    probability = sigmoid(coefficients.log_odds(claim.features))
    probability += (1.0 - probability) * doubt
    if claim.conflict is not None:
        return max(probability, CONFLICT_PROBABILITY)
    if _says_something_else(claim):
        return probability + (1.0 - probability) * UNKNOWN_PROBABILITY
    return probability


def _says_something_else(claim: AssessedClaim) -> bool:
    """Most of the claim, or one of its figures, is not in the context: it is never called supported."""
    return claim.alignment.coverage < MOSTLY_UNKNOWN or claim.alignment.has_unseen_digits


def _unjudged(claims: Sequence[Claim]) -> Judgement:
    reason = "The answer is in another language than its context: this judge cannot compare them."
    return Judgement(
        verdicts=tuple(ClaimVerdict(claim=c, verdict=Verdict.UNJUDGED, explanation=reason) for c in claims),
        reason_code=LANGUAGE_MISMATCH,
        usage=FREE,
    )


def _verdict(index: EvidenceIndex, assessed: AssessedClaim, unsupported: float) -> ClaimVerdict:
    quotes = _quotes(index, assessed)
    if assessed.conflict is not None:
        verdict = Verdict.CONTRADICTED
    elif unsupported < UNSUPPORTED_FROM and quotes and not _says_something_else(assessed):
        verdict = Verdict.SUPPORTED
    else:
        verdict = Verdict.NOT_ENOUGH_INFO
    names_chunks = verdict is not Verdict.NOT_ENOUGH_INFO
    return ClaimVerdict(
        claim=assessed.claim,
        verdict=verdict,
        chunk_ids=tuple(dict.fromkeys(quote.chunk_id for quote in quotes)) if names_chunks else (),
        quotes=quotes,
        explanation=_explanation(assessed, verdict),
        support_probability=1.0 - unsupported,
    )


def _quotes(index: EvidenceIndex, assessed: AssessedClaim) -> tuple[Quote, ...]:
    """The sentences that hold most of the claim, best first; the one in conflict alone where there is one."""
    if assessed.conflict is not None:
        return (_quote(index, assessed.conflict.sentence),)
    return tuple(_quote(index, sentence) for sentence, _ in assessed.alignment.evidence)


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
    if assessed.conflict is not None:
        return f"Says {assessed.conflict.claimed} where the context says {assessed.conflict.found}."
    missing = _missing_words(assessed.alignment)
    if verdict is Verdict.SUPPORTED:
        return f"In the context, but for: {missing}." if missing else "Its words are in the context."
    if missing:
        return f"Not in the context: {missing}."
    return "Its words are in the context, but no passage of it says this."


def _missing_words(alignment: Alignment) -> str:
    words = alignment.unseen_words
    more = f" and {len(words) - _NAMED_WORDS} more" if len(words) > _NAMED_WORDS else ""
    return ", ".join(words[:_NAMED_WORDS]) + more
