"""Which models are called straight over HTTP, and with what: litellm's knowledge without litellm's calls.

litellm translates parameters (a reasoning model takes `max_completion_tokens` and no temperature) and knows prices;
both are asked of it, the first once for each kind of request. The library comes in as an argument, because
`judges/litellm_library.py` alone imports it.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from rag_otel_evaluators.llm.modes import ModeLadder, OutputMode, response_format
from rag_otel_evaluators.llm.openai_http import OpenAiTransport
from rag_otel_evaluators.llm.providers import KEYS, PRICES, fixed_price, server_access
from rag_otel_evaluators.llm.quiet import quiet
from rag_otel_evaluators.llm.reported_usage import Price
from rag_otel_evaluators.llm.thoughts import REASONING_TOKENS, thinks_aloud

_KNOWN_PARAMETERS: Final = PRICES | {
    *("frequency_penalty", "logit_bias", "presence_penalty", "reasoning_effort", "seed", "service_tier", "stop"),
    *("temperature", "top_p", "user", "verbosity"),
}
"""Parameters of which it is certain what they mean on the wire."""
_NOT_SENT: Final = frozenset({"stream", "extra_body", "max_retries"})
_ONE_TARIFF: Final = 100_000
"""Input tokens up to which no provider charges more for a token because there are many."""


def direct_transport(
    litellm: Any, provider: str, model: str, *, api_base: str, api_key: str | None, parameters: Mapping[str, Any]
) -> OpenAiTransport | None:
    """A transport to the server at `api_base`; None where it has another protocol, where a parameter is litellm's own,
    and where litellm would change the messages."""
    unknown = parameters.keys() - _KNOWN_PARAMETERS
    if provider not in KEYS or unknown or len(PRICES & parameters.keys()) == 1:
        return None
    sent = {name: value for name, value in parameters.items() if name not in PRICES}
    own_name = litellm.get_llm_provider(model, api_base=api_base)[0]
    if _changes_messages(litellm, provider, own_name):
        return None
    address, authorization = server_access(model, KEYS[provider], api_base, api_key or os.environ.get(KEYS[provider]))
    aloud = thinks_aloud(model)
    thoughts = REASONING_TOKENS if aloud or litellm.supports_reasoning(model) else 0

    def translated(mode: OutputMode, response_model: type[BaseModel], budget: int | None) -> Mapping[str, Any]:
        with quiet():
            wanted = litellm.get_optional_params(
                model=own_name,
                custom_llm_provider=provider,
                max_tokens=None if budget is None else budget + thoughts,
                response_format=response_format(mode, response_model),
                drop_params=True,
                **sent,
            )
        return {name: value for name, value in wanted.items() if name not in _NOT_SENT}

    return OpenAiTransport(
        name=model,
        identity={"api_base": api_base, "parameters": dict(parameters)},
        model=own_name,
        address=address,
        headers={"Authorization": authorization},
        parameters=translated,
        price=price_of(litellm, model, parameters),
        ladder=ModeLadder(known_to_support_schema=bool(litellm.supports_response_schema(model)), in_words_alone=aloud),
    )


def _changes_messages(litellm: Any, provider: str, own_name: str) -> bool:
    """True for models that are not sent the messages as they are (some reasoning models take no `system`)."""
    probe = [{"role": role, "content": "-"} for role in ("system", "user", "assistant", "user")]
    try:
        adapter = litellm.ProviderConfigManager.get_provider_chat_config(own_name, litellm.LlmProviders(provider))
        body = adapter.transform_request(own_name, copy.deepcopy(probe), {}, {}, {})
    except Exception:  # noqa: BLE001 - what cannot be told is litellm's to send
        return True
    return bool(body != {"model": own_name, "messages": probe})


def price_of(litellm: Any, model: str, parameters: Mapping[str, Any]) -> Price:
    """What one call costs: at the given prices, else at those that litellm knows."""

    def asked(read: int, written: int, cached: int) -> tuple[float, float] | None:
        try:
            costs: tuple[float, float] = litellm.cost_per_token(
                model=model, prompt_tokens=read, completion_tokens=written, cache_read_input_tokens=cached
            )
        except Exception:  # noqa: BLE001 - litellm raises bare exceptions for names that it has no price for
            return None
        return costs

    if (fixed := fixed_price(parameters)) is not None:
        return fixed
    if (thousand := asked(1_000, 1_000, 0)) is None:
        return lambda read, written, cached: None
    rates = thousand[0] / 1_000, thousand[1] / 1_000

    def price(read: int, written: int, cached: int) -> float | None:
        if read <= _ONE_TARIFF and not cached:
            return read * rates[0] + written * rates[1]
        costs = asked(read, written, cached)
        return None if costs is None else sum(costs)

    return price
