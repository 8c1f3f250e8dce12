"""Scores of whole sessions, from the stored scores of their answers, and as annotations of Phoenix's sessions.

A session is what drift sees as one: the answers with one session id (`RagTrace.session_id`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from rag_otel.evaluation.directions import goodness, is_worse
from rag_otel.model import SpanRef
from rag_otel.writers.annotations import Annotation, annotator_kind, risk_name
from rag_otel_collectors.stored.answers import StoredAnswer

WORST: Final = "_worst"
"""Ends the name of the annotation with the worst score of a session."""


@dataclass(slots=True, kw_only=True)
class SessionScore:
    """The scores of one session by one metric. It holds sums, not the answers."""

    session_id: str
    metric: str
    start_ns: int
    """Start of the first answer, nanoseconds since the epoch."""
    answers: int = 0
    """Answers with question, chunks and response."""
    evaluated: int = 0
    """Answers with a score."""
    worst: float | None = None
    """The worst score, 0..1: the lowest, or the highest of a metric that is better when it is lower."""
    worst_target: SpanRef | None = None
    """The span of that answer."""
    judge: str = ""
    _weight: float = 0.0
    _scores: float = 0.0
    _risk_weight: float = 0.0
    _risks: float = 0.0

    def add(self, answer: StoredAnswer) -> None:
        """Count one answer. Its weight is the inverse of its sampling probability."""
        self.answers += 1
        self.start_ns = min(self.start_ns, answer.trace.start_ns)
        result = answer.result
        weight = 1.0 / (result.probability or 1.0)
        if result.risk is not None:
            self._risk_weight += weight
            self._risks += weight * result.risk
        if result.score is None:
            return
        self.evaluated += 1
        self.judge = result.judge or self.judge
        self._weight += weight
        self._scores += weight * result.score
        if self.worst is None or is_worse(self.metric, result.score, self.worst):
            self.worst, self.worst_target = result.score, answer.trace.target

    @property
    def score(self) -> float | None:
        """The weighted mean of the scores, 0..1. None if no answer has a score."""
        return self._scores / self._weight if self._weight else None

    @property
    def risk(self) -> float | None:
        """The weighted mean of the risks, 0..1. None if no answer has a risk."""
        return self._risks / self._risk_weight if self._risk_weight else None

    def row(self) -> dict[str, Any]:
        """The session as JSON values."""
        target = self.worst_target
        return {
            "session_id": self.session_id,
            "score": self.score,
            "risk": self.risk,
            "worst": self.worst,
            "worst_trace_id": target and target.trace_id,
            "worst_span_id": target and target.span_id,
            "evaluated": self.evaluated,
            "answers": self.answers,
        }


def session_scores(answers: Iterable[StoredAnswer], metric: str) -> list[SessionScore]:
    """The sessions of these answers with their scores of `metric`, the worst mean first, those without a score last.

    An answer without a session id belongs to none, and a span is counted once.
    """
    found: dict[str, SessionScore] = {}
    seen: set[SpanRef] = set()
    for answer in answers:
        trace = answer.trace
        if trace.session_id and trace.target not in seen:
            seen.add(trace.target)
            new = SessionScore(session_id=trace.session_id, metric=metric, start_ns=trace.start_ns)
            found.setdefault(trace.session_id, new).add(answer)

    def order(session: SessionScore) -> tuple[bool, float, int]:
        score = session.score
        return score is None, goodness(metric, score or 0.0), session.start_ns

    return sorted(found.values(), key=order)


def session_annotations(session: SessionScore) -> Iterator[dict[str, Any]]:
    """The annotations of a session with a score: the mean under the metric's name, the worst score under
    `<metric>_worst`, the mean risk under the risk's name. Written again, they replace the earlier ones."""
    metric = session.metric
    named = ((metric, session.score), (metric + WORST, session.worst), (risk_name(metric), session.risk))
    about = f"{session.evaluated} of {session.answers} answers evaluated"
    for name, score in named:
        if session.score is not None and score is not None:
            item = Annotation(
                name=name,
                annotator_kind=annotator_kind(session.judge),
                score=score,
                explanation=about,
                metadata={name: value for name, value in session.row().items() if name != "session_id"},
            )
            yield item.row(session_id=session.session_id)
