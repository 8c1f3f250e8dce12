"""From a verdict to what leaves.

What must be waited for (a check, the application's replacement) is yielded as a step, so that one description serves
functions that block and functions that await: `run` and `run_async`.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Generator, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar

from rag_otel import semconv
from rag_otel.guarding.check import Check
from rag_otel.guarding.results import NotWritableError, with_text
from rag_otel.guarding.rules import Action, Finding, Guard, Guarded, GuardVerdict, Outcome
from rag_otel.guarding.texts import Range, Sentences, annotated, unsupported_sentences, without
from rag_otel.model import AttributeValue
from rag_otel.observing.call import Observation
from rag_otel.observing.call_snapshot import GuardRecord, Snapshot
from rag_otel.runtime import Runtime
from rag_otel.safety.guard import counters, logger

T = TypeVar("T")
FAILED_REPLACEMENT = "replacement_failed"
INTERNAL_ERROR = "internal_error"
NOT_WRITABLE = "not_writable"
NO_SETUP = "no_setup"
_OUTCOMES: Mapping[Action, Outcome] = {
    "block": Outcome.BLOCKED,
    "replace": Outcome.REPLACED,
    "annotate": Outcome.ANNOTATED,
    "remove": Outcome.REMOVED,
}


class Step(Protocol):
    """Something to wait for."""

    def wait(self) -> Any: ...

    def wait_async(self) -> Awaitable[Any]: ...


Steps: TypeAlias = Generator[Step, Any, T]


def run(steps: Steps[T]) -> T:
    """Take the steps one after the other, on a thread that waits for each."""
    answer: Any = None
    try:
        while True:
            answer = steps.send(answer).wait()
    except StopIteration as stop:
        done: T = stop.value
        return done


async def run_async(steps: Steps[T]) -> T:
    """The same on a loop."""
    answer: Any = None
    try:
        while True:
            answer = await steps.send(answer).wait_async()
    except StopIteration as stop:
        done: T = stop.value
        return done


class Failed(Exception):  # noqa: N818 - data, never raised
    """What the application's code has raised."""


class Asked:
    """The application's replacement: what it gives, or `Failed`."""

    def __init__(self, guard: Guard, verdict: GuardVerdict) -> None:
        self._replacement = guard.replacement
        self._verdict = verdict

    def wait(self) -> Any:
        try:
            given = self._given()
            if inspect.isawaitable(given):
                if inspect.iscoroutine(given):
                    given.close()
                raise TypeError("an async replacement needs an async function")
            return given
        except Exception as error:  # noqa: BLE001 - the application's code may raise anything
            return _failed(error)

    async def wait_async(self) -> Any:
        try:
            given = self._given()
            return await given if inspect.isawaitable(given) else given
        except Exception as error:  # noqa: BLE001
            return _failed(error)

    def _given(self) -> Any:
        return self._replacement(self._verdict) if callable(self._replacement) else self._replacement


def _failed(error: Exception) -> Failed:
    if counters.add("guard.replacement_failed") == 1:
        logger.warning("rag-otel: Guard(replacement=...) raised; the guard's default applies", exc_info=error)
    return Failed(error)


class GuardedCall:
    """What a guard does in one call: its checks, and the record for the call's span."""

    def __init__(self, guard: Guard, runtime: Runtime | None, call: Observation, name: str, *, off: bool) -> None:
        """`off`: evaluation is switched off, and every answer passes. `runtime` is also None where it cannot be set up:
        then no answer gets a verdict."""
        self.guard = guard
        self.runtime = runtime
        self.off = off
        self._call = call
        self._name = name
        self._last: Check | None = None
        self._waited_s = 0.0
        self.checks = 0
        self.unsupported = 0

    @property
    def sentences(self) -> Sentences:
        found = None if self.runtime is None else self.runtime.sentences
        return found or (lambda text: [(0, len(text))] if text.strip() else [])

    def begin(self, snapshot: Snapshot) -> Check | GuardVerdict:
        """A check of what the snapshot holds; or the verdict, where none can begin."""
        if self.runtime is None:
            return GuardVerdict(
                finding=Finding.NOT_JUDGED, question=snapshot.question, response=snapshot.response, reason=NO_SETUP
            )
        check = Check(self.guard, self.runtime, snapshot, self._call.span, name=self._name, after=self._last)
        if (reason := check.begin()) is not None:
            self._last = None  # what was judged before is another text
            return GuardVerdict(
                finding=Finding.NOT_JUDGED, question=snapshot.question, response=snapshot.response, reason=reason
            )
        self.checks += 1
        self._last = check
        return check

    def forget(self) -> None:
        """Leave the evaluation of the call to the ordinary way: what was checked is only a part of it."""
        self._last = None

    def check(self, snapshot: Snapshot) -> Steps[GuardVerdict]:
        """Judge what the snapshot holds, and wait for the verdict."""
        began_s = time.monotonic()
        begun = self.begin(snapshot)
        verdict: GuardVerdict = begun if isinstance(begun, GuardVerdict) else (yield begun)
        self._waited_s += time.monotonic() - began_s
        return verdict

    def located(self, text: str, verdict: GuardVerdict) -> list[Range]:
        """The unsupported sentences of a text; empty if the metric does not say which."""
        return unsupported_sentences(text, verdict.unsupported_claims, self.sentences)

    def answer(self, text: str, verdict: GuardVerdict) -> Steps[Guarded]:
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
            given = yield Asked(guard, verdict)
            if isinstance(given, Failed):
                return self.by_default(text, verdict, FAILED_REPLACEMENT)
            left = given
        elif guard.action == "annotate":
            left = annotated(text, ranges, guard.note)
        elif guard.action == "remove":
            rest = without(text, ranges) if ranges else ""
            outcome, left = (outcome, rest) if rest.strip() else (Outcome.BLOCKED, guard.refusal)
        return Guarded(response=left, outcome=outcome, verdict=verdict)

    def by_default(self, result: Any, verdict: GuardVerdict, reason: str | None = None) -> Guarded:
        """What leaves where there is no verdict, or where the action cannot be applied."""
        if reason is not None:
            verdict = GuardVerdict(
                finding=verdict.finding,
                question=verdict.question,
                response=verdict.response,
                evaluation=verdict.evaluation,
                reason=reason,
            )
        if self.guard.default == "allow":
            return Guarded(response=result, outcome=Outcome.PASSED, verdict=verdict)
        return Guarded(response=self.guard.refusal, outcome=Outcome.BLOCKED, verdict=verdict)

    def in_result(self, result: Any, guarded: Guarded) -> Guarded:
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

    def record(
        self,
        guarded: Guarded,
        *,
        left: str | None,
    ) -> None:
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
            semconv.GUARD_CHECKS: self.checks,
        }
        if verdict.reason is not None:
            attributes[semconv.GUARD_REASON] = str(verdict.reason)
        if self.unsupported:
            attributes[semconv.GUARD_SENTENCES] = self.unsupported
        judged = None if self._last is None else self._last.judged
        self._call.guard = GuardRecord(judging=self._last, attributes=attributes, left=left, judged=judged)


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
