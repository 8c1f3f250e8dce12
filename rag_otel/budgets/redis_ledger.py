"""The ledger of several machines: a Redis server (extra `redis`).

Each booking is one script, which Redis runs as a whole, with the server's clock: machines need not agree on the time.
All keys have one hash tag, so a cluster keeps them together. The arithmetic of `ledger.py` stands here again, as
scripts: written back from Python, an account that fifty processes change at once would have to be read again and again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rag_otel.budgets.ledger import Balance, Entry, Ledger, Line
from rag_otel.errors import LedgerError
from rag_otel.safety.extras import require_extra
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.redaction import redacted_text

if TYPE_CHECKING:
    import redis

_PREFIX: Final = "{rag-otel}:budget:"
_TIMEOUT_S: Final = 2.0
_KEEP_S: Final = 172_800

_ACCOUNT: Final = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
local prefix = KEYS[1]
local function reserved(account)
  local amounts, deadlines = prefix .. account .. ':amounts', prefix .. account .. ':deadlines'
  for _, lease in ipairs(redis.call('ZRANGEBYSCORE', deadlines, '-inf', now)) do
    redis.call('HDEL', amounts, lease)
    redis.call('ZREM', deadlines, lease)
  end
  local sum = 0
  for _, amount in ipairs(redis.call('HVALS', amounts)) do sum = sum + tonumber(amount) end
  return sum
end
local function spent(account) return tonumber(redis.call('GET', prefix .. account .. ':spent') or '0') end
local function whole(number) return string.format('%.0f', number) end
"""
_RESERVE: Final = (
    _ACCOUNT
    + """
local lease, expires, keep = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local entries = {}
for i = 4, #ARGV, 4 do
  local window, limit = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 3])
  local account = ARGV[i] .. '@' .. whole(window) .. '/' .. whole(math.floor(now / window))
  local amount = math.min(tonumber(ARGV[i + 2]), limit)
  if limit <= 0 or spent(account) + reserved(account) + amount > limit then return {'refused', whole((i - 4) / 4)} end
  entries[#entries + 1] = account
  entries[#entries + 1] = whole(amount)
end
for i = 1, #entries, 2 do
  local amounts, deadlines = prefix .. entries[i] .. ':amounts', prefix .. entries[i] .. ':deadlines'
  redis.call('HSET', amounts, lease, entries[i + 1])
  redis.call('ZADD', deadlines, string.format('%.6f', now + expires), lease)
  redis.call('EXPIRE', amounts, keep)
  redis.call('EXPIRE', deadlines, keep)
end
return entries
"""
)
_SETTLE: Final = """
local prefix, lease, keep = KEYS[1], ARGV[1], ARGV[2]
if not redis.call('SET', prefix .. 'settled:' .. lease, '1', 'NX', 'EX', keep) then return 0 end
for i = 3, #ARGV, 2 do
  local account = prefix .. ARGV[i]
  redis.call('HDEL', account .. ':amounts', lease)
  redis.call('ZREM', account .. ':deadlines', lease)
  redis.call('INCRBY', account .. ':spent', ARGV[i + 1])
  redis.call('EXPIRE', account .. ':spent', keep)
  local number = string.match(ARGV[i], '@(.*)$')
  redis.call('SADD', prefix .. 'accounts@' .. number, ARGV[i])
  redis.call('EXPIRE', prefix .. 'accounts@' .. number, keep)
end
return 1
"""
_BALANCE: Final = (
    _ACCOUNT
    + """
local window = tonumber(ARGV[2])
local number = math.floor(now / window)
local account = ARGV[1] .. '@' .. whole(window) .. '/' .. whole(number)
return {whole(number), whole(spent(account)), whole(reserved(account)), string.format('%.6f', window - now % window)}
"""
)
_SPENDING: Final = (
    _ACCOUNT
    + """
local window = tonumber(ARGV[1])
local found = {}
local accounts = prefix .. 'accounts@' .. whole(window) .. '/' .. whole(math.floor(now / window))
for _, account in ipairs(redis.call('SMEMBERS', accounts)) do
  found[#found + 1] = account
  found[#found + 1] = whole(spent(account))
end
return found
"""
)
_AGREE: Final = """
redis.call('SET', KEYS[1] .. ARGV[1], ARGV[2], 'NX', 'EX', ARGV[3])
return redis.call('GET', KEYS[1] .. ARGV[1])
"""


class RedisLedger(Ledger):
    """A `Ledger` on a Redis server, 6 or newer. Its accounts have windows; none refills."""

    def __init__(self, url: str) -> None:
        """`url`: `redis://host:6379/0`, `rediss://...` with TLS, `unix://...`. Raises ConfigurationError without the
        extra. The server is asked when the first booking is made."""
        require_extra("redis", "redis", needed_by="budget_store=redis://...")
        self._url = url
        self._lock = threading.RLock()
        self._client: redis.Redis | None = None
        after_fork_in_child(self.after_fork)

    def reserve(self, lease: str, lines: Sequence[Line], expires_s: float) -> list[Entry] | int:
        assert not any(line.refill_per_s for line in lines), "limits a minute are kept by each process"
        booked = [value for line in lines for value in (line.scope, line.window_s, line.amount, line.limit)]
        found = self._run(_RESERVE, lease, expires_s, _KEEP_S, *booked)
        if found and found[0] == "refused":
            return int(found[1])
        return [
            Entry(account=account, amount=int(amount)) for account, amount in zip(found[::2], found[1::2], strict=True)
        ]

    def settle(self, lease: str, entries: Sequence[Entry], spent: Sequence[float]) -> None:
        by_account = {entry.account: amount for entry, amount in zip(entries, spent, strict=True)}
        booked = [value for each in by_account.items() for value in each]
        self._run(_SETTLE, lease, _KEEP_S, *booked)

    def balance(self, scope: str, window_s: int) -> Balance:
        window, spent, reserved, left = self._run(_BALANCE, scope, window_s)
        return Balance(window=int(window), spent=int(spent), reserved=int(reserved), left_s=float(left))

    def spending(self, window_s: int) -> dict[str, float]:
        found = self._run(_SPENDING, window_s)
        spent: dict[str, float] = {
            account.rpartition("@")[0]: int(amount) for account, amount in zip(found[::2], found[1::2], strict=True)
        }
        return {scope: amount for scope, amount in spent.items() if amount}

    def agree(self, key: str, value: str, keep_s: float) -> str:
        return str(self._run(_AGREE, key, value, max(1, round(keep_s))))

    def after_fork(self) -> None:
        """A connection must not be used by two processes: the child opens its own."""
        self._lock = threading.RLock()
        self._client = None

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _run(self, script: str, *arguments: object) -> Any:
        import redis

        try:
            return self._connected().eval(script, 1, _PREFIX, *map(str, arguments))
        except redis.RedisError as error:
            raise LedgerError(f"Redis: {redacted_text(str(error))}") from None

    def _connected(self) -> redis.Redis:
        import redis

        with self._lock:
            if self._client is None:
                # A script that was run and whose answer was lost must not be run again: a second reservation would stay
                # until it expires. So nothing is retried here.
                self._client = redis.Redis.from_url(
                    self._url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S, decode_responses=True
                )
            return self._client
