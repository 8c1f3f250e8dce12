"""Monitors of the evaluation itself: evaluators fail, or no evaluation is made while traces arrive.

Without them an outage of the judge would look like good quality: no answer is judged, so no bad answer is seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.monitors.burn import MINUTE_S, Ring
from rag_otel.alerts.monitors.monitor import Monitor
from rag_otel.model import EvaluatedTrace, SamplingReason
from rag_otel.safety.guard import counters

EVALUATORS_SILENT: Final = "evaluators_silent"
EVALUATOR_FAILING: Final = "evaluator_failing"
MIN_TRACES: Final = 20
"""The fewest traces without any evaluation for `evaluators_silent`."""
MIN_EVALUATIONS: Final = 20
"""The fewest evaluations in a window for `evaluator_failing`."""
WINDOW_MINUTES: Final = 10
_MAX_METRICS: Final = 100
_MAX_ERRORS: Final = 20
_TRACE: Final = "trace."
_NOT_TO_BE_EVALUATED: Final = frozenset(
    {
        SamplingReason.NOT_SAMPLED,
        SamplingReason.RATE_LIMITED,
        SamplingReason.DROPPED,
        SamplingReason.BUDGET,
        SamplingReason.LOCAL_ONLY,
    }
)
"""Reasons why a trace was not to be evaluated: such traces do not count as missing evaluations."""


def traces_seen(elsewhere: Callable[[], Mapping[str, int]] = dict) -> dict[str, int]:
    """RAG traces that were to be evaluated, by `status.reason`, of this process since it started; `elsewhere` gives the
    counters of other processes."""
    seen = {}
    for name, count in (Counter(counters.snapshot()) + Counter(elsewhere())).items():
        if name.startswith(_TRACE) and name.rpartition(".")[2] not in _NOT_TO_BE_EVALUATED:
            seen[name.removeprefix(_TRACE)] = count
    return seen


class SilenceMonitor(Monitor):
    """Raises `evaluators_silent` when traces arrive for `silence_s` seconds and no evaluation is made."""

    name = "silence"

    def __init__(self, *, silence_s: float = 900.0, seen: Callable[[], Mapping[str, int]] = traces_seen) -> None:
        """`seen` counts the traces that were to be evaluated, by status and reason."""
        self._silence_s = silence_s
        self._seen = seen
        self.forget()

    def forget(self) -> None:
        self._at_last_evaluation: Mapping[str, int] = dict(self._seen())
        """The counts of traces at the time of the last evaluation."""
        self._flowing_since: float | None = None
        self._firing_since: float | None = None
        self._evaluated = False
        """An evaluation came since the last look."""
        self._well = False
        """This process has told that evaluations come: the first one also ends the silence that the last process told
        of."""

    def write(self, batch: Sequence[EvaluatedTrace], now: float) -> None:
        """Any evaluation ends the silence, a failed one too: failures are reported by `evaluator_failing`."""
        if any(result.evaluations for result in batch):
            self._at_last_evaluation, self._flowing_since, self._evaluated = dict(self._seen()), None, True

    def look(self, now: float) -> list[Alert]:
        since, evaluated, self._evaluated = self._firing_since, self._evaluated, False
        if evaluated and (since is not None or not self._well):
            self._firing_since, self._well = None, True
            return [_silence(AlertState.RESOLVED, "Evaluations come again", {}, since or 0.0, now)]
        missed = Counter(self._seen())
        missed.subtract(self._at_last_evaluation)
        missed = +missed
        if missed and self._flowing_since is None:
            self._flowing_since = now
        flowing = self._flowing_since
        if since is not None or flowing is None or now - flowing < self._silence_s or missed.total() < MIN_TRACES:
            return []
        self._firing_since = flowing
        most = missed.most_common(_MAX_ERRORS)
        what = ", ".join(f"{count} {name}" for name, count in most[:3])
        said = f"No evaluation for {(now - flowing) / 60:.0f} min while {missed.total()} traces came: {what}"
        return [_silence(AlertState.FIRING, said, {name: float(count) for name, count in most}, flowing, now)]


def _silence(state: AlertState, said: str, details: Mapping[str, float], since: float, now: float) -> Alert:
    return Alert(
        name=EVALUATORS_SILENT,
        fingerprint=EVALUATORS_SILENT,
        metric="",
        state=state,
        headline=said,
        details=details,
        since_ns=round(since * 1e9),
        time_ns=round(now * 1e9),
    )


class FailureMonitor(Monitor):
    """Raises `evaluator_failing` when more than a share of a metric's evaluations failed in the last ten minutes.

    It is resolved when less than half of that share failed, among at least as many evaluations.
    """

    name = "failures"

    def __init__(self, *, share: float = 0.5) -> None:
        self._share = share
        self.forget()

    def forget(self) -> None:
        self._rings: dict[str, Ring] = {}
        self._errors: dict[str, Counter[str]] = {}
        """Metric -> counts of error types since its evaluations last succeeded."""
        self._firing_since: dict[str, float] = {}
        self._known: set[str] = set()
        """Metrics of which this process has told how they are."""

    def write(self, batch: Sequence[EvaluatedTrace], now: float) -> None:
        minute = int(now // MINUTE_S)
        for result in batch:
            for evaluation in result.evaluations:
                if evaluation.name not in self._rings and len(self._rings) >= _MAX_METRICS:
                    continue
                ring = self._rings.setdefault(evaluation.name, Ring(bucket_minutes=1, count=WINDOW_MINUTES))
                ring.add(minute, bad=float(evaluation.error_type is not None), weight=1.0)
                if evaluation.error_type is not None:
                    errors = self._errors.setdefault(evaluation.name, Counter())
                    if evaluation.error_type in errors or len(errors) < _MAX_ERRORS:
                        errors[evaluation.error_type] += 1

    def look(self, now: float) -> list[Alert]:
        return [alert for metric in self._rings if (alert := self._look(metric, now)) is not None]

    def _look(self, metric: str, now: float) -> Alert | None:
        window = self._rings[metric].window(int(now // MINUTE_S), WINDOW_MINUTES)
        share = window.share
        if share is None or window.total < MIN_EVALUATIONS:
            return None
        since = self._firing_since.get(metric)
        if since is None and share >= self._share:
            self._firing_since[metric] = now
            self._known.add(metric)
            return self._message(metric, AlertState.FIRING, share, window.total, now, now)
        if share < self._share / 2:
            self._errors.pop(metric, None)
            if since is not None or metric not in self._known:  # the last process may have told of it
                self._known.add(metric)
                self._firing_since.pop(metric, None)
                return self._message(metric, AlertState.RESOLVED, share, window.total, since or now, now)
        return None

    def _message(self, metric: str, state: AlertState, share: float, total: float, since: float, now: float) -> Alert:
        errors = self._errors.get(metric, Counter())
        mostly = f", mostly {errors.most_common(1)[0][0]}" if errors and state is AlertState.FIRING else ""
        return Alert(
            name=EVALUATOR_FAILING,
            fingerprint=f"{EVALUATOR_FAILING}:{metric}",
            metric=metric,
            state=state,
            headline=f"{metric}: {share:.0%} of {total:.0f} evaluations failed in {WINDOW_MINUTES} min{mostly}",
            details={"failed_share": share, "evaluations": total, **{name: float(n) for name, n in errors.items()}},
            since_ns=round(since * 1e9),
            time_ns=round(now * 1e9),
        )
