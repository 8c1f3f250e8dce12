"""The monitor: a writer that feeds every result to the series and raises the alerts of what they find."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from rag_otel.alert import Alert, AlertExample
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.setup import REMEMBERED_BELOW
from rag_otel.drift.alerting import drift_alert, judge_alert
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import Family, FamilySettings, SeriesKey, belongs
from rag_otel.drift.judge_watch import AnchorVerdict, Cause, JudgeWatch
from rag_otel.drift.memory import NAME, RELEARN, VERSION, Memory
from rag_otel.drift.observation import ALL, RISK, SCORE, Observation, observation, shown
from rag_otel.drift.records import to_record
from rag_otel.drift.series import Series
from rag_otel.durable.named_states import NamedState
from rag_otel.durable.state_folder import StateFolder
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import counters, guarded
from rag_otel.sharing.consumers import Observed, Positions
from rag_otel.telemetry.gauges import Sample, gauges

SAVE_EVERY_S: Final = 30.0
_FORGET_TOLD_S: Final = 1.0
"""What was told is saved as told so much later."""
_REMEMBERED: Final = 64
_SHOWN: Final = 3
_LOGGED: Final = 200
_GAUGES: Final = 100
"""Series that metrics show, at most; the state and `rag-otel drift` have all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Remembered:
    """A bad answer that an alert may show."""

    time_s: float
    slices: tuple[str, ...]
    values: tuple[tuple[str, float], ...]
    example: AlertExample


class DriftMonitor:
    """Feeds the series, keeps their state, raises `drift_*` and `judge_moved` alerts.

    Results come on the delivery thread, readings of the anchors on the worker's: one lock guards the series. Without a
    state folder everything lives in memory alone.
    """

    name = "drift"

    def __init__(
        self,
        settings: FamilySettings,
        raise_alert: Callable[[Alert], None],
        *,
        examples: Examples | None = None,
        state: StateFolder | None = None,
        judge: JudgeWatch | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._raise_alert = raise_alert
        self._examples = examples or Examples()
        self._state = state
        self._saved = None if state is None else NamedState(state, NAME, VERSION)
        self._judge = judge
        self._clock = clock
        if judge is not None:
            judge.changed = self._judge_read
        self._start_over()
        gauges.offer("rag_otel.drift.alarm", self._alarms)
        gauges.offer("rag_otel.drift.evidence", self._evidence)
        gauges.offer("rag_otel.drift.mean", self._means)
        gauges.offer("rag_otel.drift.baseline", self._baselines)

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._memory = Memory(family=Family(self._settings))
        self._bad: deque[_Remembered] = deque(maxlen=_REMEMBERED)
        self._loaded = False
        self._save_at: float | None = None
        self._read = Positions()
        """Of the logs of processes that share a state folder."""
        if self._state is not None:
            self._read.begin_saving()

    @property
    def family(self) -> Family:
        """The series."""
        return self._memory.family

    # --- results ----------------------------------------------------------------------------------------------------

    @property
    def read(self) -> Positions:
        """How far the logs were read."""
        self._load()
        return self._read

    def take(self, batch: Sequence[Observed]) -> None:
        """Take results of several processes; what is saved of them and where they stood is saved together."""
        with guarded("drift.take"), self._lock:
            if batch:
                self.write(self.read.results_of(batch))

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Take results. An alarm is told at once; what the anchors say of it follows."""
        self._load()
        with self._lock:
            # In the order of their starts: several are judged at a time, and which is ready first is chance.
            ordered = sorted(batch, key=lambda result: (result.trace.start_ns, result.trace.target.trace_id))
            events = [event for result in ordered for event in self._take(result)]
            memory = self._memory
            memory.events = [*memory.events, *events][-_LOGGED:]
            told = [(event, key) for event in events if (key := self._problem(event)) is not None]
            now = self._clock()
            if self._save_at is None or self._save_at > now + SAVE_EVERY_S:  # the clock may have been set back
                self._save_at = now + SAVE_EVERY_S
            memory.to_tell += told
            if events:
                self._save()  # what was noticed is not noticed twice, nor forgotten
        self._tell_all()

    def _take(self, result: EvaluatedTrace) -> list[DriftEvent]:
        seen = observation(result, self._settings.dimensions)
        if seen is None:
            return []
        for evaluation in result.evaluations:
            if self._memory.judges.has_changed(evaluation):
                self.relearn(evaluation.name)
        if self._judge is not None:
            for evaluation in result.evaluations:
                self._judge.notice(evaluation)
        self._remember(result, seen)
        events = self.family.observe(seen)
        if self._judge is not None and not self._judge.has_read and self.family.settled:
            self._judge.check()  # the reference belongs to the baselines
        return events

    def _remember(self, result: EvaluatedTrace, seen: Observation) -> None:
        """Keep a bad answer for the alarms to come; an alarm of a metric shows the numbers of that metric."""
        for evaluation in result.evaluations:
            own = tuple(each for each in seen.values if each[0].rpartition(".")[0] == evaluation.name)
            if any(value < REMEMBERED_BELOW for name, value in own if name.endswith((SCORE, RISK))):
                example = self._examples.of(result, evaluation)
                self._bad.append(_Remembered(time_s=seen.time_s, slices=seen.slices, values=own, example=example))

    # --- alerts -----------------------------------------------------------------------------------------------------

    def _problem(self, event: DriftEvent) -> SeriesKey | None:
        """What is to be told of an event; None where it belongs to a problem that was told, or that goes on."""
        counters.add("drift.resolved" if event.resolved else "drift.alarms")
        problems = self._memory.problems
        return problems.close(event) if event.resolved else problems.open(event)

    def _tell_all(self) -> None:
        """Tell of problems that begin, get worse or end. The inbox keeps what it is given, and knows it again."""
        while self._memory.to_tell:
            event, problem = self._memory.to_tell[0]
            self._raise_alert(drift_alert(event, AnchorVerdict(cause=Cause.UNKNOWN), self._worst(event), told=problem))
            with self._lock:
                if self._memory.to_tell:
                    del self._memory.to_tell[0]
                self._save_at = self._clock() + _FORGET_TOLD_S
            if self._judge is not None and not event.resolved:
                self._ask(self._judge, event, problem)

    def _ask(self, judge: JudgeWatch, event: DriftEvent, problem: SeriesKey) -> None:
        """Have the anchors scored, and tell then whether the app or the judge has moved: a judge that hangs delays no
        alarm."""

        def tell() -> None:
            verdict = judge.verdict(event.series, event.drop, since_s=event.since_s, latest_s=event.latest_s)
            if verdict.cause is Cause.UNKNOWN and verdict.shift is None:
                return
            self._raise_alert(drift_alert(event, verdict, self._worst(event), told=problem, follow_up_s=self._clock()))

        judge.check(tell)

    def _worst(self, event: DriftEvent) -> list[AlertExample]:
        """The worst answers since it began, of the slice, those of what moved most first."""
        most = event.movements[0].slice if event.movements else None
        with self._lock:
            bad = [
                (most not in each.slices, value, -each.time_s, each.example)
                for each in self._bad
                if each.time_s >= event.earliest_s and (event.slice == ALL or event.slice in each.slices)
                for name, value in each.values
                if name == event.series
            ]
        found: dict[tuple[str | None, str | None], AlertExample] = {}
        for *_, example in sorted(bad, key=lambda each: each[:3]):
            found.setdefault(
                (example.question, example.response) if example.response else (None, repr(example.target)), example
            )
        return list(found.values())[:_SHOWN]

    def _judge_read(self, metric: str) -> None:
        """A new reading of the anchors: tell when the judge has moved, and when it is back."""
        judge = self._judge
        if judge is None:
            return
        for signal in (SCORE, RISK):
            moved = judge.readings.shift(metric, signal)
            before, now = judge.readings.references.get(metric), judge.readings.latest.get(metric)
            if moved is None or before is None or now is None:
                continue
            series = f"{metric}.{signal}"
            with self._lock:
                known = self._memory.judge_problems
                if moved.moved == (series in known):
                    continue
                (known.add if moved.moved else known.discard)(series)
            self._raise_alert(judge_alert(metric, signal, moved, before, now))
        with self._lock:
            self._save_at = self._save_at or self._clock() + SAVE_EVERY_S

    # --- time and state ---------------------------------------------------------------------------------------------

    def due(self) -> float | None:
        """When there is something to save, or the anchors are to be scored again, seconds since the epoch."""
        times = [self._save_at] if self._save_at is not None else []
        if self._judge is not None and self._judge.due_s < float("inf"):
            times.append(self._judge.due_s)
        return min(times, default=None)

    def tick(self) -> None:
        """Save what is new; score the anchors again when their time has come."""
        with self._lock:
            if self._save_at is not None and self._save_at <= self._clock():
                self._save()
        if self._judge is not None and self._judge.due_s <= self._clock():
            self._judge.check()

    def close(self) -> None:
        """Save for the last time. Safe to call twice."""
        with self._lock:
            if self._save_at is not None:
                self._save()

    def relearn(self, metric: str | None = None) -> None:
        """What comes now is normal: forget baselines that were learned (of one metric), and take the judge as it is."""
        with self._lock:
            memory = self._memory
            memory.family.relearn(metric)
            memory.problems.forget(metric)
            memory.judge_problems = {each for each in memory.judge_problems if not belongs(each, metric)}
        if self._judge is not None:
            self._judge.forget(metric)

    def after_fork(self) -> None:
        """The parent's series are its own; the child goes on with what its part of the state folder holds."""
        self._start_over()
        if self._judge is not None:
            self._judge.after_fork()

    def _load(self) -> None:
        if self._loaded:
            return
        with self._lock:
            if self._loaded:
                return
            self._loaded = True
            if self._saved is None:
                return
            with guarded("drift.load"):
                found = self._saved.load(lambda record: Memory.restored(record, self._settings))
                if found is not None:
                    self._memory = found
                    self._read.restore(found.read)
                    if self._judge is not None:
                        self._judge.readings = found.readings
                self._obey()
        self._tell_all()

    def _obey(self) -> None:
        """Learn anew where somebody has asked for it."""
        if self._state is not None and (asked := self._state.path / RELEARN).exists():
            asked.unlink(missing_ok=True)
            self.relearn()

    def _save(self) -> None:
        """Write the state."""
        self._save_at = None
        if self._saved is None:
            return
        with guarded("drift.save"):
            self._obey()
            memory = self._memory
            memory.saved_s, memory.read = self._clock(), self._read.to_state()
            if self._judge is not None:
                memory.readings = self._judge.readings
            if self._saved.save(to_record(memory)):
                self._read.was_saved(memory.read)

    # --- gauges -----------------------------------------------------------------------------------------------------

    def _watched(self) -> list[tuple[SeriesKey, Series]]:
        """What gauges show: all traffic, what is in alarm, then slices, within bounds."""
        ranked = sorted(self.family, key=lambda each: (each[0][1] != ALL, not each[1].firing))
        return ranked[:_GAUGES]

    def _alarms(self) -> list[Sample]:
        return [(float(series.firing), _labels(key)) for key, series in self._watched() if series.detector]

    def _evidence(self) -> list[Sample]:
        return [(series.evidence, _labels(key)) for key, series in self._watched() if series.detector]

    def _means(self) -> list[Sample]:
        means = [(self.family.now(key).mean, key) for key, _ in self._watched()]
        return [(shown(key[0], mean), _labels(key)) for mean, key in means if mean is not None]

    def _baselines(self) -> list[Sample]:
        found = [(series.baseline, key) for key, series in self._watched()]
        return [(shown(key[0], each.mean), _labels(key)) for each, key in found if each is not None]


def _labels(key: SeriesKey) -> dict[str, str]:
    return {"series": key[0], "slice": key[1]}
