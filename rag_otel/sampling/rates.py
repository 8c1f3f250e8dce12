"""The coin's rate of every stratum. It is set when a window begins and stays the same until the window ends.

What a rate is computed from (traffic, what the budget has left, how much was refused) was seen before the window began,
so the probability that is recorded with a trace is the one with which it was selected.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from rag_otel.errors import LedgerError
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import counters, logger
from rag_otel.sampling.amount import REFUSED, SEEN
from rag_otel.sampling.policy import LOWEST_RATE, Coin

OTHER: Final = "other"
"""The stratum of all strata beyond the first `MAX_STRATA`."""
MAX_STRATA: Final = 200
_KEPT_WINDOWS: Final = 300
_DECAY: Final = 0.7
"""Weight of what was expected before against the traffic of the last window."""
_FORGOTTEN: Final = 0.01
_RECOVERY: Final = 1.5
_TOLERATED: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRates:
    """The rates of one window."""

    factor: float = 1.0
    """By which every stratum's own rate is multiplied."""
    rates: Mapping[str, float] | None = None
    """Stratum -> rate, where it is not the product of the two."""

    def rate(self, stratum: str, base: float) -> float:
        """The rate of a stratum whose own rate is `base`."""
        found = None if self.rates is None else self.rates.get(stratum)
        return found if found is not None else min(base, max(base * self.factor, LOWEST_RATE))

    def as_text(self) -> str:
        return json.dumps({"factor": self.factor, "rates": self.rates})

    @classmethod
    def from_text(cls, text: str) -> WindowRates:
        """Raises ValueError for what `as_text` did not write."""
        read = json.loads(text)
        return cls(factor=float(read["factor"]), rates=read["rates"])


Agree: TypeAlias = Callable[[str, str, float], str]
"""(key, value, seconds to keep it) -> the value that counts: the first one that any process has stored there. Raises
LedgerError."""


class CoinRates:
    """The rates of the last windows. Thread-safe."""

    def __init__(
        self,
        coin: Coin,
        *,
        window_s: float,
        allowance: Callable[[float], float | None] = lambda window_s: None,
        agree: Agree | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`allowance(window_s)`: evaluations that the coin's budget can pay for in the next window; None: no limit.
        `agree`: how the processes that share a policy agree on a window's rates."""
        self._coin = coin
        self._window_s = window_s
        self._allowance = allowance
        self._agree = agree
        self._clock = clock
        self._lock = threading.RLock()
        self._windows: OrderedDict[int, WindowRates] = OrderedDict()
        self._counted: Counter[str] = Counter()
        self._bases: dict[str, float] = {}
        self._expected: dict[str, float] = {}
        self._newest: int | None = None
        self._pressure = 1.0
        self._seen, self._refused = counters.get(SEEN), counters.get(REFUSED)
        after_fork_in_child(self.after_fork)

    def rate(self, stratum: str, base: float, start_ns: int) -> float:
        """The rate for a trace of the stratum that started at `start_ns`; counts the trace.

        A trace whose window this process has not seen, for example one that is evaluated days later, has its base rate.
        """
        if base <= 0.0 or not (self._coin.adaptive or self._coin.minimum):
            return base
        self.open(start_ns)
        with self._lock:
            if stratum not in self._bases and len(self._bases) >= MAX_STRATA:
                stratum = OTHER
            rates = self._windows.get(self._window(start_ns))
            # Counted last: a trace has no influence on its own rate.
            self._bases[stratum] = base
            self._counted[stratum] += 1
            return base if rates is None else rates.rate(stratum, base)

    def after_fork(self) -> None:
        """Replaces the lock in a forked child, because a thread that the child does not have may hold it."""
        self._lock = threading.RLock()
        self._seen = self._refused = 0

    def is_open(self, start_ns: int) -> bool:
        """False if `rate` would set the rates of a window now, which may wait for a disk or a network."""
        window, now = self._window(start_ns), int(self._clock() // self._window_s)
        adapts = self._coin.adaptive or self._coin.minimum > 0
        return not adapts or window in self._windows or not now - 1 <= window <= now + 1

    def open(self, start_ns: int) -> None:
        """Sets the rates of the window of `start_ns`, unless they are set; not of one that is long over, or has not
        come. Nothing is waited for while the lock is held."""
        if self.is_open(start_ns):
            return
        window = self._window(start_ns)
        allowed = self._allowance(self._window_s) if self._coin.adaptive else None
        with self._lock:
            if self._newest is None or window > self._newest:
                self._learn(1 if self._newest is None else window - self._newest)
                self._newest = window
            computed = self._computed(allowed)
        rates = self._agreed(window, computed)
        with self._lock:
            self._windows.setdefault(window, rates)
            while len(self._windows) > _KEPT_WINDOWS:
                self._windows.popitem(last=False)

    def _window(self, start_ns: int) -> int:
        return int(start_ns / 1e9 // self._window_s)

    def _agreed(self, window: int, rates: WindowRates) -> WindowRates:
        """The rates that the first process published. Without it each process has rates of its own, and records those
        that it used."""
        if self._agree is None:
            return rates
        try:
            key = f"rates/{self._window_s:g}/{window}"
            return WindowRates.from_text(self._agree(key, rates.as_text(), 4 * self._window_s))
        except (LedgerError, ValueError, KeyError, TypeError) as error:
            if counters.add("sampling.rates_not_shared") == 1:
                logger.warning("rag-otel: processes do not share the rates of the sampling policy: %s", error)
            return rates

    def _learn(self, elapsed: int) -> None:
        """Expects as much traffic in a window as lately, and measures how much of what was selected was refused."""
        first = not self._expected
        for stratum in {*self._expected, *self._counted}:
            latest = self._counted[stratum] / elapsed
            before = latest if first else self._expected.get(stratum, 0.0)
            self._expected[stratum] = _DECAY * before + (1 - _DECAY) * latest
        for stratum in [name for name, count in self._expected.items() if count < _FORGOTTEN]:
            del self._expected[stratum]
            self._bases.pop(stratum, None)
        self._counted.clear()
        seen, refused = counters.get(SEEN), counters.get(REFUSED)
        share = (refused - self._refused) / max(1, seen - self._seen)
        self._seen, self._refused = seen, refused
        self._pressure = self._pressure * max(0.25, 1 - share) if share > _TOLERATED else self._pressure * _RECOVERY
        self._pressure = min(1.0, self._pressure)

    def _computed(self, allowed: float | None) -> WindowRates:
        expected, coin = self._expected, self._coin
        if not expected:
            return WindowRates()
        least = {stratum: min(1.0, coin.minimum / count) if count else 1.0 for stratum, count in expected.items()}
        if not coin.minimum:
            least = dict.fromkeys(expected, 0.0)
        if OTHER in least:
            least[OTHER] = 0.0
        factor = self._pressure if coin.adaptive else 1.0
        if allowed is not None:
            factor = min(factor, _fitting(allowed, expected, self._bases, least))
            needed = sum(expected[name] * least[name] for name in expected)
            scale = min(1.0, allowed / needed) if needed else 1.0
            least = {name: share * scale for name, share in least.items()}
        rates = {
            name: max(self._bases[name] * factor, least[name], min(self._bases[name], LOWEST_RATE))
            for name in expected
            if name != OTHER  # its traces have different rates of their own
        }
        return WindowRates(factor=factor, rates=rates)


def _fitting(
    allowed: float, expected: Mapping[str, float], bases: Mapping[str, float], least: Mapping[str, float]
) -> float:
    """The greatest factor in 0..1 with which the expected evaluations are not more than `allowed`."""

    def wanted(factor: float) -> float:
        return sum(count * max(bases[name] * factor, least[name]) for name, count in expected.items())

    low, high = 0.0, 1.0
    if wanted(high) <= allowed:
        return high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if wanted(middle) <= allowed else (low, middle)
    return low
