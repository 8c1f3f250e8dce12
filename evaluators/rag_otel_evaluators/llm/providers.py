"""What is known of providers that speak OpenAI's protocol, before any library is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

KEYS: Final = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
"""litellm's providers that speak OpenAI's protocol and nothing else -> environment variable of their key."""
PRICES: Final = frozenset({"input_cost_per_token", "output_cost_per_token"})


def fixed_price(parameters: Mapping[str, Any]) -> Callable[[int, int, int], float | None] | None:
    """What one call costs at the prices that the parameters give; None where they give none."""
    if not parameters.keys() >= PRICES:
        return None
    rates = float(parameters["input_cost_per_token"]), float(parameters["output_cost_per_token"])
    return lambda read, written, cached: read * rates[0] + written * rates[1]
