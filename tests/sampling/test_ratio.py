"""Sampling by ratio."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.model import SamplingReason, SpanRef
from rag_otel.sampling.amount import RatioSampler


def _targets(count: int) -> list[SpanRef]:
    rng = random.Random(7)
    return [
        SpanRef(trace_id=f"{rng.getrandbits(128):032x}", span_id=f"{rng.getrandbits(64):016x}") for _ in range(count)
    ]


def test_ratio_one_always_samples_with_certainty() -> None:
    """With ratio 1 every trace is sampled, with the reason `always` and probability 1."""
    decision = RatioSampler(1.0).decide(_targets(1)[0])
    assert (decision.sampled, decision.reason, decision.probability) == (True, SamplingReason.ALWAYS, 1.0)


def test_ratio_zero_never_samples() -> None:
    """With ratio 0 no trace is sampled."""
    sampler = RatioSampler(0.0)
    assert not any(sampler.decide(target).sampled for target in _targets(1000))


@pytest.mark.parametrize("ratio", [0.01, 0.1, 0.5, 0.9])
def test_share_of_sampled_traces_is_the_ratio(ratio: float) -> None:
    """The sampled share is within five standard errors of the ratio. The decision has the ratio as its probability."""
    count = 20_000
    decisions = [RatioSampler(ratio).decide(target) for target in _targets(count)]
    share = sum(decision.sampled for decision in decisions) / count
    assert abs(share - ratio) < 5 * (ratio * (1 - ratio) / count) ** 0.5
    assert {decision.probability for decision in decisions} == {ratio}


def test_decision_depends_on_trace_id_and_seed_only() -> None:
    """Two spans of a trace get the same decision. Another seed samples other traces."""
    target = _targets(1)[0]
    other_span = SpanRef(trace_id=target.trace_id, span_id="0" * 15 + "1")
    sampler = RatioSampler(0.5, seed=1)
    assert sampler.decide(target) == sampler.decide(other_span)
    picked = [[RatioSampler(0.5, seed=seed).decide(t).sampled for t in _targets(200)] for seed in (1, 2)]
    assert picked[0] != picked[1]


def test_a_higher_ratio_keeps_what_a_lower_one_picked() -> None:
    """Raising the ratio only adds traces, so series stay comparable."""
    for target in _targets(500):
        if RatioSampler(0.1).decide(target).sampled:
            assert RatioSampler(0.3).decide(target).sampled


def test_another_process_agrees() -> None:
    """A new process samples the same traces: Python's hash randomisation has no effect."""
    targets = _targets(100)
    code = (
        "import sys; from rag_otel.model import SpanRef; from rag_otel.sampling.amount import RatioSampler\n"
        "s = RatioSampler(0.5, seed=3)\n"
        "print(''.join(str(int(s.decide(SpanRef(trace_id=t, span_id='0'*16)).sampled)) for t in sys.argv[1:]))"
    )
    there = subprocess.run(
        [sys.executable, "-c", code, *(t.trace_id for t in targets)], capture_output=True, text=True, check=True
    ).stdout.strip()
    sampler = RatioSampler(0.5, seed=3)
    assert there == "".join(str(int(sampler.decide(t).sampled)) for t in targets)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, float("nan")])
def test_impossible_ratio_is_refused(ratio: float) -> None:
    """A ratio outside 0..1 raises an error that names the setting."""
    with pytest.raises(ConfigurationError, match="sample_ratio"):
        RatioSampler(ratio)
