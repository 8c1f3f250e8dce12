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
import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import NamedTuple

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span

from rag_otel import semconv
from rag_otel.evaluation.usage_meter import add_usage
from rag_otel.guarding.circuit import Circuit, circuit_of
from rag_otel.guarding.rules import INTERNAL_ERROR, Guard, GuardVerdict
from rag_otel.guarding.verdicts import not_judged, verdict_of
from rag_otel.model import Chunk, EvaluatedTrace, RagTrace, ReasonCode, SamplingDecision, UnevaluableReason, Usage
from rag_otel.observing import tracing
from rag_otel.observing.call_snapshot import Snapshot, ended_below
from rag_otel.pipeline import GUARD_RULE, Pipeline, forced_decision
from rag_otel.processing import trace_reading
from rag_otel.processing.hold import Slot
from rag_otel.processing.open_spans import SubTree
from rag_otel.processing.sdk_spans import span_ref
from rag_otel.setup.runtime import Runtime

NO_EVALUATOR = "no_evaluator"
NO_WORKER = "shutdown"


class _Judged(NamedTuple):
    result: EvaluatedTrace | None
    reason: str | None
    """Why there is no result."""


class Check:
    """The evaluation of one text by the guard's metric; a `Judging` for the span processor."""

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
        self._circuit: Circuit = circuit_of(runtime)
        self._ticket = object()
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
        if (reason := self._circuit.begin(self._ticket)) is not None:
            return reason
        if not self._runtime.worker.submit_first(self._judge):
            self._circuit.end(self._ticket)
            return NO_WORKER
        return None

    # --- waiting ------------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        return self._done.done()

    @property
    def is_overdue(self) -> bool:
        return not self.done and time.monotonic() >= self.deadline_s

    def wait(self) -> GuardVerdict:
        """The verdict, on a thread that waits for it until the deadline."""
        with self._runtime.worker.without_throttling(), contextlib.suppress(FutureTimeoutError):
            self._done.result(max(0.0, self.deadline_s - time.monotonic()))
        return self.verdict()

    async def wait_async(self) -> GuardVerdict:
        """The verdict, without holding up the application's loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # another framework's loop
            return self.wait()
        with self._runtime.worker.without_throttling(), contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self.deadline_s - time.monotonic())):
                await asyncio.wrap_future(self._done)
        return self.verdict()

    def verdict(self) -> GuardVerdict:
        """The verdict as far as it is known now. A check that has none by now counts as overdue."""
        if not self._done.done():
            self._circuit.late(self._ticket)
            return not_judged(ReasonCode.TIMEOUT, self._snapshot)
        judged = self._done.result()
        if judged.result is None:
            return not_judged(judged.reason, self._snapshot)
        return verdict_of(self._guard, judged.result.evaluations, self._snapshot)

    async def result(self) -> EvaluatedTrace | None:
        """See `Judging`. On the worker."""
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
            self._circuit.end(self._ticket)
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
