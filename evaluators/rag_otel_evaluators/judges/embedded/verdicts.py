"""From what was measured in a claim to its verdict: probability, quotes, and a reason that people can read."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from rag_otel.model import Chunk, Claim, ClaimVerdict, Quote, Usage, Verdict
from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.assessment import AssessedClaim, compare_steps, read_steps
from rag_otel_evaluators.judges.embedded.coefficients import Coefficients, shortness_of, sigmoid
from rag_otel_evaluators.judges.embedded.conflicts import Conflict
from rag_otel_evaluators.judges.embedded.contradictions import CONTRADICTED_PROBABILITY, contradiction
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex, index_chunks
from rag_otel_evaluators.judges.embedded.language import speaks_another_language
from rag_otel_evaluators.judges.embedded.passages import PassageMemory
from rag_otel_evaluators.judges.judge import Judgement
from rag_otel_evaluators.text.languages.scripts import SPACELESS

UNSUPPORTED_FROM: Final = 0.3
"""Probability of being unsupported from which a claim's verdict is `not_enough_info`. Frozen: chosen once, on
out-of-fold probabilities of the development data, near the best F1."""
MOSTLY_UNKNOWN: Final = 0.5
"""A claim of which the context holds a smaller share than this, or with figures that are nowhere in it, says something
that is not there: it is never called supported."""
DOUBTED_FROM: Final = 0.13
"""Probability from which a claim of a short answer, most of which is not in the context, is never called faithful.
Words alone cannot tell a free paraphrase from an answer that is made up, the trees can a little. On 625 pairs, 326
of which had taught no weight, 64% of the faithful answers are called faithful so, and 9% of answers to another text."""
_IN_ORDER: Final = 0.02
"""How much of the probability is added then, so that two such answers keep their order."""
TOO_WIDE: Final = 1.0
"""Value of the difference `too_wide` from which a claim is not called supported, nor its answer faithful: of the pairs,
105 unfaithful answers have half of it, and 38 faithful ones."""
REPLY_TURNED: Final = 1.0
"""Value of the difference `reply_turned` from which the same holds: 32 unfaithful answers of the pairs have it, and 9
faithful ones."""
_MOST_OF_A_NAME: Final = 3
"""Words of an answer that is a name and nothing else."""
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
    read = []
    for claim in claims:
        yield
        yield from index.look_up(claim.text)
        read.append((yield from read_steps(index, claim, response)))
    shortness = shortness_of(sum(each.words for each in read))
    assessments = []
    for each in read:
        yield
        assessments.append((yield from compare_steps(index, each, is_short_answer=shortness > 0.0)))
    verdicts, probabilities = [], []
    for assessed in assessments:
        yield
        conflict = contradiction(index, coefficients, assessed, shortness)
        probability = unsupported_probability(coefficients, assessed, shortness, contradicted=conflict is not None)
        verdicts.append(_verdict(index, assessed, conflict, probability))
        probabilities.append(probability)
    return Judgement(verdicts=tuple(verdicts), risk=coefficients.risk(probabilities), usage=FREE)


def unsupported_probability(
    coefficients: Coefficients, claim: AssessedClaim, shortness: float, *, contradicted: bool
) -> float:
    """What the model says of the claim in an answer so short, raised where a short answer is contradicted.

    In long answers of people's questions a conflict is mostly a paraphrase, so there only its learned weight counts.
    """
    probability = sigmoid(coefficients.log_odds(claim.features, shortness))
    if (
        _goes_too_far(claim)
        or _is_unknown_name(claim)
        or (probability >= DOUBTED_FROM and claim.alignment.coverage < MOSTLY_UNKNOWN)
    ):
        probability = max(probability, UNSUPPORTED_FROM * shortness + _IN_ORDER * probability)
    raised = CONTRADICTED_PROBABILITY if contradicted else 0.0
    return probability + (1.0 - probability) * raised * shortness


def _says_something_else(claim: AssessedClaim) -> bool:
    """Most of the claim, or one of its figures, is not in the context, or it says more than that does."""
    return claim.alignment.coverage < MOSTLY_UNKNOWN or claim.alignment.has_unseen_digits or _goes_too_far(claim)


def _goes_too_far(claim: AssessedClaim) -> bool:
    """It says "all" for "some", or begins with a "no" where the context says yes."""
    values = claim.differences.values
    return values["too_wide"] >= TOO_WIDE or values["reply_turned"] >= REPLY_TURNED


def _is_unknown_name(claim: AssessedClaim) -> bool:
    """True for "Bristol." where the context names no Bristol."""
    aligned = claim.alignment
    if any(aligned.seen.values()) or aligned.numbers or not 0 < len(aligned.weights) <= _MOST_OF_A_NAME:
        return False
    counting = (token for token, term in zip(aligned.tokens, aligned.terms, strict=True) if term in aligned.weights)
    return all(token[0].isupper() or SPACELESS.match(token) for token in counting)


def _unjudged(claims: Sequence[Claim]) -> Judgement:
    reason = "The answer is in another language than its context: this judge cannot compare them."
    return Judgement(
        verdicts=tuple(ClaimVerdict(claim=c, verdict=Verdict.UNJUDGED, explanation=reason) for c in claims),
        reason_code=LANGUAGE_MISMATCH,
        usage=FREE,
    )


def _verdict(
    index: EvidenceIndex, assessed: AssessedClaim, conflict: Conflict | None, unsupported: float
) -> ClaimVerdict:
    if unsupported < UNSUPPORTED_FROM:
        conflict = None
    quotes = _quotes(index, assessed, conflict)
    if conflict is not None:
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
        explanation=_explanation(assessed, conflict, verdict),
        support_probability=1.0 - unsupported,
    )


def _quotes(index: EvidenceIndex, assessed: AssessedClaim, conflict: Conflict | None) -> tuple[Quote, ...]:
    """The sentences that hold most of the claim, best first; the one in conflict alone where there is one."""
    if conflict is not None:
        return (_quote(index, conflict.sentence),)
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


def _explanation(assessed: AssessedClaim, conflict: Conflict | None, verdict: Verdict) -> str:
    if conflict is not None:
        return f"Says {conflict.claimed} where the context says {conflict.found}."
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
