"""The monitor of a service-level objective such as "95% of answers score above 0.7": alerts on its burn rate.

It receives every result, keeps sums for each service and route (see `rag_otel.alerts.monitors.burn`)
and looks at them several times a minute. Its alerts go through the inbox like all others.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal

from rag_otel.alert import Alert, AlertExample, AlertSeverity, AlertState
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.monitors.burn import Budget, Burning
from rag_otel.durable.state_folder import StateFolder, StateRecord
from rag_otel.evaluation.directions import lower_is_better
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import EvaluatedTrace, Evaluation
from rag_otel.safety.guard import guarded
from rag_otel.sharing.group import Observed
from rag_otel.sharing.positions import Positions

SLO_BURN_RATE: Final = "slo_burn_rate"
OTHER: Final = "other"
MAX_SLICES: Final = 200
MIN_LONG: Final = 30.0
"""Effective number of answers below which a long window is ignored."""
MIN_SHORT: Final = 3.0
"""The same for a short window, which only has to show that the burning goes on."""
MIN_CALM: Final = 10.0
"""The same for a short window that has to show that the burning is over."""
FILE: Final = "slo.json"
VERSION: Final = 2
_CHECK_EVERY_S: Final = 15.0
_SAVE_EVERY_S: Final = 60.0
_REMIND_EVERY_S: Final = 4 * 3600.0
_EXAMPLES: Final = 3
_MONTH_DAYS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Objective:
    """The share of answers that has to be good, and the condition for good."""

    target: float
    """Share of good answers, 0..1, e.g. .95."""
    threshold: float = 0.7
    """A score above it, or a risk below it, is good; of a metric that is better when it is lower, a score below it."""
    metric: str = "faithfulness"
    by: Literal["score", "risk"] = "score"

    @property
    def allowed(self) -> float:
        """Share of bad answers that is within the objective."""
        return 1.0 - self.target

    def is_bad(self, evaluation: Evaluation) -> bool | None:
        """None where the objective does not apply: another metric, no number."""
        number = evaluation.score if self.by == "score" else evaluation.risk
        if evaluation.name != self.metric or number is None:
            return None
        return number <= self.threshold if self._above else number >= self.threshold

    @property
    def _above(self) -> bool:
        """Whether good answers are above the threshold."""
        return self.by == "score" and not lower_is_better(self.metric)

    def __str__(self) -> str:
        side = "above" if self._above else "below"
        return f"{self.target:.4g} of {self.metric} {self.by}s {side} {self.threshold:g}"


@dataclass(slots=True)
class _Slice:
    """A service, or one of its routes."""

    service: str | None
    route: str | None
    budget: Budget = field(default_factory=Budget)
    told_at: dict[str, float] = field(default_factory=dict)
    """Severity -> when its alert was raised last; absent while no alert of it is open."""
    since: dict[str, float] = field(default_factory=dict)
    examples: deque[AlertExample] = field(default_factory=lambda: deque(maxlen=_EXAMPLES))
    """The last bad answers; not kept across restarts."""


class SloMonitor:
    """Counts every result in the budgets of its service and its route, and raises alerts on their burn rates."""

    name = "slo"

    def __init__(
        self,
        objective: Objective,
        *,
        raise_alert: Callable[[Alert], None],
        examples: Examples,
        state: StateFolder | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._objective = objective
        self._raise = raise_alert
        self._examples = examples
        self._saved = None if state is None else StateRecord(state, FILE, VERSION)
        self._clock = clock
        self._lock = threading.RLock()
        self._slices: dict[str, _Slice] = {}
        self._check_at = self._save_at = clock()
        self.read = Positions()
        """Of the logs of processes that share a state folder."""
        if state is not None:
            self.read.begin_saving()
        self._load()

    def take(self, batch: Sequence[Observed]) -> None:
        """Count answers of several processes; the counts and where they stood are saved together."""
        with self._lock:
            for each in batch:
                self.read.advance(each.upto)
            self.write([each.result for each in batch])

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Count the batch's answers; never fails."""
        with self._lock:
            now = self._clock()
            for result in batch:
                for evaluation in result.evaluations:
                    bad = self._objective.is_bad(evaluation)
                    if bad is not None:
                        self._count(result, evaluation, bad, now)

    def due(self) -> float | None:
        return self._check_at if self._slices else None

    def tick(self) -> None:
        """Check every budget; save from time to time."""
        with self._lock:
            now = self._clock()
            self._check_at = now + _CHECK_EVERY_S
            alerts = [alert for each in self._watched() for alert in self._check(each, now)]
        for alert in alerts:  # before they are saved as told: a kill in between tells them again, under one fingerprint
            self._raise(alert)
        with self._lock:
            if alerts or not 0 <= now - self._save_at < _SAVE_EVERY_S:
                self._save_at = now
                self._save()

    def after_fork(self) -> None:
        """Start empty in the child; the parent keeps its counts."""
        self._lock = threading.RLock()
        self._slices = {}

    def close(self) -> None:
        """Save what was counted."""
        with self._lock:
            self._save()

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
        key = _key(service, route)
        found = self._slices.get(key)
        if found is None:
            if len(self._slices) >= MAX_SLICES:
                service, route = OTHER, None if route is None else OTHER
                key = _key(service, route)
            found = self._slices.setdefault(key, _Slice(service, route))
        return found

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
            burning = each.budget.burning(
                now, allowed=self._objective.allowed, severity=severity, min_long=MIN_LONG, min_short=MIN_SHORT
            )
            told_at = each.told_at.get(severity)
            if burning is not None:
                each.since.setdefault(severity, now)
                if told_at is None or not 0 <= now - told_at < _REMIND_EVERY_S:
                    each.told_at[severity] = now
                    alerts.append(self._firing(each, severity, burning, now))
            elif told_at is not None and each.budget.calm(
                now, allowed=self._objective.allowed, severity=severity, min_short=MIN_CALM
            ):
                alerts.append(self._resolved(each, severity, now))
                each.told_at.pop(severity)
                each.since.pop(severity, None)
        return alerts

    def _firing(self, each: _Slice, severity: AlertSeverity, burning: Burning, now: float) -> Alert:
        objective, share = self._objective, burning.long.share or 0.0
        window = _duration(burning.pair.long_minutes)
        days = _MONTH_DAYS / burning.rate
        return Alert(
            name=SLO_BURN_RATE,
            fingerprint=self._fingerprint(each, severity),
            metric=objective.metric,
            severity=severity,
            headline=(
                f"{each.service or '-'} {each.route or '(all routes)'}: {share:.0%} bad answers in {window}, "
                f"{burning.rate:.3g} times what the objective ({objective}) allows; "
                f"a month's allowance lasts {days:.2g} days at this rate"
            ),
            service=each.service,
            route=each.route,
            link=next((example.link for example in reversed(each.examples) if example.link), None),
            examples=tuple(reversed(each.examples)),
            details={
                "objective": str(objective),
                "burn_rate": burning.rate,
                "factor": burning.pair.factor,
                "window": f"{window} / {_duration(burning.pair.short_minutes)}",
                "bad_share": share,
                "bad_share_recent": burning.short.share or 0.0,
                "effective_answers": burning.long.effective,
            },
            since_ns=round(each.since[severity] * 1e9),
            time_ns=round(now * 1e9),
        )

    def _resolved(self, each: _Slice, severity: AlertSeverity, now: float) -> Alert:
        return Alert(
            name=SLO_BURN_RATE,
            fingerprint=self._fingerprint(each, severity),
            metric=self._objective.metric,
            state=AlertState.RESOLVED,
            severity=severity,
            headline=f"{each.service or '-'} {each.route or '(all routes)'}: within the objective's pace again "
            f"({self._objective})",
            service=each.service,
            route=each.route,
            since_ns=round(each.since.get(severity, now) * 1e9),
            time_ns=round(now * 1e9),
        )

    def _fingerprint(self, each: _Slice, severity: AlertSeverity) -> str:
        return f"{each.service or '-'}/{SLO_BURN_RATE}:{self._objective.metric}/{each.route or '*'}/{severity}"

    # --- saving ----------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        if self._saved is None:
            return
        with guarded("slo.save"):
            slices = [
                {
                    "service": each.service,
                    "route": each.route,
                    "told_at": each.told_at,
                    "since": each.since,
                    "budget": each.budget.to_state(),
                }
                for each in self._slices.values()
            ]
            read = self.read.to_state()
            stored = {"objective": str(self._objective), "slices": slices, "read": read}
            if self._saved.save(stored):
                self.read.was_saved(read)

    def _load(self) -> None:
        """Load the counts of the last process; counts of another objective are ignored."""
        if self._saved is not None:
            with guarded("slo.load"):
                self._saved.load(self._restore)

    def _restore(self, stored: Mapping[str, Any]) -> None:
        if stored["objective"] == str(self._objective):
            self._slices = dict(map(_restored, stored["slices"]))
        self.read.restore(stored["read"])


def _restored(stored: Mapping[str, Any]) -> tuple[str, _Slice]:
    found = _Slice(stored["service"], stored["route"], Budget.from_state(stored["budget"]))
    found.told_at, found.since = dict(stored["told_at"]), dict(stored["since"])
    return _key(found.service, found.route), found


def _key(service: str | None, route: str | None) -> str:
    return json.dumps([service, route])


def _duration(minutes: int) -> str:
    if minutes % (24 * 60) == 0:
        return f"{minutes // (24 * 60)}d"
    return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"
