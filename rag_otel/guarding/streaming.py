"""A stream that is checked sentence by sentence: what leaves, and where it stops.

Each check judges everything that the stream has said up to the end of a sentence. So a sentence is judged in its
context, and the last check is the evaluation of the whole answer. Of each verdict counts what it says about the
sentences since the check before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from rag_otel.guarding.check import Check
from rag_otel.guarding.replacement import Failed
from rag_otel.guarding.rules import (
    FAILED_REPLACEMENT,
    NO_RESPONSE,
    NO_SETUP,
    Finding,
    Guarded,
    GuardVerdict,
    Outcome,
)
from rag_otel.guarding.stream_buffer import StreamBuffer
from rag_otel.guarding.unsupported_sentences import Range, annotated, without
from rag_otel.model import ReasonCode
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.observing.transcript import Transcript
from rag_otel.safety.guard import report_internal_error

if TYPE_CHECKING:
    from rag_otel.guarding.guarded_call import GuardedCall


class StreamGuard(ABC):
    """The gate of one stream: `take` each item, `finish` after the last one, and end the stream where
    it `stopped`."""

    def __init__(self, guarding: GuardedCall, transcript: Transcript) -> None:
        self._guarding = guarding
        self._guard = guarding.guard
        self._buffer = StreamBuffer(transcript, guarding.call.answer_in)
        self._decided = 0
        """Characters of the text about which there is a verdict, or none to be had."""
        self._leaving: list[Any] = []
        """Items that leave now."""
        self._left: list[str] = []
        """The text that has left."""
        self._verdict: GuardVerdict | None = None
        self._unsupported: GuardVerdict | None = None
        """The first verdict of this kind."""
        self._outcome = Outcome.PASSED
        self._passing = guarding.off
        """True where nothing is checked any more."""
        self.stopped = False

    # --- the gate of the stream ---------------------------------------------------------------------------------------

    async def take(self, item: Any) -> Sequence[Any]:
        """What leaves after the next item, which the transcript has already."""
        if self._passing:
            self._left.append(item if isinstance(item, str) else "")
            return (item,)
        return await self._after(self._take(item))

    async def finish(self) -> Sequence[Any]:
        """What leaves after the last item."""
        return () if self._passing or self.stopped else await self._after(self._finish())

    def record(self) -> str | None:
        """Leave on the call what was done; what the stream has said up to where it was stopped, or broken off."""
        try:
            if not self._guarding.off:
                self._record()
        except Exception as problem:
            if not report_internal_error("guard.record", problem):
                raise
        return self._buffer.text[: self._decided] if self.stopped else None

    async def _after(self, deciding: Coroutine[Any, Any, None]) -> Sequence[Any]:
        """What leaves. After an error of ours the guard's default applies, and nothing is checked any more."""
        try:
            await deciding
        except Exception as problem:
            if not report_internal_error("guard.stream", problem):
                raise
            self._give_up()
        leaving, self._leaving = self._leaving, []
        return leaving

    def _record(self) -> None:
        verdict = self._unsupported or self._verdict or GuardVerdict(finding=Finding.NOT_JUDGED, reason=NO_RESPONSE)
        altered = self._outcome is not Outcome.PASSED and self._buffer.is_text
        guarded = Guarded(response=None, outcome=self._outcome, verdict=verdict)
        self._guarding.record(guarded, left="".join(self._left) if altered else None)

    # --- of each kind of stream ---------------------------------------------------------------------------------------

    async def _take(self, item: Any) -> None:
        self._buffer.add(item)
        if (reason := self._never_judged()) is not None:
            verdict = GuardVerdict(finding=Finding.NOT_JUDGED, reason=reason)
            self._without_verdict(verdict, len(self._buffer.text))
            if not self.stopped:
                self._pass_on()
            return
        await self._check_sentences()

    @abstractmethod
    async def _check_sentences(self) -> None:
        """Check what is new, where a sentence is complete."""

    @abstractmethod
    async def _finish(self) -> None:
        """Check the rest."""

    @abstractmethod
    def _let_go(self, until: int, text: str | None = None) -> None:
        """What is held and was said before `until` leaves; `text` in its place, where items are text."""

    # --- for both kinds -----------------------------------------------------------------------------------------------

    def _complete_until(self) -> int:
        """Where the last sentence begins, which may still go on: what is before is complete."""
        rest = self._buffer.text[self._decided :]
        starts = [start for start, _ in self._guarding.sentences(rest)]
        # Whether a full stop ends a sentence is known when the word behind it is.
        while len(starts) > 1 and len(rest[starts[-1] :].split(None, 1)) < 2:
            starts.pop()
        return self._decided + (starts[-1] if len(starts) > 1 else 0)

    def _snapshot(self, end: int) -> Snapshot:
        return self._guarding.call.so_far(self._buffer.result, self._buffer.text[:end])

    def _say(self, text: str) -> None:
        """A text leaves, where items are text."""
        if text and self._buffer.is_text is not False:
            self._left.append(text)
            self._leaving.append(self._buffer.as_item(text))

    def _never_judged(self) -> str | None:
        """Why there will be no verdict on what the stream has said and says from here on; None: there may be one."""
        if self._buffer.cut:
            return ReasonCode.TOO_LONG
        return None if self._guarding.can_judge or not self._buffer.text.strip() else NO_SETUP

    def _without_verdict(self, verdict: GuardVerdict, end: int) -> None:
        """There is no verdict on what was said before `end`: the default applies."""
        self._verdict = verdict
        if self._guard.default == "block":
            self._stop(self._guard.refusal, Outcome.BLOCKED, end)
        else:
            self._let_go(end)

    def _pass_on(self) -> None:
        """Check nothing more. The whole answer is judged afterwards, like that of any call."""
        self._passing = True
        self._guarding.forget()

    def _give_up(self) -> None:
        """Apply the guard's default to all that is held and to what comes."""
        if self._guard.default == "block":
            self.stopped, self._outcome = True, Outcome.BLOCKED
            self._say(self._guard.refusal)
        else:
            self._pass_on()
            self._let_go(len(self._buffer.text))

    async def _refuse(self, verdict: GuardVerdict, end: int) -> None:
        """Nothing more of the answer leaves: in its place the refusal, or the application's replacement."""
        if self._guard.action != "replace":
            self._stop(self._guard.refusal, Outcome.BLOCKED, end)
            return
        given = await self._guarding.replacement(verdict)
        if not isinstance(given, Failed):
            self._stop(given, Outcome.REPLACED, end)
            return
        self._unsupported = GuardVerdict(
            finding=verdict.finding, evaluation=verdict.evaluation, reason=FAILED_REPLACEMENT
        )
        self._give_up()

    def _stop(self, last: Any, outcome: Outcome, end: int) -> None:
        """End the stream behind `end` with a last item."""
        self.stopped, self._outcome, self._decided = True, outcome, end
        if isinstance(last, str) and self._buffer.is_text:
            self._say(last)
        elif outcome is Outcome.REPLACED:  # in the form that the application gives its own items
            self._leaving.append(last)


class HeldStream(StreamGuard):
    """A sentence leaves after its verdict."""

    async def _check_sentences(self) -> None:
        if (end := self._complete_until()) > self._decided:
            await self._decide(end)
        else:
            self._let_go(self._decided)

    async def _finish(self) -> None:
        end = len(self._buffer.text)
        if self._buffer.text[self._decided :].strip():
            await self._decide(end)
        if self.stopped:
            return
        self._let_go(end)
        if self._outcome is Outcome.REMOVED and not "".join(self._left).strip():
            self._outcome = Outcome.BLOCKED
            self._say(self._guard.refusal)

    async def _decide(self, end: int) -> None:
        verdict = await self._guarding.check(self._snapshot(end))
        segment, found = self._buffer.text[self._decided : end], self._found(verdict, end)
        if verdict.finding is Finding.NOT_JUDGED and (found is None or self._guard.default == "block"):
            self._without_verdict(verdict, end)
            return
        self._verdict = verdict
        if found is None:
            self._let_go(end)
            return
        self._unsupported = self._unsupported or verdict
        self._guarding.unsupported += max(1, len(found))
        if self._guard.action == "annotate":
            self._outcome = Outcome.ANNOTATED
            self._let_go(end, annotated(segment, found, self._guard.note))
        elif self._guard.action == "remove" and found and self._buffer.is_text:
            self._outcome = Outcome.REMOVED
            self._let_go(end, without(segment, found))
        else:
            await self._refuse(verdict, end)

    def _found(self, verdict: GuardVerdict, end: int) -> list[Range] | None:
        """The unsupported sentences since the last verdict, as offsets in what was said since. None if there are none;
        empty if the metric does not say which they are. Repetitions of earlier ones are found whatever the verdict."""
        located = self._guarding.located(self._buffer.text[:end], verdict, self._decided)
        since = [
            (max(first, self._decided) - self._decided, last - self._decided)
            for first, last in located
            if last > self._decided
        ]
        if since:
            return since
        if verdict.finding is not Finding.UNSUPPORTED or self._unsupported is not None:
            return None
        if not (located and self._guard.action in ("annotate", "remove")):
            return since
        return None  # the verdict is about sentences that were dealt with before, or that have left without one

    def _let_go(self, until: int, text: str | None = None) -> None:
        segment, self._decided = self._buffer.text[self._decided : until] if text is None else text, until
        if self._buffer.is_text:
            self._say(segment)
        else:
            self._leaving.extend(self._buffer.items(until))


class ReleasedStream(StreamGuard):
    """Everything leaves at once; one check at a time runs beside the stream, and may end it."""

    _pending: Check | None = None
    _noted = False

    async def _take(self, item: Any) -> None:
        self._leaving.append(item)
        await super()._take(item)
        for _ in self._buffer.items(len(self._buffer.text)):
            pass  # they have left

    async def _check_sentences(self) -> None:
        pending = self._pending
        if pending is not None and (pending.done or pending.is_overdue):
            self._pending = None
            await self._heed(pending.verdict())
        if self._pending is None and not self.stopped and not self._passing:
            end = self._complete_until()
            if end > self._decided:
                self._begin(end)

    async def _finish(self) -> None:
        text = self._buffer.text
        if not text.strip():
            return
        if text[self._decided :].strip():
            self._begin(len(text))
        if self._pending is not None:
            await self._heed(await self._guarding.wait_for(self._pending))
        if self._noted and not self.stopped:
            self._outcome = Outcome.ANNOTATED
            self._say(self._guard.note)

    def _begin(self, end: int) -> None:
        begun = self._guarding.begin(self._snapshot(end))
        self._decided = end
        self._pending = None
        if isinstance(begun, GuardVerdict):
            self._without_verdict(begun, end)
        else:
            self._pending = begun

    async def _heed(self, verdict: GuardVerdict) -> None:
        """A verdict on what has left already."""
        self._verdict = verdict
        if verdict.finding is Finding.NOT_JUDGED:
            self._without_verdict(verdict, self._decided)
        elif verdict.finding is Finding.UNSUPPORTED:
            self._unsupported = self._unsupported or verdict
            self._guarding.unsupported = max(1, len(self._guarding.located(verdict.response or "", verdict)))
            if self._guard.action == "annotate":
                self._noted = True  # at the end, not in the middle of a sentence
            else:
                await self._refuse(verdict, self._decided)

    def _stop(self, last: Any, outcome: Outcome, end: int) -> None:
        # What has left may end in the middle of a sentence.
        super()._stop(f"\n\n{last}" if isinstance(last, str) and self._buffer.is_text else last, outcome, end)

    def _let_go(self, until: int, text: str | None = None) -> None:
        """Nothing is held."""

    def _record(self) -> None:
        self._left.insert(0, self._buffer.text)
        super()._record()
