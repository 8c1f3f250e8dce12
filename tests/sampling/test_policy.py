"""Sampling policies: how they are written, and what they decide."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, RagTrace, SamplingDecision, SamplingReason
from rag_otel.sampling.policy import Coin, CoinRate, DropRule, ForceRule, SamplingPolicy
from rag_otel.sampling.policy_sampler import PolicySampler, looks_like_an_error
from tests.sampling.traces import a_trace

POLICY = """
window = 60
[[drop]]
name = "health"
route = ["/health*", "/ready"]
[coin]
rate = 0.0
[[coin.rates]]
tenant = "acme"
rate = 1.0
[[force]]
name = "slow"
latency_above = 8
[[force]]
name = "empty"
no_chunks = true
[[force]]
name = "far"
similarity_below = 0.5
[[force]]
name = "error"
error_answer = true
[[force]]
name = "thumbs_down"
rating_below = 0.5
[[force]]
name = "suspicious"
risk_above = 0.7
"""


async def _decided(policy: SamplingPolicy, trace: RagTrace, *, risk: float | None = 0.1) -> SamplingDecision:
    async def prescore(seen: RagTrace) -> float | None:
        return risk

    return await PolicySampler(policy, prescore=prescore).select(trace)


@pytest.fixture
def policy(tmp_path: Path) -> SamplingPolicy:
    file = tmp_path / "policy.toml"
    file.write_text(POLICY)
    return SamplingPolicy.load(str(file))


@pytest.mark.parametrize(
    ("what", "risk", "rule"),
    [
        ({"seconds": 9.0}, 0.1, "slow"),
        ({"chunks": ()}, 0.1, "empty"),
        ({"chunks": (Chunk(id="1", text="Other.", position=0, score=0.2),)}, 0.1, "far"),
        ({"response": "I'm sorry, something went wrong."}, 0.1, "error"),
        ({"rating": 0.0}, 0.1, "thumbs_down"),
        ({}, 0.9, "suspicious"),
    ],
)
async def test_each_rule_forces_its_traces(
    policy: SamplingPolicy, what: dict[str, Any], risk: float, rule: str
) -> None:
    """A trace that a rule forces is evaluated with certainty, although the coin never selects it."""
    decision = await _decided(policy, a_trace(**what), risk=risk)
    assert (decision.sampled, decision.reason, decision.rule) == (True, SamplingReason.FORCED, rule)
    assert (decision.probability, decision.rate, decision.coin) == (1.0, 0.0, False)


async def test_a_trace_with_nothing_wrong_is_left_to_the_coin(policy: SamplingPolicy) -> None:
    """Its rate is that of its tenant."""
    decision = await _decided(policy, a_trace())
    assert (decision.sampled, decision.reason, decision.prescore) == (False, SamplingReason.NOT_SAMPLED, 0.1)
    acme = await _decided(policy, a_trace(tags={"tenant": "acme"}))
    assert (acme.sampled, acme.reason, acme.probability) == (True, SamplingReason.RATIO, 1.0)


async def test_drop_rules_come_first(policy: SamplingPolicy) -> None:
    """A dropped trace is not forced either."""
    decision = await _decided(policy, a_trace(route="/healthz", seconds=99))
    assert (decision.sampled, decision.reason, decision.rule) == (False, SamplingReason.DROPPED, "health")


async def test_a_forced_trace_says_what_the_coin_said() -> None:
    """Whoever wants a purely random sample can still take one."""
    policy = SamplingPolicy(coin=Coin(rate=0.3), force=[ForceRule(name="slow", latency_above=1)])
    rng = random.Random(3)
    decisions = [await _decided(policy, a_trace(rng, seconds=2)) for _ in range(2_000)]
    assert {each.probability for each in decisions} == {1.0}
    assert 0.25 < sum(bool(each.coin) for each in decisions) / len(decisions) < 0.35


async def test_without_an_embedded_judge_nothing_is_suspicious() -> None:
    """A pre-score that is not known does not hold."""
    policy = SamplingPolicy(coin=Coin(rate=0), force=[ForceRule(name="suspicious", risk_above=0.0)])
    assert not (await PolicySampler(policy).select(a_trace())).sampled


def test_what_the_coin_can_never_select_is_not_read() -> None:
    """On the request path such a trace is refused by its id, as by a ratio; a rule that looks inside prevents that."""
    rng = random.Random(5)
    targets = [a_trace(rng).target for _ in range(1_000)]
    by_coin = PolicySampler(SamplingPolicy(coin=Coin(rate=0.1, rates=[CoinRate(route="/x", rate=0.2)])))
    assert 150 < sum(by_coin.decide(target).sampled for target in targets) < 250
    by_rule = PolicySampler(SamplingPolicy(coin=Coin(rate=0.1), force=[ForceRule(name="slow", latency_above=1)]))
    assert all(by_rule.decide(target).sampled for target in targets)


@given(seed=st.integers(0, 2**64), rate=st.floats(0, 1), number=st.integers(0, 2**32))
async def test_every_replica_and_every_retry_decides_the_same(seed: int, rate: float, number: int) -> None:
    """Two samplers, asked in turn and repeatedly, agree; the early decision never refuses what the later one takes."""
    policy = SamplingPolicy(seed=seed, coin=Coin(rate=rate), force=[ForceRule(name="slow", latency_above=5)])
    trace = a_trace(random.Random(number), seconds=number % 10)
    one, other = PolicySampler(policy), PolicySampler(policy)
    decisions = [await sampler.select(trace) for sampler in (one, other, one, one, other)]
    assert len(set(decisions)) == 1
    assert one.decide(trace.target).sampled or not decisions[0].sampled


def test_the_coin_is_the_ratio_samplers() -> None:
    """Moving from `sample_ratio` to a policy keeps the traces, also in a new process."""
    code = (
        "import asyncio, random\n"
        "from rag_otel.sampling.policy import Coin, SamplingPolicy\n"
        "from rag_otel.sampling.policy_sampler import PolicySampler\n"
        "from rag_otel.sampling.amount import RatioSampler\n"
        "from tests.sampling.traces import a_trace\n"
        "rng = random.Random(2); policy = PolicySampler(SamplingPolicy(coin=Coin(rate=0.4)), seed=9)\n"
        "traces = [a_trace(rng) for _ in range(300)]\n"
        "ratio = RatioSampler(0.4, seed=9)\n"
        "assert all(asyncio.run(policy.select(t)).sampled == ratio.decide(t.target).sampled for t in traces)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('{"coin": {"rate": 2}}', "coin.rate: .*less than or equal to 1"),
        ('{"coin": {"ratio": 0.2}}', "coin.ratio: .*there are: rate, rates"),
        ('{"drop": [{"name": "all"}]}', "matches every trace"),
        ('{"force": [{"name": "all"}]}', "set coin.rate to 1"),
        ('{"force": [{"name": "a", "error_answer": ["("]}]}', "not a regular expression"),
        (
            '{"force": [{"name": "a", "no_chunks": true}], "drop": [{"name": "a", "route": "x"}]}',
            "two rules are named a",
        ),
        ('{"coin": {"minimum": 3}}', "minimum needs strata"),
        ('{"window": 0}', "window: "),
        ("nowhere.toml", "neither JSON nor a file"),
        ("{", "cannot be read"),
    ],
)
def test_a_mistake_is_named_with_the_way_out(written: str, message: str) -> None:
    """The error names the field and what is allowed."""
    with pytest.raises(ConfigurationError, match=message):
        SamplingPolicy.load(written)


def test_the_smallest_probability_is_known_to_whoever_bets_on_it() -> None:
    """Drift detection bounds its bets by it."""
    assert (
        SamplingPolicy(coin=Coin(rate=0.2, adaptive=False, rates=[CoinRate(route="a", rate=0.05)])).lowest_rate == 0.05
    )
    assert SamplingPolicy(coin=Coin(rate=0.2)).lowest_rate == 0.001
    assert SamplingPolicy(coin=Coin(rate=0, adaptive=False)).lowest_rate == 1.0


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("I am very sorry, but I cannot help.", True),
        ("An unexpected error occurred.", True),
        ("Traceback (most recent call last)\n  File ...", True),
        ("Request failed with status code 503.", True),
        ("The service charge is 4%. Errors are corrected within 5 days.", False),
        ("The committee was not sorry about it.", False),
        ("", False),
    ],
)
def test_answers_that_look_like_errors(answer: str, error: bool) -> None:
    """Apologies at the beginning, messages of programs; not answers about errors."""
    assert looks_like_an_error(answer) is error


def test_a_drop_rule_by_tag() -> None:
    """Any tag can be named."""
    policy = SamplingPolicy.load({"drop": [{"name": "tests", "tags": {"environment": "test"}}]})
    assert policy.drop == (DropRule(name="tests", tags={"environment": ("test",)}),)
