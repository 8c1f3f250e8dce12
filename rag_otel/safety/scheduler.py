"""The daemon threads of everything that waits for its time: deadlines, queues, digests, monitors, renewals.

    due part -> one thread runs it ; the second one watches, and runs what becomes due while the first one is stuck

One scheduler serves the whole process. It has no thread before the first part, two while there are parts, and one more
for each part that hangs: a destination that is down holds up no other. A part is run by one thread at a time. A prompt
part waits for no other one: the thread that watches runs it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import guarded
from rag_otel.safety.tracing_suppression import suppressed

_LONGEST_S: Final = 60.0
"""Longest sleep: the wall clock may have been set in between."""
_SHORTEST_S: Final = 0.05
"""Shortest time between two runs of a part: one that is always due must not keep a core busy."""
_STUCK_S: Final = 0.2
"""A part that has run for so long is left behind, and another thread runs the next one."""
_THREADS: Final = 2


@runtime_checkable
class Ticking(Protocol):
    """Has work to do at certain times."""

    def due(self) -> float | None:
        """When `tick` has something to do next, in seconds since the epoch; None: nothing to do."""
        ...

    def tick(self) -> None:
        """Do what is due."""
        ...

    def after_fork(self) -> None:
        """Start over in a forked child."""
        ...

    def close(self) -> None:
        """The process ends: save what must survive it. May be called twice."""
        ...


class Scheduled(Protocol):
    """The two methods that the scheduler calls, on its threads."""

    def due(self) -> float | None: ...

    def tick(self) -> None: ...


class Scheduler:
    """Calls `tick` of every part at its `due` time. Thread-safe; a forked child starts without parts."""

    def __init__(self) -> None:
        self._start_over()
        after_fork_in_child(self._start_over)

    def _start_over(self) -> None:
        self._changed = threading.Condition()
        self._parts: dict[int, Scheduled] = {}
        self._running: dict[int, float] = {}
        """Since when each part runs that runs now."""
        self._not_before: dict[int, float] = {}
        """When each part may run again, monotonic seconds."""
        self._prompt: set[int] = set()
        """Parts that wait for no other one."""
        self._wakes = 0
        """How often somebody has said that something may have become due."""
        self._threads = 0
        self._idle = 0
        """Threads that wait."""

    def add(self, *parts: Scheduled, prompt: bool = False) -> bool:
        """Run these parts from now on, or sooner than they said. False where there are none, or no thread can be
        started: the system has none left, or the interpreter ends.

        `prompt` is for what must not wait, takes a few milliseconds, and is due seldom enough by itself.
        """
        with self._changed:
            for part in parts:
                self._parts[id(part)] = part
                self._not_before.pop(id(part), None)
                if prompt:
                    self._prompt.add(id(part))
        return self.wake()

    def remove(self, *parts: Scheduled) -> None:
        """Run them no more; a run under way ends by itself. The threads end with the last part."""
        with self._changed:
            for part in parts:
                self._parts.pop(id(part), None)
                self._not_before.pop(id(part), None)
                self._prompt.discard(id(part))
            self._wakes += 1
            self._changed.notify_all()

    @property
    def parts(self) -> Sequence[Scheduled]:
        """What is run now and then."""
        with self._changed:
            return list(self._parts.values())

    def wake(self) -> bool:
        """Ask every part again when it is due. What `add` returns."""
        with self._changed:
            self._wakes += 1
            self._changed.notify()  # one is enough to look; the other one watches
            return self._threads > 0 or (bool(self._parts) and self._start_thread())

    def _start_thread(self) -> bool:
        thread = threading.Thread(target=self._run, name="rag-otel-scheduler", daemon=True)
        self._threads += 1
        try:
            thread.start()
        except RuntimeError:
            self._threads -= 1
            return False
        return True

    # --- the threads ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        changed = self._changed  # of this process: a fork inside a part gives the child another one
        with suppressed():
            while (part := self._next()) is not None:
                try:
                    with guarded("scheduler"):
                        part.tick()
                except BaseException:
                    with changed:
                        self._threads -= 1
                    raise
                finally:
                    with changed:
                        self._running.pop(id(part), None)
                        if id(part) in self._parts and id(part) not in self._prompt:
                            self._not_before[id(part)] = time.monotonic() + _SHORTEST_S

    def _next(self) -> Scheduled | None:
        """Wait for a part that is due, and that no thread runs; None when this thread is not needed any more."""
        while True:
            with self._changed:
                wakes = self._wakes
                waiting = [part for part in self._parts.values() if id(part) not in self._running]
            waits = [(wait_s, part) for part in waiting if (wait_s := self._wait_s(part)) is not None]
            with self._changed:
                if wakes != self._wakes:
                    continue
                if not self._parts or (self._idle and self._threads > _THREADS):
                    self._threads -= 1  # under the lock: who adds a part now starts a thread
                    self._changed.notify()  # the one that stays has not seen what this one has just run
                    return None
                pause_s, first = self._soonest(waits)
                if pause_s <= 0 and first is not None:
                    self._running[id(first)] = time.monotonic()
                    self._let_another_watch(prompt=id(first) in self._prompt)
                    return first
                self._idle += 1
                self._changed.wait(min(_LONGEST_S, pause_s))
                self._idle -= 1

    def _soonest(self, waits: Sequence[tuple[float, Scheduled]]) -> tuple[float, Scheduled | None]:
        """The part that may be run first, and in how many seconds. One that is not prompt waits until every part that
        runs now has ended, or is stuck."""
        now = time.monotonic()
        stuck_s = max(self._running.values(), default=-math.inf) + _STUCK_S - now
        may_run = []
        for wait_s, part in waits:
            if id(part) in self._running:  # another thread was quicker
                continue
            if id(part) not in self._prompt:  # where another thread has just run it, it is asked again after that
                wait_s = max(wait_s, stuck_s, self._not_before.get(id(part), now) - now)
            may_run.append((wait_s, part))
        return min(may_run, key=lambda each: each[0], default=(_LONGEST_S, None))

    def _let_another_watch(self, *, prompt: bool) -> None:
        """This thread begins to run a part. After a prompt one it watches again in a moment, so that no other thread
        need be woken; but there must be one, which a part that is added wakes."""
        if self._idle and not prompt:
            self._changed.notify()
        elif not self._idle and not (prompt and self._threads >= _THREADS):
            self._start_thread()

    def _wait_s(self, part: Scheduled) -> float | None:
        """Seconds until the part is due; None: it has nothing to do."""
        with guarded("scheduler"):
            if (at := part.due()) is not None:
                return at - time.time()
        return None


scheduler: Final = Scheduler()
"""Of this process."""
