"""What judges said of stored spans: rag-otel's results, and those of other judges.

Results are those of rag-otel's annotations, else of the span's attributes: late and backfilled results are annotations
alone. Other judges' results are annotations that neither people nor rag-otel wrote, such as those of Phoenix's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rag_otel import semconv
from rag_otel.evaluation.directions import LOWER_IS_BETTER, declare_lower_is_better
from rag_otel.evaluation.support import FAITHFULNESS
from rag_otel.model import OUTSIDE_SAMPLE, SamplingReason
from rag_otel.ratings.words import COMPLAINT_BELOW, rating_of, share
from rag_otel.writers.annotations import IDENTIFIER, risk_name

HUMAN: Final = "HUMAN"
_KEY: Final = f"{semconv.EVALUATION}."
_SAMPLING: Final = {
    "sampling_probability": semconv.SAMPLING_PROBABILITY,
    "sampling_reason": semconv.SAMPLING_REASON,
}

AnnotationRow: TypeAlias = Mapping[str, Any]
"""An annotation as Phoenix returns it."""
Fields: TypeAlias = dict[str, Any]
"""One metric's result as it is stored: `score`, `risk`, `label`, `judge`, ..., `sampling_probability`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """One metric's result on a span. None and empty: not known."""

    score: float | None = None
    risk: float | None = None
    label: str | None = None
    explanation: str | None = None
    judge: str = ""
    """With the version of the model that answered, where it is known. Of another judge the annotation's name, its kind
    and, where it has one, its identifier: `hallucination (LLM, v2)`."""
    version: str = ""
    probability: float | None = None
    """With which the trace was sampled."""
    in_sample: bool = True
    """False: it stands for no other answer, see `SamplingDecision.in_sample`."""
    rated: bool = False
    """Evaluated because a person had rated the answer (`rag-otel labels feedback`)."""
    bad: bool | None = None
    """Of another judge: whether it calls the answer bad, by its label, else by a score below 0.5."""

    @property
    def judged_risk(self) -> float | None:
        """The risk, or for a judge without risks 1 - score; None where there is neither."""
        if self.risk is not None:
            return self.risk
        return None if self.score is None else 1.0 - self.score


def stored_result(attributes: Mapping[str, Any], rows: Iterable[AnnotationRow], metric: str) -> StoredResult:
    """The result of a metric on a span."""
    fields = stored_fields(attributes, rows).get(metric, {})
    return StoredResult(
        score=share(fields.get("score")),
        risk=share(fields.get("risk")),
        label=fields.get("label"),
        explanation=fields.get("explanation"),
        judge=str(fields.get("answered_by") or fields.get("judge") or ""),
        version=str(fields.get("version") or ""),
        probability=share(fields.get("sampling_probability")) or None,
        in_sample=fields.get("sampling_reason") not in OUTSIDE_SAMPLE,
        rated=fields.get("sampling_reason") == SamplingReason.RATED,
    )


def stored_fields(attributes: Mapping[str, Any], rows: Iterable[AnnotationRow]) -> dict[str, Fields]:
    """The results on a span by metric: of its annotations, else of its attributes. What the attributes say of the same
    result besides, such as its claims, is kept."""
    found: dict[str, Fields] = {}
    for key, value in attributes.items():
        metric, _, field = key.removeprefix(_KEY).partition(".")
        if field and key.startswith(_KEY):
            found.setdefault(metric, {})[field] = value
    for metric, noted in noted_results(rows).items():
        same = all(noted.get(who) == found.get(metric, {}).get(who) for who in ("version", "judge"))
        found[metric] = {**found[metric], **noted} if same and metric in found else noted
    sampling = {field: attributes[key] for field, key in _SAMPLING.items() if attributes.get(key) is not None}
    for metric, fields in found.items():
        found[metric] = {**sampling, **fields}
        if fields.get(LOWER_IS_BETTER) is True:
            declare_lower_is_better(metric)
    return found


def noted_results(rows: Iterable[AnnotationRow]) -> dict[str, Fields]:
    """rag-otel's results among the annotations of one span, by metric.

    Since 0.2 an annotation's score is 1 or 0, after its label; the share of supported claims and the risk are in its
    metadata. Before, the risk was an annotation of its own.
    """
    found: dict[str, Fields] = {}
    risks: dict[str, Any] = {}
    for row in rows:
        name, result = str(row["name"]), row.get("result") or {}
        if row.get("identifier") != IDENTIFIER:
            continue
        if name == risk_name(FAITHFULNESS) or name.endswith("_risk"):
            metric = FAITHFULNESS if name == risk_name(FAITHFULNESS) else name.removesuffix("_risk")
            risks[metric] = result.get("score")
            found.setdefault(metric, dict(row.get("metadata") or {}))
        else:
            found[name] = {"score": None, **result, **(row.get("metadata") or {})}
    for metric, risk in risks.items():
        found[metric].setdefault("risk", risk)
    return found


def other_results(rows: Iterable[AnnotationRow], name: str) -> Iterator[StoredResult]:
    """The results of this name among the annotations of an answer, one for each judge that is not rag-otel's."""
    for row in rows:
        if row["name"] == name and row.get("annotator_kind") != HUMAN and not _is_ours(row):
            yield _of_other_judge(row)


def _is_ours(row: AnnotationRow) -> bool:
    """True for an annotation that rag-otel wrote, of whatever kind."""
    identifier = str(row.get("identifier") or "")
    return identifier == IDENTIFIER or identifier.startswith(f"{IDENTIFIER}:")


def _of_other_judge(row: AnnotationRow) -> StoredResult:
    result = row.get("result") or {}
    said, score = rating_of(result.get("label")), share(result.get("score"))
    bad = said < COMPLAINT_BELOW if said is not None else None if score is None else score < COMPLAINT_BELOW
    risk = None if score is None else 1.0 - score
    if risk is not None and bad is not None and said is not None and bad is not (risk > COMPLAINT_BELOW):
        risk = 1.0 - risk  # `hallucinated` with a score of 1: for this judge a high score is bad
    identifier = f", {row['identifier']}" if row.get("identifier") else ""
    return StoredResult(
        judge=f"{row['name']} ({row.get('annotator_kind')}{identifier})",
        bad=bad,
        risk=risk if risk is not None or bad is None else float(bad),
        label=result.get("label"),
        explanation=result.get("explanation"),
    )
