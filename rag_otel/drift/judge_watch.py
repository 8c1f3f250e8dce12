"""The judge is watched too: the anchors are scored again, so that an alarm can tell whether app or judge has moved.

By the application's own evaluators, on the evaluating worker, within the cap of evaluations: once the first baselines
are learned, then on a schedule, when results come from another judge, version or prompt than before, and when a series
raises an alarm.
"""

from __future__ import annotations

import asyncio
import enum
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, TypeAlias

from rag_otel.drift.anchors import Anchor, Readings, Shift, reading_of, shift
from rag_otel.drift.observation import identity_of, signal_of
from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Evaluation
from rag_otel.protocols import Evaluator
from rag_otel.safety.guard import counters, guarded, logger

Run: TypeAlias = Callable[[Callable[[], Coroutine[Any, Any, None]]], bool]
"""Starts a job on the worker; False when it does not take it."""
_PAUSE_S: Final = 0.25
"""Between two questions to the cap."""
_PATIENCE_S: Final = 600.0
"""For all anchors together, however small the cap."""
_EVERY_S: Final = 86_400.0
_RETRY_S: Final = 600.0
_HALF: Final = 0.5
"""Whoever accounts for more than this share of a drop has moved."""


class Cause(enum.StrEnum):
    """Who has moved."""

    APP = "app"
    JUDGE = "judge"
    BOTH = "app and judge"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorVerdict:
    """What the anchors say of an alarm."""

    cause: Cause
    shift: Shift | None = None
    explained: tuple[float, float] | None = None
    """Which share of the drop the judge accounts for, 95%: below 0 where it became milder, above 1 where the app became
    better. None where nothing is known."""


def _cause(explained: tuple[float, float]) -> Cause:
    """Nobody is named who is not known to have moved, within the error that the interval has."""
    low, high = explained
    if high < _HALF:
        return Cause.APP
    if low >= _HALF:
        return Cause.JUDGE
    return Cause.BOTH if low > 0.0 and high < 1.0 else Cause.UNKNOWN


@stored
class KnownJudges:
    """Who gave the results that baselines were learned from, by metric: another version of a judge is another scale.

    While a process runs, the anchors tell of a new one; after a restart it shows here.
    """

    __slots__ = ("_known", "_restored")

    NOT_STORED = ("_restored",)

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}
        self._restored: set[str] = set()
        """Metrics whose baselines come from an earlier process, and still hold."""

    def has_changed(self, evaluation: Evaluation) -> bool:
        """True, once, where the metric's baselines come from an earlier process that did not know this judge: they
        are to be learned anew. A result that failed tells nothing."""
        if evaluation.error_type is not None:
            return False
        judge = " ".join(each for each in (evaluation.evaluator, evaluation.version, evaluation.judge) if each)
        known = self._known.setdefault(evaluation.name, set())
        changed = judge not in known and evaluation.name in self._restored
        if changed:
            self._restored.discard(evaluation.name)
            counters.add("drift.relearned")
            logger.warning(
                "rag-otel: drift baselines of %s are learned anew: results are by %s, "
                "and the baselines were learned from results by %s",
                evaluation.name,
                judge,
                " and ".join(sorted(known)),
            )
            known.clear()
        known.add(judge)
        return changed

    def adopt(self, metrics: Iterable[str]) -> None:
        """Go on after it was restored; `metrics` have baselines."""
        self._restored = set(metrics)


class JudgeWatch:
    """Has the anchors read, and says what an alarm owes to the judge. Thread-safe."""

    def __init__(
        self,
        evaluators: Sequence[Evaluator],
        anchors: Sequence[Anchor],
        run: Run,
        *,
        admit: Callable[[], bool] = lambda: True,
        timeout_s: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`admit` takes one evaluation out of the cap; `timeout_s` is for one of them."""
        self._evaluators = tuple(evaluators)
        self._anchors = tuple(anchors)
        self._run = run
        self._admit = admit
        self._timeout_s = timeout_s
        self.changed: Callable[[str], None] = lambda metric: None
        """Hears of every new reading, by metric, on the worker's thread."""
        self._clock = clock
        self._lock = threading.RLock()
        self.readings = Readings()
        self._seen: dict[str, str] = {}
        """Identity of the latest results by metric."""
        self._asked_at = 0.0
        self._waiting: list[Callable[[], None]] = []
        self._running = False

    def notice(self, evaluation: Evaluation) -> None:
        """Look at who judged: whoever has taken over is asked for the anchors. Cheap: for every result."""
        if evaluation.error_type is not None or (evaluation.score is None and evaluation.risk is None):
            return
        identity = identity_of(evaluation)
        if self._seen.get(evaluation.name) == identity:
            return
        self._seen[evaluation.name] = identity
        known = self.readings.latest.get(evaluation.name)
        if known is not None and known.identity != identity:
            self.check()

    @property
    def has_read(self) -> bool:
        """True once there is a reading, or one was asked for."""
        return bool(self.readings.latest or self._asked_at)

    @property
    def due_s(self) -> float:
        """When the schedule wants the next reading, seconds since the epoch; never before one was asked for."""
        if not self.has_read:
            return float("inf")
        latest = min((each.time_s for each in self.readings.latest.values()), default=0.0)
        return max(latest + _EVERY_S, self._asked_at + _RETRY_S)

    def check(self, then: Callable[[], None] | None = None) -> None:
        """Score the anchors again and call `then`, on the worker; at once where it cannot be done. Never raises."""
        with self._lock:
            if then is not None:
                self._waiting.append(then)
            if self._running:
                return
            self._running, self._asked_at = True, self._clock()
        if not self._run(self._score):
            self._done()

    async def _score(self) -> None:
        try:
            with guarded("drift.anchors"):
                await asyncio.wait_for(self._score_all(), _PATIENCE_S)
        finally:
            self._done()

    def _done(self) -> None:
        with self._lock:
            waiting, self._waiting, self._running = self._waiting, [], False
        for then in waiting:
            with guarded("drift.anchors"):
                then()

    async def _score_all(self) -> None:
        for evaluator in self._evaluators:
            found: dict[str, Evaluation] = {}
            for anchor in self._anchors:
                while not self._admit():
                    await asyncio.sleep(_PAUSE_S)
                if (evaluation := await self._score_one(evaluator, anchor)) is not None:
                    found[anchor.id] = evaluation
            reading = reading_of(self._anchors, found, time_s=self._clock())
            if reading is not None:
                with self._lock:
                    self.readings = self.readings.with_reading(evaluator.name, reading)
                self.changed(evaluator.name)

    async def _score_one(self, evaluator: Evaluator, anchor: Anchor) -> Evaluation | None:
        try:
            return await asyncio.wait_for(
                evaluator.evaluate(question=anchor.question, chunks=anchor.contexts, response=anchor.response),
                self._timeout_s,
            )
        except Exception:  # noqa: BLE001 - an anchor that cannot be judged now is missing in the reading
            return None

    def verdict(self, series: str, drop: float, *, since_s: float, latest_s: float) -> AnchorVerdict:
        """Whether the judge accounts for a `drop` of a series' goodness (positive, 0..1): the app has moved where it
        surely accounts for less than half, the judge where it surely does for that much or more. That the judge is as
        much stricter on the traffic as on the anchors is an assumption.

        The drop began at `since_s`, at `latest_s` for sure: the reference must be from before it and the reading from
        after, else nothing is known.
        """
        metric = series.rpartition(".")[0]
        readings = self.readings
        before, now = readings.references.get(metric), readings.latest.get(metric)
        # One question for each alarm: its error does not depend on how many readings there were in between.
        moved = None if before is None or now is None else shift(before, now, signal_of(series))
        if (
            before is None
            or now is None
            or before is now
            or moved is None
            or before.time_s > latest_s
            or now.time_s < since_s
        ):
            return AnchorVerdict(cause=Cause.UNKNOWN)
        if drop <= 0.0:
            return AnchorVerdict(cause=Cause.UNKNOWN, shift=moved)
        explained = -moved.interval[1] / drop, -moved.interval[0] / drop
        return AnchorVerdict(cause=_cause(explained), shift=moved, explained=explained)

    def forget(self, metric: str | None) -> None:
        """Baselines are learned anew: the latest readings are their references, or one metric's are forgotten."""
        with self._lock:
            self.readings = self.readings.accepted() if metric is None else self.readings.without(metric)

    def after_fork(self) -> None:
        """The readings stay; a run under way is the parent's."""
        self._lock = threading.RLock()
        self._waiting, self._running = [], False
