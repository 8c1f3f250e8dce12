"""One answer, claim by claim: aligned, weighed, compared. What the judge reports and what training learns from."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from rag_otel.model import Chunk, Claim
from rag_otel_evaluators.judges.embedded.alignment import Alignment, align
from rag_otel_evaluators.judges.embedded.conflicts import Conflict, find_conflict
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex, index_chunks
from rag_otel_evaluators.judges.embedded.features import features_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedClaim:
    """What the evidence index has to say of one claim, before anything learned is applied."""

    claim: Claim
    alignment: Alignment
    features: list[float]
    conflict: Conflict | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedAnswer:
    """All claims of an answer against one index, in order."""

    index: EvidenceIndex
    claims: tuple[AssessedClaim, ...]


def assess(
    *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
) -> Generator[None, None, AssessedAnswer]:
    """Index the chunks and lay every claim against them; yields at courtesy points, returns the result."""
    index = yield from index_chunks(chunks, question)
    assessed = []
    for claim in claims:
        verbatim = response[claim.start : claim.end]
        stem = claim.text.removesuffix(verbatim).rstrip()
        alignment = align(index, verbatim, stem)
        yield
        features = features_of(index, alignment, list_item=bool(stem))
        conflict = find_conflict(index, alignment)
        assessed.append(AssessedClaim(claim=claim, alignment=alignment, features=features, conflict=conflict))
        yield
    return AssessedAnswer(index=index, claims=tuple(assessed))
