"""What is known of providers that speak OpenAI's protocol, before any library is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rag_otel.delivery.http import split_credentials
from rag_otel.errors import ConfigurationError

KEYS: Final = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
"""litellm's providers that speak OpenAI's protocol and nothing else -> environment variable of their key."""
PRICES: Final = frozenset({"input_cost_per_token", "output_cost_per_token"})


def fixed_price(parameters: Mapping[str, Any]) -> Callable[[int, int, int], float | None] | None:
    """What one call costs at the prices that the parameters give; None where they give none."""
    if not parameters.keys() >= PRICES:
        return None
    rates = float(parameters["input_cost_per_token"]), float(parameters["output_cost_per_token"])
    return lambda read, written, cached: read * rates[0] + written * rates[1]


def server_access(model: str, key_name: str, address: str, key: str | None) -> tuple[str, str]:
    """(address, value of the Authorization header) of a server: its key, or the `user:password@` of its address.

    Raises ConfigurationError where there are both: a request has one such header. `key_name`: where the key comes from.
    """
    plain, credentials = split_credentials(address)
    if not credentials:
        return address, f"Bearer {key or 'none'}"
    if key:
        raise ConfigurationError(
            f"{model!r}: judge_api_base has a user and a password, and there is a key too (in "
            f"{key_name}, or named by api_key_env); a request can send one of them only: remove the other"
        )
    return plain, credentials["Authorization"]
