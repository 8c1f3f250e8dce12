"""A decision model by its name: `decision_model("decisions/openai/gpt-6-luna")`.

Called over HTTP where its provider is in `llm.decisions.providers`, else through litellm's `decisions()`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Unpack

from rag_otel.errors import ConfigurationError
from rag_otel.safety.extras import require_extra
from rag_otel_evaluators.judges.openai_model import server_access
from rag_otel_evaluators.llm.client import CallOptions, ResilientModel
from rag_otel_evaluators.llm.decisions.providers import (
    OTHERS,
    PREFIX,
    PROVIDERS,
    Provider,
    PublishedPrice,
    RequestLimits,
    price_of,
)
from rag_otel_evaluators.llm.transport import Transport


def decision_model(
    model: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    input_price: float | None = None,
    **calls: Unpack[CallOptions],
) -> ResilientModel:
    """A model that answers forms (`llm.decisions.form`); arguments as of `llm_model`.

    `parameters` go into the request as they are. `input_price`: US dollars for a million tokens of input, instead of
    the price that is known. `api_base`: the server's address up to its version (`http://127.0.0.1:11434/v1`);
    `decisions/systemone/<model>` needs one.

    Raises ConfigurationError where the extra is not installed, for a name without provider or model, and without a key
    or an address.
    """
    require_extra("llm", "aiohttp", needed_by=f"judge {model!r}")
    provider, _, name = model.removeprefix(PREFIX).partition("/")
    if not model.startswith(PREFIX) or not provider or not name:
        names = ", ".join(PROVIDERS)
        raise ConfigurationError(f"{model!r}: write decisions/<provider>/<model>; providers: {names}, or litellm's")
    given = dict(parameters or {})
    known = price_of(model.removeprefix(PREFIX))
    price = known if input_price is None else PublishedPrice(usd=input_price, source="input_price")
    transport: Transport
    if provider in PROVIDERS:
        transport = _transport(model, PROVIDERS[provider], name, price, api_base=api_base, api_key=api_key, given=given)
    else:
        require_extra("llm", "litellm", needed_by=f"judge {model!r}")
        from rag_otel_evaluators.judges.litellm_transports import LitellmDecisions

        transport = LitellmDecisions(
            model, f"{provider}/{name}", api_base=api_base, api_key=api_key, parameters=given, price=price
        )
    return ResilientModel(transport, **calls)


def limits_of(model: str) -> tuple[RequestLimits, bool]:
    """What a request to this model may hold, and whether one refused question fails it as a whole."""
    provider = PROVIDERS.get(model.removeprefix(PREFIX).partition("/")[0])
    return (OTHERS, False) if provider is None else (provider.limits, provider.refuses_whole)


def _transport(
    model: str,
    provider: Provider,
    name: str,
    price: PublishedPrice | None,
    *,
    api_base: str | None,
    api_key: str | None,
    given: dict[str, Any],
) -> Transport:
    from rag_otel_evaluators.llm.decisions.transport import DecisionTransport
    from rag_otel_evaluators.llm.http_post import JsonServer

    address = api_base or (os.environ.get("OPENAI_BASE_URL") if provider.key == "OPENAI_API_KEY" else None)
    key = api_key or os.environ.get(provider.key)
    if not address and provider.address is None:
        raise ConfigurationError(f"{model!r} needs judge_api_base: the address of your server, up to its /v1")
    if not address and not key:
        raise ConfigurationError(
            f"{model!r} needs a key in {provider.key}; for a server of your own give judge_api_base"
        )
    plain, authorization = server_access(model, provider.key, address or provider.address or "", key)
    return DecisionTransport(
        name=model,
        identity={"api_base": api_base, "parameters": given},
        model=name,
        server=JsonServer(
            f"{plain.rstrip('/')}/{provider.path}",
            {} if authorization == "Bearer none" else {"Authorization": authorization},
        ),
        dialect=provider.dialect,
        price=price,
        refuses_whole=provider.refuses_whole,
        parameters=given,
    )
