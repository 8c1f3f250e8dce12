"""Threads for what blocks in an evaluation (a sync metric, a file, a name to resolve), also while the process ends.

The executor of the standard library refuses work once the main thread is through, just when a script that ends at once
has its answers evaluated, and it keeps the process from exiting until every call is done. This one does neither.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.thread import ThreadPoolExecutor
from typing import Any, Final, ParamSpec, TypeVar

from rag_otel.safety.fork import after_fork_in_child

P = ParamSpec("P")
T = TypeVar("T")
MAX_THREADS: Final = 32


class DaemonExecutor(ThreadPoolExecutor):
    """Runs calls on daemon threads, `max_workers` at once. A thread ends when nothing waits.

    Calls that never return take up a thread each: with all of them taken the others wait. Where no thread can be
    started, a call is made by who submits it. By its type the default executor of an event loop.
    """

    def __init__(self, max_workers: int = MAX_THREADS) -> None:
        super().__init__(max_workers)
        self._most = max_workers
        self._closed = False
        self._start_over()
        after_fork_in_child(self._start_over)

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._calls: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._threads_now = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.add_done_callback(self._forget_cancelled)
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._calls.append((future, lambda: fn(*args, **kwargs)))
            if self._threads_now >= self._most:
                return future
            self._threads_now += 1
        thread = threading.Thread(target=self._work, name="rag-otel-blocking", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has none left, or the interpreter is ending
            self._work()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls. Those that wait are cancelled; those that run are left to themselves."""
        with self._lock:
            self._closed = True
            calls, self._calls = self._calls, deque()
        for future, _ in calls:
            future.cancel()

    def _forget_cancelled(self, future: Future[Any]) -> None:
        """Drop a call that nobody waits for: while all threads hang, no other one would."""
        if future.cancelled():
            with self._lock:
                self._calls = deque(each for each in self._calls if each[0] is not future)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._calls:
                    self._threads_now -= 1
                    return
                future, call = self._calls.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - who waits for it gets it; `sys.exit()` in it ends nothing
                future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))
            else:
                future.set_result(result)
            del future, call
