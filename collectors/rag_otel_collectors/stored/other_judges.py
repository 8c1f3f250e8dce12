"""Results of other judges: annotations that neither people nor rag-otel wrote, such as those of Phoenix's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rag_otel.ratings.words import COMPLAINT_BELOW, rating_of, share
from rag_otel.writers.feedback import IDENTIFIER

_HUMAN: Final = "HUMAN"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherResult:
    """What another judge said of one answer."""

    judge: str
    """The annotation's name, its kind and, where it has one, its identifier: `hallucination (LLM, v2)`."""
    bad: bool | None
    """True if the judge calls the answer bad: by its label, else by a score below 0.5. None: it says neither."""
    risk: float | None
    """0..1, higher is worse: 1 - score, or the score itself if the label is bad where the score is high."""
    label: str | None
    explanation: str | None


def is_ours(row: Any) -> bool:
    """True for an annotation that rag-otel wrote, of whatever kind."""
    identifier = str(row.get("identifier") or "")
    return identifier == IDENTIFIER or identifier.startswith(f"{IDENTIFIER}:")


def other_results(rows: Sequence[Any], name: str) -> Iterator[OtherResult]:
    """The results of this name among the annotations of an answer, one for each judge."""
    for row in rows:
        if row["name"] == name and row.get("annotator_kind") != _HUMAN and not is_ours(row):
            yield _result(row)


def _result(row: Any) -> OtherResult:
    result = row.get("result") or {}
    said, score = rating_of(result.get("label")), share(result.get("score"))
    bad = said < COMPLAINT_BELOW if said is not None else None if score is None else score < COMPLAINT_BELOW
    risk = None if score is None else 1.0 - score
    if risk is not None and bad is not None and said is not None and bad is not (risk > COMPLAINT_BELOW):
        risk = 1.0 - risk  # `hallucinated` with a score of 1: for this judge a high score is bad
    identifier = f", {row['identifier']}" if row.get("identifier") else ""
    return OtherResult(
        judge=f"{row['name']} ({row.get('annotator_kind')}{identifier})",
        bad=bad,
        risk=risk if risk is not None or bad is None else float(bad),
        label=result.get("label"),
        explanation=result.get("explanation"),
    )
