"""The sampler that the settings ask for: by ratio, or by a policy.

What a policy needs is imported only where there is one: reading it takes pydantic.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Sampler
from rag_otel.sampling.amount import RatioSampler
from rag_otel.settings import Settings

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets
    from rag_otel.sampling.policy import SamplingPolicy
    from rag_otel.sampling.policy_sampler import Prescore
    from rag_otel.sampling.rates import Agree


def policy_of(settings: Settings) -> SamplingPolicy | None:
    """The sampling policy; None without one. Raises ConfigurationError."""
    if settings.sampling_policy is None:
        return None
    if settings.sample_ratio != 1.0:
        raise ConfigurationError(
            f"sample_ratio={settings.sample_ratio:g} and sampling_policy are both given: write the ratio into the "
            "policy, as rate of its coin"
        )
    from rag_otel.sampling.policy import SamplingPolicy

    return SamplingPolicy.load(settings.sampling_policy)


def build_sampler(
    settings: Settings,
    *,
    prescore: Prescore | None = None,
    budgets: Budgets | None = None,
    agree: Agree | None = None,
    clock: Callable[[], float] = time.time,
) -> Sampler:
    """The sampler. A policy's coin follows what the `budgets` allow; `agree` and `clock` as for `CoinRates`.

    Raises ConfigurationError.
    """
    policy = policy_of(settings)
    if policy is None:
        return RatioSampler(settings.sample_ratio)
    from rag_otel.sampling.policy_sampler import PolicySampler
    from rag_otel.sampling.rates import CoinRates

    allowance = budgets.allowance if budgets is not None else lambda window_s: None
    rates = CoinRates(policy.coin, window_s=policy.window, allowance=allowance, agree=agree, clock=clock)
    return PolicySampler(policy, rates=rates, prescore=prescore)


def lowest_probability(settings: Settings) -> float:
    """The smallest probability with which a trace is selected; statistics bound their weights by it."""
    policy = policy_of(settings)
    return policy.lowest_rate if policy is not None else settings.sample_ratio or 1.0
