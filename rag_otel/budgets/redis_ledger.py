"""The ledger of several machines: a Redis server (extra `scale`).

Each booking holds a lock on the server for a few milliseconds, and is written only if the lock is still its own. The
time is the server's: machines need not agree on it. All keys have one hash tag, so a cluster keeps them together.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from rag_otel.budgets.ledger import KEEP_S, Account, Ledger
from rag_otel.errors import LedgerError
from rag_otel.safety.extras import require_extra
from rag_otel.safety.redaction import redacted_text

if TYPE_CHECKING:
    import redis

_PREFIX: Final = "{rag-otel}:budget:2:"
"""With the version of what is stored."""
_LOCK: Final = f"{_PREFIX}lock"
_LOCK_S: Final = 5.0
"""A process that holds the lock for longer has stopped: another one gets it, and the first writes nothing."""
_LOOK_S: Final = 0.002
_TIMEOUT_S: Final = 2.0
_EMPTY: Final = Account().as_text()


class RedisLedger(Ledger):
    """A `Ledger` on a Redis server, 6 or newer."""

    def __init__(self, url: str) -> None:
        """`url`: `redis://host:6379/0`, `rediss://...` with TLS, `unix://...`. Raises ConfigurationError without the
        extra. The server is asked when the first booking is made."""
        require_extra("scale", "redis", needed_by="budget_store=redis://...")
        super().__init__(self._server_time)
        self._url = url
        self._client: redis.Redis | None = None

    def agree(self, key: str, value: str, keep_s: float) -> str:
        with self._connected() as client:
            client.set(_PREFIX + key, value, nx=True, ex=max(1, round(keep_s)))
            return str(client.get(_PREFIX + key))

    def after_fork(self) -> None:
        """A connection must not be used by two processes: the child opens its own."""
        self._lock = threading.RLock()
        self._client = None

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _server_time(self) -> float:
        with self._connected() as client:
            seconds, microseconds = client.time()
            return float(seconds) + float(microseconds) / 1e6

    @contextmanager
    def _accounts(self, names: Sequence[str]) -> Iterator[Sequence[Account]]:
        with (
            self._connected() as client,
            client.lock(_LOCK, timeout=_LOCK_S, blocking_timeout=_TIMEOUT_S, sleep=_LOOK_S),
            client.pipeline() as commands,
        ):
            commands.watch(_LOCK)  # type: ignore[no-untyped-call]  # if it is lost, `execute` writes nothing
            stored = _texts(commands, names)
            accounts = {name: Account.from_text(stored[name]) for name in stored}
            yield [accounts[name] for name in names]
            commands.multi()
            for name, account in accounts.items():
                if (text := account.as_text()) != (stored[name] or _EMPTY):
                    commands.set(_PREFIX + name, text, ex=round(KEEP_S))
                    listed = _PREFIX + name[name.rindex("@") :]
                    commands.sadd(listed, name)
                    commands.expire(listed, round(KEEP_S))
            commands.execute()

    def _ending_in(self, suffix: str) -> Mapping[str, Account]:
        with self._connected() as client:
            names = sorted(map(str, client.smembers(_PREFIX + suffix)))
            return {name: Account.from_text(text) for name, text in _texts(client, names).items()}

    @contextmanager
    def _connected(self) -> Iterator[redis.Redis]:
        """The client. Raises LedgerError where the server cannot be reached, or the lock cannot be had."""
        import redis

        with self._lock:
            if self._client is None:
                # A booking that was made and whose answer was lost must not be made again: a second reservation would
                # stay until it expires. So nothing is retried here.
                self._client = redis.Redis.from_url(
                    self._url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S, decode_responses=True
                )
            client = self._client
        try:
            yield client
        except redis.RedisError as error:
            raise LedgerError(f"Redis: {redacted_text(str(error))}") from None


def _texts(client: redis.Redis, names: Sequence[str]) -> dict[str, str | None]:
    """What is stored of each account; None: nothing."""
    found = client.mget([_PREFIX + name for name in names]) if names else []
    return {name: None if text is None else str(text) for name, text in zip(names, found, strict=True)}
