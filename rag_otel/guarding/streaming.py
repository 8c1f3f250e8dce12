"""A stream that is checked sentence by sentence: what leaves, and where it stops.

Each check judges everything that the stream has said up to the end of a sentence. So a sentence is judged in its
context, and the last check is the evaluation of the whole answer. Of each verdict counts what it says about the
sentences since the check before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, Final, TypeAlias

from rag_otel.guarding.acting import FAILED_REPLACEMENT, NO_SETUP, Asked, Failed, GuardedCall, Step
from rag_otel.guarding.check import Check
from rag_otel.guarding.heard import Heard
from rag_otel.guarding.rules import Finding, Guarded, GuardVerdict, Outcome
from rag_otel.guarding.texts import Range, annotated, without
from rag_otel.model import ReasonCode
from rag_otel.observing.call import Observation
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.observing.transcript import Transcript

NO_RESPONSE: Final = "no_response"


class Emit:
    """Something that leaves now."""

    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item


Pieces: TypeAlias = Generator[Step | Emit, Any, None]


class StreamGuard(ABC):
    """The guard of one stream: `take` each item, `finish` after the last one, and end the stream where it `stopped`."""

    def __init__(self, guarding: GuardedCall, call: Observation, transcript: Transcript) -> None:
        self._guarding = guarding
        self._guard = guarding.guard
        self._call = call
        self._heard = Heard(transcript, call.answer_in)
        self._decided = 0
        """Characters of the text about which there is a verdict, or none to be had."""
        self._left: list[str] = []
        self._verdict: GuardVerdict | None = None
        self._unsupported: GuardVerdict | None = None
        """The first verdict of this kind."""
        self._outcome = Outcome.PASSED
        self._passing = guarding.off
        """True where nothing is checked any more."""
        self.stopped = False

    def take(self, item: Any) -> Pieces:
        """What leaves after the next item. The transcript has it already."""
        if self._passing:
            self._left.append(item if isinstance(item, str) else "")
            yield Emit(item)
            return
        self._heard.add(item)
        yield from self._taken(item)

    def finish(self) -> Pieces:
        """What leaves after the last item."""
        if not self._passing and not self.stopped:
            yield from self._finished()

    @abstractmethod
    def _taken(self, item: Any) -> Pieces: ...

    @abstractmethod
    def _finished(self) -> Pieces: ...

    @abstractmethod
    def _let_go(self, until: int, text: str | None = None) -> Generator[Emit, Any, None]:
        """What is held and was said before `until` leaves; `text` in its place, where items are text."""

    def give_up(self) -> list[Any]:
        """What leaves after an error of ours, by the guard's default. Nothing is checked any more."""
        if self._guard.default == "block":
            self.stopped, self._outcome = True, Outcome.BLOCKED
            return [each.item for each in self._say(self._guard.refusal)]
        self._pass_on()
        return [each.item for each in self._let_go(len(self._heard.text))]

    def _pass_on(self) -> None:
        """Check nothing more. The whole answer is judged afterwards, like that of any call."""
        self._passing = True
        self._guarding.forget()

    def record(self) -> None:
        """Leave on the call what was done."""
        if self._guarding.off:
            return
        verdict = self._unsupported or self._verdict or GuardVerdict(finding=Finding.NOT_JUDGED, reason=NO_RESPONSE)
        altered = self._outcome is not Outcome.PASSED and self._heard.is_text
        guarded = Guarded(response=None, outcome=self._outcome, verdict=verdict)
        self._guarding.record(guarded, left="".join(self._left) if altered else None)

    @property
    def judged_text(self) -> str:
        """What the stream has said, up to where it was stopped."""
        return self._heard.text[: self._decided] if self.stopped else self._heard.text

    # --- for both kinds -----------------------------------------------------------------------------------------------

    def _complete_until(self) -> int:
        """Where the last sentence begins, which may still go on: what is before is complete."""
        rest = self._heard.text[self._decided :]
        starts = [start for start, _ in self._guarding.sentences(rest)]
        # Whether a full stop ends a sentence is known when the word behind it is.
        while len(starts) > 1 and len(rest[starts[-1] :].split(None, 1)) < 2:
            starts.pop()
        return self._decided + (starts[-1] if len(starts) > 1 else 0)

    def _snapshot(self, end: int) -> Snapshot:
        return self._call.so_far(self._heard.result, self._heard.text[:end])

    def _say(self, text: str) -> Generator[Emit, Any, None]:
        """A text of the guard's own, where items are text."""
        if text and self._heard.is_text is not False:
            self._left.append(text)
            yield Emit(self._heard.as_item(text))

    def _without_verdict(self, verdict: GuardVerdict, end: int) -> Pieces:
        """There is no verdict on what was said before `end`: the default applies."""
        self._verdict = verdict
        if self._guard.default == "block":
            self._decided = end
            yield from self._stop_with(self._guard.refusal, Outcome.BLOCKED)
        else:
            yield from self._let_go(end)

    def _never_judged(self) -> str | None:
        """Why there will be no verdict on what the stream has said and says from here on; None: there may be one."""
        if self._heard.cut:
            return ReasonCode.TOO_LONG
        return NO_SETUP if self._guarding.runtime is None and self._heard.text.strip() else None

    def _rest_without_verdict(self, reason: str) -> Pieces:
        yield from self._without_verdict(GuardVerdict(finding=Finding.NOT_JUDGED, reason=reason), len(self._heard.text))
        if not self.stopped:
            self._pass_on()

    def _stop(self, verdict: GuardVerdict, end: int) -> Pieces:
        """Nothing more of the answer leaves: in its place the refusal, or the application's replacement."""
        if self._guard.action != "replace":
            self._decided = end
            yield from self._stop_with(self._guard.refusal, Outcome.BLOCKED)
            return
        given = yield Asked(self._guard, verdict)
        if not isinstance(given, Failed):
            self._decided = end
            yield from self._stop_with(given, Outcome.REPLACED)
            return
        self._unsupported = GuardVerdict(
            finding=verdict.finding, evaluation=verdict.evaluation, reason=FAILED_REPLACEMENT
        )
        for item in self.give_up():
            yield Emit(item)

    def _stop_with(self, last: Any, outcome: Outcome) -> Pieces:
        self.stopped, self._outcome = True, outcome
        if isinstance(last, str) and self._heard.is_text:
            yield from self._say(last)
        elif outcome is Outcome.REPLACED:  # in the form that the application gives its own items
            yield Emit(last)


class HeldStream(StreamGuard):
    """A sentence leaves after its verdict."""

    def _taken(self, item: Any) -> Pieces:
        if (reason := self._never_judged()) is not None:
            yield from self._rest_without_verdict(reason)
        elif (end := self._complete_until()) > self._decided:
            yield from self._decide(end)
        else:
            yield from self._let_go(self._decided)

    def _finished(self) -> Pieces:
        end = len(self._heard.text)
        if self._heard.text[self._decided :].strip():
            yield from self._decide(end)
        if self.stopped:
            return
        yield from self._let_go(end)
        if self._outcome is Outcome.REMOVED and not "".join(self._left).strip():
            self._outcome = Outcome.BLOCKED
            yield from self._say(self._guard.refusal)

    def _decide(self, end: int) -> Pieces:
        verdict = yield from self._guarding.check(self._snapshot(end))
        if verdict.finding is Finding.NOT_JUDGED:
            yield from self._without_verdict(verdict, end)
            return
        self._verdict = verdict
        segment, found = self._heard.text[self._decided : end], self._found(verdict, end)
        if found is None:
            yield from self._let_go(end)
            return
        self._unsupported = self._unsupported or verdict
        self._guarding.unsupported += max(1, len(found))
        if self._guard.action == "annotate":
            self._outcome = Outcome.ANNOTATED
            yield from self._let_go(end, annotated(segment, found, self._guard.note))
        elif self._guard.action == "remove" and found and self._heard.is_text:
            self._outcome = Outcome.REMOVED
            yield from self._let_go(end, without(segment, found))
        else:
            yield from self._stop(verdict, end)

    def _found(self, verdict: GuardVerdict, end: int) -> list[Range] | None:
        """The unsupported sentences since the last verdict, as offsets in what was said since. None if there are none;
        empty if the metric does not say which they are."""
        if verdict.finding is not Finding.UNSUPPORTED:
            return None
        located = self._guarding.located(self._heard.text[:end], verdict)
        since = [
            (max(first, self._decided) - self._decided, last - self._decided)
            for first, last in located
            if last > self._decided
        ]
        if since or (self._unsupported is None and not (located and self._guard.action in ("annotate", "remove"))):
            return since
        return None  # the verdict is about sentences that were dealt with before, or that have left without one

    def _let_go(self, until: int, text: str | None = None) -> Generator[Emit, Any, None]:
        segment, self._decided = self._heard.text[self._decided : until] if text is None else text, until
        if self._heard.is_text:
            yield from self._say(segment)
        else:
            for item in self._heard.items(until):
                yield Emit(item)


class ReleasedStream(StreamGuard):
    """Everything leaves at once. One check at a time runs beside the stream, which ends when one finds something."""

    def __init__(self, guarding: GuardedCall, call: Observation, transcript: Transcript) -> None:
        super().__init__(guarding, call, transcript)
        self._pending: Check | None = None
        self._noted = False

    def _taken(self, item: Any) -> Pieces:
        yield Emit(item)
        for _ in self._heard.items(len(self._heard.text)):
            pass  # they have left
        if (reason := self._never_judged()) is not None:
            yield from self._rest_without_verdict(reason)
            return
        pending = self._pending
        if pending is not None and (pending.done or pending.is_overdue):
            self._pending = None
            yield from self._heed(pending.verdict())
        if self._pending is None and not self.stopped and not self._passing:
            end = self._complete_until()
            if end > self._decided:
                yield from self._begin(end)

    def _finished(self) -> Pieces:
        text = self._heard.text
        if not text.strip():
            return
        if text[self._decided :].strip():
            self._pending = None
            yield from self._begin(len(text))
        if self._pending is not None:
            verdict = yield self._pending
            yield from self._heed(verdict)
        if self._noted and not self.stopped:
            self._outcome = Outcome.ANNOTATED
            yield from self._say(self._guard.note)

    def _begin(self, end: int) -> Pieces:
        begun = self._guarding.begin(self._snapshot(end))
        self._decided = end
        if isinstance(begun, GuardVerdict):
            yield from self._without_verdict(begun, end)
        else:
            self._pending = begun

    def _heed(self, verdict: GuardVerdict) -> Pieces:
        """A verdict on what has left already."""
        self._verdict = verdict
        if verdict.finding is Finding.NOT_JUDGED:
            yield from self._without_verdict(verdict, self._decided)
        elif verdict.finding is Finding.UNSUPPORTED:
            self._unsupported = self._unsupported or verdict
            self._guarding.unsupported = max(1, len(self._guarding.located(verdict.response or "", verdict)))
            if self._guard.action == "annotate":
                self._noted = True  # at the end, not in the middle of a sentence
            else:
                yield from self._stop(verdict, self._decided)

    def _stop_with(self, last: Any, outcome: Outcome) -> Pieces:
        # What has left may end in the middle of a sentence.
        yield from super()._stop_with(f"\n\n{last}" if isinstance(last, str) and self._heard.is_text else last, outcome)

    def _let_go(self, until: int, text: str | None = None) -> Generator[Emit, Any, None]:
        yield from ()

    def record(self) -> None:
        self._left.insert(0, self._heard.text)
        super().record()
