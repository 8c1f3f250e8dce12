"""A cache of answers in the memory of one process."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final

from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import counters
from rag_otel_evaluators.llm.cache import HIT, MISS

MAX_BYTES: Final = 32 * 2**20


class MemoryCache:
    """An `AnswerCache` that forgets what was not asked for longest, beyond `max_bytes` of text."""

    def __init__(
        self,
        *,
        max_bytes: int = MAX_BYTES,
        keep_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_bytes = max_bytes
        self._keep_s = keep_s
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._bytes = 0
        after_fork_in_child(self._after_fork)

    def get(self, key: str) -> dict[str, Any] | None:
        """See `AnswerCache.get`."""
        with self._lock:
            found = self._answers.get(key)
            if found is not None and self._keep_s is not None and self._clock() - found[1] > self._keep_s:
                self._forget(key)
                found = None
            if found is not None:
                self._answers.move_to_end(key)
        counters.add(MISS if found is None else HIT)
        answer: dict[str, Any] | None = None if found is None else json.loads(found[0])
        return answer

    def put(self, key: str, answer: Mapping[str, Any]) -> None:
        """See `AnswerCache.put`."""
        text = json.dumps(answer)
        with self._lock:
            self._forget(key)
            self._answers[key] = (text, self._clock())
            self._bytes += len(key) + len(text)
            while self._bytes > self._max_bytes:
                self._forget(next(iter(self._answers)))

    def claim(self, key: str, expires_s: float) -> bool:
        """Always True: no other process has this memory."""
        return True

    def release(self, key: str) -> None:
        """Nothing is claimed."""

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()
            self._bytes = 0

    def _forget(self, key: str) -> None:
        if (found := self._answers.pop(key, None)) is not None:
            self._bytes -= len(key) + len(found[0])

    def _after_fork(self) -> None:
        self._lock = threading.Lock()
