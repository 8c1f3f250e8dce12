"""The worst stored answers since a change: what a person looks at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.cli.drift_report.view import SeriesView
from rag_otel.drift.observation import ALL, RISK, Observation
from rag_otel_collectors.stored.answers import worst_of

SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstAnswer:
    """One answer of a series in alarm."""

    trace_id: str
    question: str
    why: str
    """Begins with its worst claim; empty where that is not stored."""


def worst_answers(seen: Sequence[Observation], view: SeriesView) -> list[WorstAnswer]:
    """At most `SHOWN` answers since the view's last alarm began, the worst first; of equal ones the riskiest."""
    begins = [event.since_s for event in view.events if not event.resolved]
    if not begins:
        return []
    metric = view.series.rpartition(".")[0]
    candidates = []
    for each in seen:
        values = dict(each.values)
        if each.answer is None or each.time_s < begins[-1] or view.series not in values:
            continue
        if view.slice == ALL or view.slice in each.slices:
            safe = values.get(f"{metric}.{RISK}", 1.0)
            candidates.append((values[view.series], 1.0 - safe, each.answer))
    return [
        WorstAnswer(trace_id=answer.trace_id, question=answer.question, why=dict(answer.explanations).get(metric, ""))
        for answer in worst_of(candidates, SHOWN)
    ]
