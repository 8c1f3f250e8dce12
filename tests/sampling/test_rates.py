"""The coin's rates: they follow traffic, budget and backlog, but never within a window."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.budgets.ledger import MemoryLedger
from rag_otel.safety.guard import counters
from rag_otel.sampling.amount import REFUSED, SEEN
from rag_otel.sampling.policy import Coin
from rag_otel.sampling.rates import MAX_STRATA, CoinRates
from testkit.size import examples

WINDOW_S = 60.0


class _Clock:
    def __init__(self, now: float = 1_000_000 * WINDOW_S) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def _rates(coin: Coin, clock: _Clock, **more: object) -> CoinRates:
    return CoinRates(coin, window_s=WINDOW_S, clock=clock, **more)  # type: ignore[arg-type]


def _window(rates: CoinRates, clock: _Clock, traffic: dict[str, int], *, base: float) -> dict[str, float]:
    """One window of traffic; the rates that it had."""
    used: dict[str, float] = {}
    for stratum, count in traffic.items():
        for _ in range(count):
            used[stratum] = rates.rate(stratum, base, round(clock.now * 1e9))
    clock.now += WINDOW_S
    return used


def test_without_limits_the_rate_is_the_policys() -> None:
    """Nothing adapts where nothing is short."""
    clock = _Clock()
    rates = _rates(Coin(rate=0.3), clock)
    assert all(_window(rates, clock, {"": 50}, base=0.3) == {"": 0.3} for _ in range(5))


def test_a_rare_stratum_gets_its_minimum() -> None:
    """From the second window on: 20 of the 40 traces of the rare route, and the rate for the frequent one."""
    clock = _Clock()
    rates = _rates(Coin(rate=0.01, strata="route", minimum=20, adaptive=False), clock)
    traffic = {"frequent": 5_000, "rare": 40, "rarest": 3}
    first = _window(rates, clock, traffic, base=0.01)
    second = _window(rates, clock, traffic, base=0.01)
    assert set(first.values()) == {0.01}
    assert second == {"frequent": 0.01, "rare": 0.5, "rarest": 1.0}


def test_the_rate_falls_to_what_the_budget_can_pay() -> None:
    """1,000 traces a window at 50% and money for 100: the rate is 10% from the second window on."""
    clock = _Clock()
    rates = _rates(Coin(rate=0.5), clock, allowance=lambda window_s: 100.0)
    _window(rates, clock, {"": 1_000}, base=0.5)
    assert abs(_window(rates, clock, {"": 1_000}, base=0.5)[""] - 0.1) < 1e-6


def test_a_minimum_is_paid_for_by_the_others() -> None:
    """The expected evaluations of all strata together are what the budget allows."""
    clock = _Clock()
    coin = Coin(rate=0.5, strata="route", minimum=30)
    rates = _rates(coin, clock, allowance=lambda window_s: 100.0)
    traffic = {"frequent": 1_000, "rare": 40}
    _window(rates, clock, traffic, base=0.5)
    used = _window(rates, clock, traffic, base=0.5)
    assert used["rare"] == 0.75
    assert abs(sum(used[name] * count for name, count in traffic.items()) - 100) < 1e-3


def test_refused_traces_lower_the_rate_until_nothing_is_refused() -> None:
    """The limit of evaluations per minute and full queues are a backlog; after it the rate comes back."""
    clock = _Clock()
    rates = _rates(Coin(rate=0.8), clock)
    _window(rates, clock, {"": 10}, base=0.8)
    counters.add(SEEN, 100)
    counters.add(REFUSED, 50)
    assert _window(rates, clock, {"": 10}, base=0.8)[""] == 0.4
    assert _window(rates, clock, {"": 10}, base=0.8)[""] > 0.5
    assert _window(rates, clock, {"": 10}, base=0.8)[""] == 0.8


def test_processes_agree_on_the_rates_of_a_window() -> None:
    """Two processes with different traffic use the rates of the one that was first."""
    clock, ledger = _Clock(), MemoryLedger()
    coin = Coin(rate=0.01, strata="route", minimum=20)
    one, other = (_rates(coin, clock, agree=ledger.agree) for _ in range(2))
    for _ in range(40):
        one.rate("a", 0.01, round(clock.now * 1e9))
    for _ in range(400):
        other.rate("a", 0.01, round(clock.now * 1e9))
    clock.now += WINDOW_S
    at = round(clock.now * 1e9)
    assert one.rate("a", 0.01, at) == other.rate("a", 0.01, at) == 0.5


def test_a_trace_of_another_day_has_its_base_rate() -> None:
    """A backfill decides as a process with no history, so that it can be repeated."""
    clock = _Clock()
    rates = _rates(Coin(rate=0.5), clock, allowance=lambda window_s: 1.0)
    _window(rates, clock, {"": 1_000}, base=0.5)
    for at in (clock.now - 86_400, clock.now + 86_400, 0.0):
        assert rates.rate("", 0.5, round(at * 1e9)) == 0.5


def test_many_strata_are_bounded() -> None:
    """Routes with ids in them make no stratum each for ever."""
    clock = _Clock()
    rates = _rates(Coin(rate=0.1, strata="route", minimum=1), clock)
    for _ in range(3):
        _window(rates, clock, {f"/user/{n}": 1 for n in range(3 * MAX_STRATA)}, base=0.1)
    assert len(rates._bases) <= MAX_STRATA + 1


@settings(max_examples=examples(60), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    minimum=st.integers(0, 30),
    allowed=st.one_of(st.none(), st.floats(0, 500)),
    jumps=st.lists(st.integers(-5, 5), min_size=3, max_size=12),
)
def test_within_a_window_a_rate_never_changes(seed: int, minimum: int, allowed: float | None, jumps: list[int]) -> None:
    """Whatever traffic comes in whatever order, also when the clock jumps back and forth: one window, one rate."""
    rng, clock = random.Random(seed), _Clock()
    coin = Coin(rate=0.4, strata="route", minimum=minimum)
    rates = _rates(coin, clock, allowance=lambda window_s: allowed)
    seen: dict[tuple[str, int], float] = {}
    for jump in jumps:
        counters.add(SEEN, 10)
        counters.add(REFUSED, rng.randint(0, 3))
        for _ in range(rng.randint(1, 60)):
            stratum, at = f"r{rng.randint(0, 3)}", clock.now + rng.uniform(-WINDOW_S, WINDOW_S)
            rate = rates.rate(stratum, 0.4, round(at * 1e9))
            assert 0.0 < rate <= 1.0
            window = int(round(at * 1e9) / 1e9 // WINDOW_S)
            assert seen.setdefault((stratum, window), rate) == rate
        clock.now += jump * WINDOW_S


def test_counting_a_trace_does_not_change_its_own_rate() -> None:
    """The first trace of a window is not part of the traffic that its rate was computed from."""
    clock = _Clock()
    rates = _rates(Coin(rate=0.01, strata="route", minimum=5, adaptive=False), clock)
    _window(rates, clock, {"a": 10}, base=0.01)
    assert Counter(_window(rates, clock, {"a": 1, "b": 1}, base=0.01)) == Counter({"a": 0.5, "b": 0.01})
