"""A cache of answers that several machines share: a Redis server (extra `scale`)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rag_otel.safety.extras import require_extra
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import counters
from rag_otel_evaluators.llm.cache import HIT, MISS, report_failure

if TYPE_CHECKING:
    import redis

T = TypeVar("T")
_ANSWER: Final = "{rag-otel}:answer:"
_CLAIM: Final = "{rag-otel}:asking:"
_TIMEOUT_S: Final = 2.0


class RedisCache:
    """An `AnswerCache` on a Redis server, 6 or newer. While it is away nothing is cached, and judging goes on."""

    def __init__(self, url: str, *, keep_s: float | None = None) -> None:
        """`url`: `redis://host:6379/0`, `rediss://...` with TLS, `unix://...`. Raises ConfigurationError without the
        extra. The server is asked at the first use."""
        require_extra("scale", "redis", needed_by="judge_cache=redis://...")
        self._url = url
        self._keep_s = None if keep_s is None else max(1, round(keep_s))
        self._lock = threading.Lock()
        self._client: redis.Redis | None = None
        after_fork_in_child(self._after_fork)

    def get(self, key: str) -> dict[str, Any] | None:
        """See `AnswerCache.get`."""
        text = self._try("read", lambda client: client.get(_ANSWER + key), None)
        found: object = None
        try:
            found = None if text is None else json.loads(str(text))
        except ValueError as error:
            report_failure("Redis", "read", error)
        counters.add(HIT if isinstance(found, dict) else MISS)
        return found if isinstance(found, dict) else None

    def put(self, key: str, answer: Mapping[str, Any]) -> None:
        """See `AnswerCache.put`."""
        self._try("write", lambda client: client.set(_ANSWER + key, json.dumps(answer), ex=self._keep_s), None)

    def claim(self, key: str, expires_s: float) -> bool:
        """See `AnswerCache.claim`."""
        milliseconds = max(1, round(expires_s * 1_000))
        return self._try("write", lambda client: bool(client.set(_CLAIM + key, "1", nx=True, px=milliseconds)), True)

    def release(self, key: str) -> None:
        """See `AnswerCache.release`."""
        self._try("write", lambda client: client.delete(_CLAIM + key), None)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _try(self, what: str, ask: Callable[[redis.Redis], T], otherwise: T) -> T:
        import redis

        try:
            with self._lock:
                if self._client is None:
                    self._client = redis.Redis.from_url(
                        self._url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S, decode_responses=True
                    )
                client = self._client
            return ask(client)
        except redis.RedisError as error:
            report_failure("Redis", what, error)
            return otherwise

    def _after_fork(self) -> None:
        """A connection must not be used by two processes: the child opens its own."""
        self._lock = threading.Lock()
        self._client = None
