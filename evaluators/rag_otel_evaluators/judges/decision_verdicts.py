"""The answers of a decision model as verdicts with evidence, and why claims have none."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping, Sequence
from typing import Final

from rag_otel.evaluation.support import UNFAITHFUL_FROM
from rag_otel.model import Chunk, Claim, ClaimVerdict, Quote, ReasonCode, Verdict
from rag_otel_evaluators.judges.decision_questions import (
    CONTRADICTED,
    NONE,
    NOT_STATED,
    SUPPORTED,
    VERDICTS,
    FittingPassages,
)
from rag_otel_evaluators.judges.hhem_windows import nearest_sentence
from rag_otel_evaluators.llm.decisions.form import REFUSED, ChoiceAnswer
from rag_otel_evaluators.text.conflicts import Conflict, ConflictKind, conflicts_among
from rag_otel_evaluators.text.sentences import sentence_spans
from rag_otel_evaluators.text.statement import AnalysedStatement
from rag_otel_evaluators.text.terms import terms_of

SURE_FROM: Final = 1.0 - UNFAITHFUL_FROM
"""Probability of support from which a claim is supported: where `Faithfulness` draws the line for every judge."""
DOUBT_FROM: Final = 0.35
"""Probability of support from which, up to `SURE_FROM`, nobody should rely on the verdict."""
CUT: Final = "state_cut"
"""Reason of verdicts that are not given because the model did not see the end of what it was sent."""
_EVIDENCE_FROM: Final = 0.5
"""Probability from which the passage that the model chose is the evidence."""
_EVEN: Final = 0.5
"""Probability of support of a claim that the model supports and plain reading does not."""
_READ: Final = frozenset({ConflictKind.NUMBER, ConflictKind.DATE, ConflictKind.UNIT, ConflictKind.NAME})


def verdicts_of(
    claims: Sequence[Claim],
    answers: Mapping[str, ChoiceAnswer],
    chunks: Sequence[Chunk],
    passages: FittingPassages,
    answered_by: str | None,
) -> Generator[None, None, tuple[ClaimVerdict, ...]]:
    """A verdict on each claim; yields after each, for `cooperative`."""
    sentences: list[AnalysedStatement] = []
    for text in passages.texts.values():
        for start, end in sentence_spans(text):
            sentences.append(AnalysedStatement(text[start:end]))
            yield
    verdicts = []
    for index, claim in enumerate(claims):
        relation, evidence = answers.get(f"k{index}"), answers.get(f"e{index}")
        verdict = _verdict(claim, relation, evidence, chunks, passages, sentences)
        verdicts.append(dataclasses.replace(verdict, judge=answered_by))
        yield
    return tuple(verdicts)


def _verdict(
    claim: Claim,
    relation: ChoiceAnswer | None,
    evidence: ChoiceAnswer | None,
    chunks: Sequence[Chunk],
    passages: FittingPassages,
    sentences: Sequence[AnalysedStatement],
) -> ClaimVerdict:
    if relation is None or relation.problem is not None:
        why = "was not asked about" if relation is None else _said(relation.problem or "")
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED, explanation=f"No verdict: the claim {why}.")
    given = relation.probabilities
    supported = given[SUPPORTED]
    notes = [", ".join(f"{option.replace('_', ' ')} {given[option]:.2f}" for option in VERDICTS) + "."]
    conflict = plain_conflict(claim, sentences) if supported >= SURE_FROM else None
    if conflict is not None:
        notes.append(str(conflict))
        supported = _EVEN
    if supported >= SURE_FROM:
        verdict = Verdict.SUPPORTED
    elif supported > DOUBT_FROM:
        verdict = Verdict.NOT_ENOUGH_INFO
    else:
        verdict = VERDICTS[max((CONTRADICTED, NOT_STATED), key=given.__getitem__)]
    if DOUBT_FROM < supported < SURE_FROM:
        notes.append("The judge is in doubt.")
    quote = None
    if verdict is not Verdict.NOT_ENOUGH_INFO:
        quote, chosen = _quote(claim, evidence, chunks, passages)
        if quote is not None and not chosen:
            notes.append("(Evidence found by words, not by the judge.)")
    return ClaimVerdict(
        claim=claim,
        verdict=verdict,
        chunk_ids=() if quote is None else (quote.chunk_id,),
        quotes=() if quote is None else (quote,),
        explanation=" ".join(notes),
        support_probability=supported,
    )


def plain_conflict(claim: Claim, sentences: Sequence[AnalysedStatement]) -> Conflict | None:
    """A number, date, unit or name of the claim that the passages give otherwise: what these models are weak at.

    It makes support a matter of doubt and no more, because a conflict in words is often a paraphrase: on answers of
    language models (`ragtruth_qa_dev`) it is found in 1.0% of the claims that people call supported.
    """
    return next((each for each in conflicts_among(claim.text, sentences) if each.kind in _READ), None)


def _said(problem: str) -> str:
    words = {REFUSED: "was refused by the model", CUT: "was judged by a model that did not see all of the text"}
    return words.get(problem, problem)


def _quote(
    claim: Claim, evidence: ChoiceAnswer | None, chunks: Sequence[Chunk], passages: FittingPassages
) -> tuple[Quote | None, bool]:
    """The sentence nearest to the claim in the passage that the model chose (True), else in the nearest by words."""
    given = {} if evidence is None else evidence.probabilities
    best = max(given, key=given.__getitem__, default=NONE)
    if len(passages.texts) == 1:
        (best,), chosen = passages.texts, True
    else:
        chosen = best != NONE and given[best] >= _EVIDENCE_FROM
    if not chosen:
        wanted = set(terms_of(claim.text))
        best = max(passages.texts, key=lambda key: len(wanted & set(terms_of(passages.texts[key]))), default=NONE)
    if best == NONE:
        return None, False
    chunk, read = chunks[int(best.removeprefix("c"))], len(passages.texts[best])
    span = nearest_sentence(chunk.text, (0, read), claim.text)
    if span is None:
        return None, False
    return Quote(chunk_id=chunk.id, start=span[0], end=span[1], text=chunk.text[span[0] : span[1]]), chosen


def reason_code_of(
    verdicts: Sequence[ClaimVerdict], answers: Mapping[str, ChoiceAnswer], *, left_out: int, complete: bool
) -> str | None:
    unjudged = sum(verdict.verdict is Verdict.UNJUDGED for verdict in verdicts)
    problems = {answer.problem for name, answer in answers.items() if name.startswith("k") and answer.problem}
    if CUT in problems:
        return CUT
    if unjudged == len(verdicts):
        return REFUSED if problems == {REFUSED} else ReasonCode.PARSE_ERROR
    if unjudged > left_out:
        return ReasonCode.INCOMPLETE
    return None if complete and not left_out else ReasonCode.TOO_LONG
