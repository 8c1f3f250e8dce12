"""The threads that keep the time."""

from __future__ import annotations

import threading
import time

import pytest

from rag_otel.safety.guard import counters
from rag_otel.safety.scheduler import Scheduler
from testkit.polling import eventually


class Part:
    """Due when told to be; `error` is raised by every tick."""

    def __init__(self, error: Exception | None = None) -> None:
        self.at: float | None = None
        self.ticks = 0
        self._error = error

    def due(self) -> float | None:
        return self.at

    def tick(self) -> None:
        self.at = None
        self.ticks += 1  # last: a test that sees it sets a new time
        if self._error is not None:
            raise self._error

    def after_fork(self) -> None: ...

    def close(self) -> None: ...


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "rag-otel-scheduler"}


def test_what_becomes_due_earlier_is_not_waited_for_longer() -> None:
    """The thread sleeps towards an hour from now; a wake lets it look again. It ends with the last part."""
    part, before, scheduler = Part(), threads(), Scheduler()
    part.at = time.time() + 3600
    assert scheduler.add(part)
    assert part.ticks == 0
    part.at = time.time()
    scheduler.wake()
    eventually(lambda: part.ticks == 1)
    scheduler.remove(part)
    eventually(lambda: threads() <= before)


def test_a_part_that_fails_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted; the others, and its own next tick, go on."""
    monkeypatch.delenv("RAG_OTEL_RAISE_INTERNAL_ERRORS")
    before = counters.get("internal_error.scheduler")
    broken, sound, scheduler = Part(ValueError("bug")), Part(), Scheduler()
    for count in (1, 2):
        broken.at = sound.at = time.time()
        scheduler.add(broken, sound)
        eventually(lambda count=count: (broken.ticks, sound.ticks) == (count, count))  # type: ignore[misc]
    assert counters.get("internal_error.scheduler") == before + 2
    scheduler.remove(broken, sound)


def test_what_another_thread_has_just_run_is_not_run_again() -> None:
    """Two threads wake at the same time. One of them has heard that the part is due, and goes on when the other one has
    run it."""
    part, before, scheduler = Part(), threads(), Scheduler()
    slow_to_say = SlowToSay(part)
    part.at = time.time()
    scheduler.add(part, slow_to_say)
    eventually(lambda: part.ticks == 1 and len(threads() - before) == scheduler._idle == 2)
    slow_to_say.armed = True
    part.at = time.time() + 0.2
    for _ in range(2):
        scheduler.wake()  # both will wait for the same moment
    eventually(lambda: part.ticks == 2)
    asked = slow_to_say.asked
    slow_to_say.go_on.set()
    eventually(lambda: slow_to_say.asked >= asked + 1 and scheduler._idle == 2)
    assert part.ticks == 2
    scheduler.remove(part, slow_to_say)


class SlowToSay(Part):
    """Never due. When `armed`, it says so late to the first thread that asks while another part is due."""

    armed = False
    asked = 0

    def __init__(self, other: Part) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self._other = other

    def due(self) -> float | None:
        self.asked += 1
        if self.armed and self._other.at is not None and self._other.at <= time.time():
            self.armed = False
            self.go_on.wait(60)
        return None


@pytest.mark.parametrize("prompt", [False, True])
def test_a_part_that_hangs_holds_up_nobody(prompt: bool) -> None:
    """Another thread takes over, and the part itself is not run twice at once."""
    go_on = threading.Event()

    class Hanging(Part):
        def tick(self) -> None:
            super().tick()
            self.at = time.time()
            go_on.wait()

    hanging, sound, scheduler = Hanging(), Part(), Scheduler()
    hanging.at = time.time()
    scheduler.add(hanging, prompt=prompt)
    eventually(lambda: hanging.ticks == 1)
    scheduler.add(sound)
    for count in (1, 2, 3):
        sound.at = time.time()
        scheduler.wake()
        eventually(lambda count=count: sound.ticks == count)  # type: ignore[misc]
    assert hanging.ticks == 1
    go_on.set()
    eventually(lambda: hanging.ticks > 1)
    scheduler.remove(hanging, sound)


def test_a_part_that_is_due_again_at_its_end_is_run_again() -> None:
    """Also where the thread that ran it is not needed any more, and the one that stays sleeps."""
    go_on, scheduler = threading.Event(), Scheduler()

    class Hanging(Part):
        def tick(self) -> None:
            super().tick()
            go_on.wait()

    class DueAgain(Part):
        def tick(self) -> None:
            eventually(lambda: scheduler._idle == 1)
            super().tick()
            self.at = time.time() if self.ticks == 1 else None

    hanging, again = Hanging(), DueAgain()
    hanging.at = time.time()
    scheduler.add(hanging)
    eventually(lambda: hanging.ticks == 1)
    again.at = time.time()
    scheduler.add(again)
    eventually(lambda: again.ticks == 2, within_s=40)  # a thread that nobody wakes sleeps for 60 s
    go_on.set()
    scheduler.remove(hanging, again)


def test_a_prompt_part_waits_for_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even while another one runs that is not stuck yet."""
    monkeypatch.setattr("rag_otel.safety.scheduler._STUCK_S", 1e6)
    begun, go_on = threading.Event(), threading.Event()

    class Long(Part):
        def tick(self) -> None:
            super().tick()
            begun.set()
            go_on.wait()

    slow, prompt, scheduler = Long(), Part(), Scheduler()
    scheduler.add(prompt, prompt=True)
    slow.at = time.time()
    scheduler.add(slow)
    assert begun.wait(90)
    for count in (1, 2, 3):
        prompt.at = time.time()
        scheduler.wake()
        eventually(lambda count=count: prompt.ticks == count)  # type: ignore[misc]
    go_on.set()
    scheduler.remove(slow, prompt)


def test_one_without_parts_starts_no_thread() -> None:
    """Not even when woken."""
    before, scheduler = threads(), Scheduler()
    assert not scheduler.wake()
    assert not scheduler.add()
    assert threads() <= before
