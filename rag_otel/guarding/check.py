"""One evaluation that is waited for before the answer leaves.

It runs on the worker thread of the process, through the pipeline, as every evaluation does: the sampling policy, local
judges only, the limit per minute, budgets and the judge's cache apply. Only the coin does not decide. What it finds is
the trace's evaluation: the span processor takes it from the call (`Snapshot.judging`) and judges nothing again.

The caller waits on its own thread or loop, so the deadline holds whatever the judge does. A check that is overdue goes
on, and its result still gets onto the span. No thread is left behind for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import threading
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final, NamedTuple, TypeVar

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span

from rag_otel import semconv
from rag_otel.evaluation.current_evaluation import add_usage
from rag_otel.guarding.rules import INTERNAL_ERROR, Guard, GuardVerdict, not_judged, verdict_of
from rag_otel.model import Chunk, EvaluatedTrace, RagTrace, ReasonCode, SamplingDecision, UnevaluableReason, Usage
from rag_otel.observing import tracing
from rag_otel.observing.call_snapshot import Snapshot, ended_below
from rag_otel.pipeline import GUARD_RULE, Pipeline, forced_decision
from rag_otel.processing import trace_reading
from rag_otel.processing.hold import Slot
from rag_otel.processing.open_spans import SubTree
from rag_otel.processing.sdk_spans import span_ref
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.setup.runtime import Runtime

T = TypeVar("T")
NO_EVALUATOR: Final = "no_evaluator"
NO_WORKER: Final = "shutdown"
MOST_OVERDUE: Final = 32
"""Checks that nobody waits for any more and that have not returned. With so many no other one is begun: a judge that
hangs must not collect the application's calls."""
HANGING: Final = "hanging"
"""Reason: too many checks are overdue. The first that returns lets the next one begin."""
MOST_AT_ONCE: Final = 256
"""Checks under way in all."""
BUSY: Final = "busy"


class _Judged(NamedTuple):
    result: EvaluatedTrace | None
    reason: str | None
    """Why there is no result."""


class Check:
    """The evaluation of one text by the guard's metric. The span processor gets it as `Snapshot.judging`."""

    def __init__(
        self, guard: Guard, runtime: Runtime, snapshot: Snapshot, span: Span, *, name: str, after: Check | None = None
    ) -> None:
        """`snapshot` holds what is judged. `name` is that of the call. `after`: the check of an earlier part of the
        same answer, whose decision holds and whose costs are counted with this one's."""
        self._guard = guard
        self._runtime = runtime
        self._snapshot = snapshot
        self._span = span
        self._name = name
        self.admitted: bool = False
        self._earlier: SamplingDecision | None = None if after is None or not after.admitted else after.decision
        self._spent_before: Usage | None = None if after is None else after.spent
        self._under_way = checks_of(runtime)
        self._done: Future[_Judged] = Future()
        self._done.set_running_or_notify_cancel()  # nobody who waits for it can cancel it
        self._target = span_ref(span.get_span_context())
        coin = runtime.pipeline.decide(self._target)
        self.decision: SamplingDecision = dataclasses.replace(forced_decision(coin, GUARD_RULE), evaluators=None)
        self._coin = coin
        self.deadline_s = time.monotonic() + guard.deadline

    @property
    def judged(self) -> tuple[str | None, tuple[Chunk, ...] | None, str | None]:
        """Question, chunks and response that are judged. Chunks are None where spans below the call hold them."""
        return self._snapshot.question, self._snapshot.chunks, self._snapshot.response

    def begin(self) -> str | None:
        """Hand it to the worker; or the reason why it cannot begin."""
        if all(each.name != self._guard.metric for each in self._runtime.pipeline.evaluators):
            return NO_EVALUATOR
        if (reason := self._under_way.begin(self)) is not None:
            return reason
        if not self._runtime.worker.submit_first(self._judge):
            self._under_way.end(self)
            return NO_WORKER
        return None

    # --- waiting ------------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        return self._done.done()

    @property
    def is_overdue(self) -> bool:
        return not self.done and time.monotonic() >= self.deadline_s

    async def wait(self, *, blocking: bool) -> GuardVerdict:
        """The verdict, waited for until the deadline: on the caller's thread (`blocking`), or without holding up the
        application's loop."""
        with self._runtime.worker.without_throttling(), contextlib.suppress(TimeoutError):
            await result_within(self._done, self.deadline_s - time.monotonic(), blocking=blocking)
        return self.verdict()

    def verdict(self) -> GuardVerdict:
        """The verdict as far as it is known now."""
        if not self._done.done():
            return not_judged(ReasonCode.TIMEOUT, self._snapshot)
        judged = self._done.result()
        if judged.result is None:
            return not_judged(judged.reason, self._snapshot)
        return verdict_of(self._guard, judged.result.evaluations, self._snapshot)

    async def result(self) -> EvaluatedTrace | None:
        """The result, waited for, on the worker. None: there is none, and the trace goes the ordinary way."""
        return (await asyncio.wrap_future(self._done)).result

    # --- on the worker ------------------------------------------------------------------------------------------------

    async def _judge(self) -> None:
        judged = _Judged(None, INTERNAL_ERROR)
        try:
            judged = await self._judged()
        except asyncio.CancelledError:
            judged = _Judged(None, NO_WORKER)
            raise
        finally:
            self._under_way.end(self)
            self._done.set_result(judged)

    async def _judged(self) -> _Judged:
        reason: str | None = self._snapshot.unevaluable_reason
        if reason is not None:
            return _Judged(None, str(reason))
        trace, reason = await self._read()
        if trace is None:
            return _Judged(None, reason)
        pipeline, wanted = self._pipeline(), (self._guard.metric,)
        if self._earlier is not None:
            earlier = dataclasses.replace(self._earlier, evaluators=wanted, lease=None)
            decision, reason = await pipeline.reserve(trace, earlier)
        else:
            decision, reason = await pipeline.admit_guarded(trace, dataclasses.replace(self._coin, evaluators=wanted))
        if reason is not None:
            return _Judged(None, str(reason))
        self.decision, self.admitted = decision, True
        result = await pipeline.evaluate(trace, decision)
        return _Judged(self._with_earlier_costs(result), None)

    def _pipeline(self) -> Pipeline:
        """Without the limit per minute that nobody has set: the default one is for evaluations that can be left out."""
        pipeline = self._runtime.pipeline
        limited = self._runtime.settings.evaluations_per_minute is not None
        return pipeline if limited else dataclasses.replace(pipeline, cap=None)

    async def _read(self) -> tuple[RagTrace | None, str | None]:
        span = self._span
        if not isinstance(span, ReadableSpan):
            return self._without_span(), None
        below: Sequence[ReadableSpan] = ended_below(span)
        slot = Slot(
            span=span,
            target=self._target,
            tree=SubTree(spans=(*below, span), size=0, complete=True),
            snapshot=self._snapshot,
            decision=self.decision,
            downstream=(),
        )
        return await trace_reading.read(slot, self._runtime)

    def _without_span(self) -> RagTrace:
        """A call of which nothing is recorded: it is known by what it says itself."""
        resource = getattr(tracing.tracer(), "resource", None)
        service = None if resource is None else resource.attributes.get(semconv.SERVICE_NAME)
        bare = RagTrace(
            target=self._target,
            route=self._name,
            service=None if service is None else str(service),
            start_ns=time.time_ns(),
            unevaluable_reason=UnevaluableReason.NO_CHUNKS,
        )
        counts = self._runtime.settings.spans.conversation_context
        return trace_reading.completed(bare, self._snapshot, counts=counts)

    def _with_earlier_costs(self, result: EvaluatedTrace) -> EvaluatedTrace:
        spent = self._spent_before
        if spent is None:
            return result
        evaluations = tuple(
            dataclasses.replace(each, usage=add_usage(spent, each.usage)) if each.name == self._guard.metric else each
            for each in result.evaluations
        )
        return dataclasses.replace(result, evaluations=evaluations)

    @property
    def spent(self) -> Usage | None:
        """What this check and those before it have cost, as far as it is known."""
        result = self._done.result().result if self._done.done() else None
        if result is None:
            return self._spent_before
        return next((each.usage for each in result.evaluations if each.name == self._guard.metric), None)


class ChecksUnderWay:
    """Bounds the checks of one runtime. Thread-safe."""

    def __init__(self) -> None:
        self._start_over()
        after_fork_in_child(self._start_over)

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._checks: set[Check] = set()

    @property
    def overdue(self) -> int:
        with self._lock:
            return sum(each.is_overdue for each in self._checks)

    def begin(self, check: Check) -> str | None:
        """Count a check that begins; None, or the reason why it may not."""
        with self._lock:
            if len(self._checks) >= MOST_OVERDUE and self.overdue >= MOST_OVERDUE:
                return HANGING
            if len(self._checks) >= MOST_AT_ONCE:
                return BUSY
            self._checks.add(check)
            return None

    def end(self, check: Check) -> None:
        """It has returned. Safe to call twice."""
        with self._lock:
            self._checks.discard(check)


_under_way: Final[weakref.WeakKeyDictionary[Runtime, ChecksUnderWay]] = weakref.WeakKeyDictionary()


def checks_of(runtime: Runtime) -> ChecksUnderWay:
    """The checks that a runtime has under way."""
    return _under_way.get(runtime) or _under_way.setdefault(runtime, ChecksUnderWay())


def runs_in_asyncio() -> bool:
    """False on a plain thread and in another framework's loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def result_within(future: Future[T], seconds: float, *, blocking: bool) -> T:
    """What a thread of ours is working on: waited for on the caller's thread (`blocking`, or where there is no loop of
    asyncio), or on the caller's loop. Raises TimeoutError; what has not begun by then is cancelled."""
    if not blocking and runs_in_asyncio():
        async with asyncio.timeout(max(0.0, seconds)):
            return await asyncio.wrap_future(future)
    try:
        return future.result(max(0.0, seconds))
    except TimeoutError:
        future.cancel()
        raise
