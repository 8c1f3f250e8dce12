"""Calls objects back around forks, for as long as they live; a lock that no fork leaves locked."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable

from rag_otel.safety.guard import guarded


class _Callbacks:
    """Bound methods of objects that may die meanwhile."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._methods: list[weakref.WeakMethod[Callable[[], None]]] = []

    def add(self, method: Callable[[], None]) -> None:
        # A new list: a fork of another thread may be going through the old one.
        self._methods = [*(each for each in self._methods if each() is not None), weakref.WeakMethod(method)]

    def call(self) -> None:
        for each in self._methods:
            with guarded(self._place):
                if (alive := each()) is not None:
                    alive()


_before = _Callbacks("before_fork")
_in_parent = _Callbacks("after_fork_in_parent")
_in_child = _Callbacks("after_fork")


def around_fork(before: Callable[[], None], in_parent: Callable[[], None]) -> None:
    """Call one bound method before every fork, on the thread that forks, and the other one after it in the parent."""
    _before.add(before)
    _in_parent.add(in_parent)


def after_fork_in_child(method: Callable[[], None]) -> None:
    """Call a bound method in every forked child."""
    _in_child.add(method)


class ForkSafeLock:
    """A re-entrant lock. In a forked child it is free where another thread held it: that thread is not there."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        after_fork_in_child(self._free)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _free(self) -> None:
        if self._lock.acquire(blocking=False):  # free, or held by the thread that forks
            self._lock.release()
        else:
            self._lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before.call, after_in_parent=_in_parent.call, after_in_child=_in_child.call)
