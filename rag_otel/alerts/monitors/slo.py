"""The monitor of a service-level objective such as "95% of answers score above 0.7": alerts on its burn rate.

It receives every result and keeps sums for each service and route (see `rag_otel.alerts.monitors.burn`).
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, TypeAlias

from rag_otel.alert import Alert, AlertExample, AlertSeverity, AlertState
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.monitors.burn import Budget, Burning
from rag_otel.alerts.monitors.monitor import Monitor
from rag_otel.evaluation.support import FAITHFULNESS
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import EvaluatedTrace, Evaluation

SLO_BURN_RATE: Final = "slo_burn_rate"
OTHER: Final = "other"
MAX_SLICES: Final = 200
_EXAMPLES: Final = 3
_MONTH_DAYS: Final = 30.0
_Key: TypeAlias = tuple[str | None, str | None]
"""Service and route; without a route it is all of the service."""


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The share of answers whose faithfulness has to be above a threshold."""

    target: float
    """Share of good answers, 0..1, e.g. .95."""
    threshold: float = 0.7
    """A score above it is good."""

    @property
    def allowed(self) -> float:
        """Share of bad answers that is within the objective."""
        return 1.0 - self.target

    def is_bad(self, evaluation: Evaluation) -> bool | None:
        """None where the objective does not apply: another metric, no score."""
        score = evaluation.score if evaluation.name == FAITHFULNESS else None
        return None if score is None else score <= self.threshold

    def __str__(self) -> str:
        return f"{self.target:.4g} of {FAITHFULNESS} scores above {self.threshold:g}"


@dataclass(slots=True)
class _Slice:
    """A service, or one of its routes."""

    service: str | None
    route: str | None
    budget: Budget = field(default_factory=Budget)
    since: dict[str, float] = field(default_factory=dict)
    """Severity -> when its alert was raised; absent while no alert of it is open."""
    examples: deque[AlertExample] = field(default_factory=lambda: deque(maxlen=_EXAMPLES))
    """The last bad answers; not kept across restarts."""


class SloMonitor(Monitor):
    """Counts every result in the budgets of its service and its route, and raises alerts on their burn rates."""

    name = "slo"

    def __init__(self, objective: Objective, *, examples: Examples) -> None:
        self._objective = objective
        self._examples = examples
        self.forget()

    def forget(self) -> None:
        self._slices: dict[_Key, _Slice] = {}

    def write(self, batch: Sequence[EvaluatedTrace], now: float) -> None:
        for result in batch:
            for evaluation in result.evaluations:
                bad = self._objective.is_bad(evaluation)
                if bad is not None:
                    self._count(result, evaluation, bad, now)

    def look(self, now: float) -> list[Alert]:
        return [alert for each in self._watched() for alert in self._check(each, now)]

    def to_state(self) -> dict[str, Any]:
        slices = [
            {"service": each.service, "route": each.route, "since": each.since, "budget": each.budget.to_state()}
            for each in self._slices.values()
        ]
        return {"objective": str(self._objective), "slices": slices}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Counts of another objective are ignored."""
        if state["objective"] == str(self._objective):
            self._slices = dict(map(_restored, state["slices"]))

    # --- counting ---------------------------------------------------------------------------------------------------

    def _count(self, result: EvaluatedTrace, evaluation: Evaluation, bad: bool, now: float) -> None:
        if not result.decision.in_sample:
            return
        trace, weight = result.trace, 1.0 / result.decision.probability
        shown = self._examples.of(result, evaluation) if bad else None
        for each in (self._slice(trace.service, None), self._slice(trace.service, trace.route or OTHER)):
            each.budget.add(now, bad=bad, weight=weight)
            if shown is not None:
                each.examples.append(shown)

    def _slice(self, service: str | None, route: str | None) -> _Slice:
        if (service, route) not in self._slices and len(self._slices) >= MAX_SLICES:
            service, route = OTHER, None if route is None else OTHER
        if (service, route) not in self._slices:
            self._slices[service, route] = _Slice(service, route)
        return self._slices[service, route]

    def _watched(self) -> list[_Slice]:
        """Every route, and every service with several routes: for a service with one route both would be the same."""
        routes: dict[str | None, int] = {}
        for each in self._slices.values():
            routes[each.service] = routes.get(each.service, 0) + (each.route is not None)
        return [each for each in self._slices.values() if each.route is not None or routes[each.service] > 1]

    # --- checking ----------------------------------------------------------------------------------------------------

    def _check(self, each: _Slice, now: float) -> list[Alert]:
        alerts = []
        for severity in (AlertSeverity.CRITICAL, AlertSeverity.WARNING):
            burning = each.budget.burning(now, allowed=self._objective.allowed, severity=severity)
            told = severity in each.since
            if burning is not None and not told:
                each.since[severity] = now
                alerts.append(self._firing(each, severity, burning, now))
            elif burning is None and told and each.budget.calm(now, allowed=self._objective.allowed, severity=severity):
                alerts.append(self._resolved(each, severity, now))
                del each.since[severity]
        return alerts

    def _firing(self, each: _Slice, severity: AlertSeverity, burning: Burning, now: float) -> Alert:
        share, window = burning.long.share or 0.0, _duration(burning.pair.long_minutes)
        said = (
            f"{share:.0%} bad answers in {window}, {burning.rate:.3g} times what the objective ({self._objective}) "
            f"allows; a month's allowance lasts {_MONTH_DAYS / burning.rate:.2g} days at this rate"
        )
        return dataclasses.replace(
            self._alert(each, severity, said, now),
            link=next((example.link for example in reversed(each.examples) if example.link), None),
            examples=tuple(reversed(each.examples)),
            details={
                "objective": str(self._objective),
                "burn_rate": burning.rate,
                "factor": burning.pair.factor,
                "window": f"{window} / {_duration(burning.pair.short_minutes)}",
                "bad_share": share,
                "bad_share_recent": burning.short.share or 0.0,
                "effective_answers": burning.long.effective,
            },
        )

    def _resolved(self, each: _Slice, severity: AlertSeverity, now: float) -> Alert:
        said = f"within the objective's pace again ({self._objective})"
        return dataclasses.replace(self._alert(each, severity, said, now), state=AlertState.RESOLVED)

    def _alert(self, each: _Slice, severity: AlertSeverity, said: str, now: float) -> Alert:
        return Alert(
            name=SLO_BURN_RATE,
            fingerprint=f"{each.service or '-'}/{SLO_BURN_RATE}:{FAITHFULNESS}/{each.route or '*'}/{severity}",
            metric=FAITHFULNESS,
            severity=severity,
            headline=f"{each.service or '-'} {each.route or '(all routes)'}: {said}",
            service=each.service,
            route=each.route,
            since_ns=round(each.since[severity] * 1e9),
            time_ns=round(now * 1e9),
        )


def _restored(stored: Mapping[str, Any]) -> tuple[_Key, _Slice]:
    found = _Slice(stored["service"], stored["route"], Budget.from_state(stored["budget"]))
    found.since = dict(stored["since"])
    return (found.service, found.route), found


def _duration(minutes: int) -> str:
    if minutes % (24 * 60) == 0:
        return f"{minutes // (24 * 60)}d"
    return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"
