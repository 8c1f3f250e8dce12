"""From a verdict to what leaves. What must be waited for is awaited; for a caller that blocks, it waits in place."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rag_otel import semconv
from rag_otel.guarding.check import Check
from rag_otel.guarding.replacement import Failed, replacement_of
from rag_otel.guarding.rewriting import NotWritableError, with_text
from rag_otel.guarding.rules import (
    FAILED_REPLACEMENT,
    INTERNAL_ERROR,
    NO_RESPONSE,
    NO_SETUP,
    NOT_WRITABLE,
    Action,
    Finding,
    Guard,
    Guarded,
    GuardVerdict,
    Outcome,
    not_judged,
)
from rag_otel.guarding.streaming import HeldStream, ReleasedStream, StreamGuard
from rag_otel.guarding.unsupported_sentences import Range, UnsupportedSentences, annotated, without
from rag_otel.model import AttributeValue, Chunk
from rag_otel.observing.allowance import Allowance
from rag_otel.observing.call import ObservedCall
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.observing.transcript import Transcript
from rag_otel.safety.guard import counters, logger, report_internal_error
from rag_otel.setup.runtime import Runtime, active_runtime

_OUTCOMES: Mapping[Action, Outcome] = {
    "block": Outcome.BLOCKED,
    "replace": Outcome.REPLACED,
    "annotate": Outcome.ANNOTATED,
    "remove": Outcome.REMOVED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardRecord:
    """What a guard did with the answer of a call."""

    judging: Check | None
    """None: no evaluation was begun."""
    attributes: Mapping[str, AttributeValue]
    """For the span."""
    left: str | None = None
    """The text that left in place of the answer. None: the answer itself, or no text."""
    judged: tuple[str | None, tuple[Chunk, ...] | None, str | None] | None = None
    """Question, chunks and response that were judged, in place of what is found in the call."""

    def judged_of(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot of what was judged: this evaluation is the call's."""
        if self.judged is not None:
            question, chunks, response = self.judged
            known = snapshot.chunks if chunks is None else chunks
            asked = question or snapshot.question
            snapshot = dataclasses.replace(snapshot, question=asked, chunks=known, response=response)
        return dataclasses.replace(snapshot, judging=self.judging)

    def attributes_of(self, *, hide_text: bool) -> Mapping[str, AttributeValue]:
        """What stands on the span of the call."""
        if self.left is None or hide_text:
            return self.attributes
        return {**self.attributes, semconv.GUARD_RESPONSE: Allowance().text(self.left)}


class GuardedCall:
    """What a guard does in one call: its checks, what leaves, and the record for the call's span.

    The call's gate: it decides on what leaves before the caller gets it.
    """

    def __init__(self, guard: Guard, call: ObservedCall, name: str, *, blocking: bool = False) -> None:
        self.guard = guard
        self.call = call
        self._name = name
        self._blocking = blocking
        self._last: Check | None = None
        self._waited_s = 0.0
        self._checks = 0
        self.unsupported = 0
        """Sentences."""

    @cached_property
    def _setup(self) -> tuple[Runtime | None, bool]:
        """(what judges, whether evaluation is switched off). Nothing judges where it is off, or cannot be set up."""
        try:
            runtime = active_runtime()
        except Exception as problem:
            if not report_internal_error("guard.runtime", problem):
                raise
            return None, False
        return runtime, runtime is None

    @property
    def off(self) -> bool:
        """True: evaluation is switched off, and every answer passes."""
        return self._setup[1]

    @property
    def can_judge(self) -> bool:
        """False: no answer gets a verdict."""
        return self._setup[0] is not None

    def sentences(self, text: str) -> Iterable[Range]:
        """(start, end) of each sentence of a text."""
        runtime = self._setup[0]
        if runtime is not None and runtime.sentences is not None:
            return runtime.sentences(text)
        return [(0, len(text))] if text.strip() else []

    @cached_property
    def _found(self) -> UnsupportedSentences:
        return UnsupportedSentences(self.sentences)

    # --- the gate of the call -----------------------------------------------------------------------------------------

    async def leave(self, result: Any, *, blocking: bool) -> Any:
        """End the call, and say what leaves in place of its result."""
        call, self._blocking = self.call, blocking
        try:
            call.returned(result)
            guarded = await self.judged(call.so_far(None, None), lambda text: self._in_result(result, text))
            if call.guard is None and not self.off:
                self.record(guarded, left=None)
            call.complete()
            return guarded.response
        except Exception as problem:
            call.complete()
            if not report_internal_error("guard.call", problem):
                raise
            verdict = not_judged(INTERNAL_ERROR, call.so_far(None, None))
            return self._in_result(result, self.by_default(verdict.response, verdict)).response
        except BaseException:  # the caller's own cancellation goes on
            call.abandon()
            raise

    def stream(self, transcript: Transcript, *, blocking: bool) -> StreamGuard:
        """The gate of the call's stream."""
        self._blocking = blocking
        return (HeldStream if self.guard.stream == "hold" else ReleasedStream)(self, transcript)

    def without_stream(self, result: Any, *, writable: bool) -> Any:
        """End the call; what leaves where the stream in a result cannot be replaced: the default applies."""
        verdict = GuardVerdict(finding=Finding.NOT_JUDGED)
        guarded = self.by_default(result, verdict, INTERNAL_ERROR if writable else NOT_WRITABLE)
        self.record(guarded, left=None)
        self.call.abandon()
        return guarded.response

    # --- checks -------------------------------------------------------------------------------------------------------

    async def judged(self, snapshot: Snapshot, write: Callable[[Guarded], Guarded] | None = None) -> Guarded:
        """What may leave in place of the snapshot's answer. `write` puts the text where it belongs. It is recorded."""
        text = snapshot.response
        if self.off or not text:
            verdict = not_judged("disabled" if self.off else NO_RESPONSE, snapshot)
            passing = Guarded(response=text, outcome=Outcome.PASSED, verdict=verdict)
            return passing if write is None else write(passing)
        answer = await self._answer(text, await self.check(snapshot))
        guarded = answer if write is None else write(answer)
        altered = not guarded.passed and isinstance(answer.response, str)
        self.record(guarded, left=answer.response if altered else None)
        return guarded

    def begin(self, snapshot: Snapshot) -> Check | GuardVerdict:
        """A check of what the snapshot holds; or the verdict, where none can begin."""
        runtime = self._setup[0]
        if runtime is None:
            return not_judged(NO_SETUP, snapshot)
        check = Check(self.guard, runtime, snapshot, self.call.span, name=self._name, after=self._last)
        if (reason := check.begin()) is not None:
            self._last = None  # what was judged before is another text
            return not_judged(reason, snapshot)
        self._checks += 1
        self._last = check
        return check

    def forget(self) -> None:
        """Leave the evaluation of the call to the ordinary way: what was checked is only a part of it."""
        self._last = None

    async def check(self, snapshot: Snapshot) -> GuardVerdict:
        """Judge what the snapshot holds, and wait for the verdict."""
        began_s = time.monotonic()
        begun = self.begin(snapshot)
        verdict = begun if isinstance(begun, GuardVerdict) else await self.wait_for(begun)
        self._waited_s += time.monotonic() - began_s
        return verdict

    async def wait_for(self, check: Check) -> GuardVerdict:
        """Its verdict: waited for on the caller's thread, or without holding up the caller's loop."""
        return await check.wait(blocking=self._blocking)

    async def replacement(self, verdict: GuardVerdict) -> Any:
        """What the application puts in an answer's place, or `Failed`."""
        return await replacement_of(self.guard, verdict, blocking=self._blocking)

    def located(self, text: str, verdict: GuardVerdict, since: int = 0) -> list[Range]:
        """The unsupported sentences of a text, and from `since` on the repetitions of those that were found before;
        empty if the metric does not say which."""
        claims = () if verdict.evaluation is None else verdict.evaluation.claims
        return self._found.find(text, claims, fails=verdict.finding is Finding.UNSUPPORTED, since=since)

    # --- what leaves --------------------------------------------------------------------------------------------------

    async def _answer(self, text: str, verdict: GuardVerdict) -> Guarded:
        """What may leave in place of a whole answer."""
        guard = self.guard
        if verdict.finding is Finding.SUPPORTED:
            return Guarded(response=text, outcome=Outcome.PASSED, verdict=verdict)
        if verdict.finding is Finding.NOT_JUDGED:
            return self.by_default(text, verdict)
        ranges = self.located(text, verdict)
        self.unsupported = max(1, len(ranges))
        outcome, left = _OUTCOMES[guard.action], guard.refusal
        if guard.action == "replace":
            left = await self.replacement(verdict)
            if isinstance(left, Failed):
                return self.by_default(text, verdict, FAILED_REPLACEMENT)
        elif guard.action == "annotate":
            left = annotated(text, ranges, guard.note)
        elif guard.action == "remove":
            rest = without(text, ranges) if ranges else ""
            outcome, left = (outcome, rest) if rest.strip() else (Outcome.BLOCKED, guard.refusal)
        return Guarded(response=left, outcome=outcome, verdict=verdict)

    def by_default(self, result: Any, verdict: GuardVerdict, reason: str | None = None) -> Guarded:
        """What leaves where there is no verdict, or where the action cannot be applied."""
        verdict = verdict if reason is None else dataclasses.replace(verdict, reason=reason)
        if self.guard.default == "allow":
            return Guarded(response=result, outcome=Outcome.PASSED, verdict=verdict)
        return Guarded(response=self.guard.refusal, outcome=Outcome.BLOCKED, verdict=verdict)

    def _in_result(self, result: Any, guarded: Guarded) -> Guarded:
        """The same with the function's whole result, in which the text that leaves is written."""
        answer = guarded.verdict.response
        if guarded.outcome is Outcome.PASSED:
            return Guarded(response=result, outcome=guarded.outcome, verdict=guarded.verdict)
        if not isinstance(guarded.response, str):  # the application's own result, as it gave it
            return guarded
        if answer is None:  # nobody knows where it stands
            return self.by_default(result, guarded.verdict, NOT_WRITABLE)
        try:
            written = with_text(result, answer, guarded.response, self.guard.write)
        except Exception as error:  # noqa: BLE001 - the application's classes may raise anything
            _tell_not_writable(self._name, result, error)
            return self.by_default(result, guarded.verdict, NOT_WRITABLE)
        return Guarded(response=written, outcome=guarded.outcome, verdict=guarded.verdict)

    def record(self, guarded: Guarded, *, left: str | None) -> None:
        """Leave on the call what was done, for its span; `left`: the text that left, where it is another one."""
        verdict, guard = guarded.verdict, self.guard
        why = "" if verdict.reason is None else f".{verdict.reason}"
        counters.add(f"guarded.{guarded.outcome}.{verdict.finding}{why}")
        if verdict.finding is Finding.NOT_JUDGED:
            _tell_not_judged(self._name, str(verdict.reason), guard)
        attributes: dict[str, AttributeValue] = {
            semconv.GUARD_OUTCOME: str(guarded.outcome),
            semconv.GUARD_FINDING: str(verdict.finding),
            semconv.GUARD_METRIC: guard.metric,
            semconv.GUARD_DEADLINE: float(guard.deadline),
            semconv.GUARD_WAITED: round(self._waited_s, 6),
            semconv.GUARD_CHECKS: self._checks,
        }
        if verdict.reason is not None:
            attributes[semconv.GUARD_REASON] = str(verdict.reason)
        if self.unsupported:
            attributes[semconv.GUARD_SENTENCES] = self.unsupported
        judged = None if self._last is None else self._last.judged
        self.call.guard = GuardRecord(judging=self._last, attributes=attributes, left=left, judged=judged)


def _tell_not_judged(name: str, reason: str, guard: Guard) -> None:
    """One warning for each reason: a guard that never judges must not look like one that finds nothing."""
    if counters.add(f"guard.not_judged.{reason}") == 1:
        logger.warning(
            "rag-otel: an answer of %s left its guard without a verdict: %s; the guard's default is %r; what it did is "
            "on the span (rag.guard.*)",
            name,
            reason,
            guard.default,
        )


def _tell_not_writable(name: str, result: object, error: Exception) -> None:
    if counters.add(f"guard.not_writable.{name}") == 1:
        how = error if isinstance(error, NotWritableError) else f"{type(error).__name__} was raised"
        logger.warning(
            "rag-otel: %s: no other text can be put into %s: %s; give Guard(write=...). The guard's default applies",
            name,
            type(result).__name__,
            how,
        )
