"""A language model behind OpenAI's protocol, without litellm: `openai_model("openai/gpt-4o-mini")`.

It needs aiohttp alone of the extra `llm`, and starts in a tenth of a second, where litellm takes several seconds.
What litellm knows, it does not: prices (give `input_cost_per_token` and `output_cost_per_token`) and other providers'
protocols.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack

from pydantic import BaseModel

from rag_otel.delivery.http import split_credentials
from rag_otel.errors import ConfigurationError
from rag_otel.safety.extras import require_extra
from rag_otel_evaluators.llm.client import CallOptions, ResilientModel
from rag_otel_evaluators.llm.modes import ModeLadder, OutputMode, response_format
from rag_otel_evaluators.llm.reported_usage import PRICES, Price, fixed_price
from rag_otel_evaluators.llm.thoughts import REASONING_TOKENS, thinks_aloud

if TYPE_CHECKING:
    from rag_otel_evaluators.llm.openai_http import OpenAiTransport

KEYS: Final = {"openai": "OPENAI_API_KEY", "hosted_vllm": "HOSTED_VLLM_API_KEY"}
"""litellm's providers that speak OpenAI's protocol and nothing else -> environment variable of their key."""
_OPENAI: Final = "https://api.openai.com/v1"
KNOWN_PARAMETERS: Final = PRICES | {
    *("frequency_penalty", "logit_bias", "presence_penalty", "reasoning_effort", "seed", "service_tier", "stop"),
    *("temperature", "top_p", "user", "verbosity"),
}
"""Parameters of which it is certain what they mean on the wire."""
_REASONING: Final = re.compile(r"o\d|gpt-(?:[5-9]|\d\d)(?!.*chat)")
"""Models that think before they answer and keep it to themselves: they take no temperature, and their thoughts count as
output."""


def speaks_openai(model: str) -> bool:
    """Whether the model's name says that it is behind OpenAI's protocol: `openai/...`, `hosted_vllm/...`."""
    provider, slash, name = model.partition("/")
    return bool(slash and name) and provider in KEYS


def openai_model(
    model: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    temperature: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    **calls: Unpack[CallOptions],
) -> ResilientModel:
    """A `StructuredModel` that is called over HTTP; arguments as of `llm_model`.

    `parameters` go into the request as they are; one that is None is left out, `temperature` too.

    Raises ConfigurationError where the extra is not installed, for another provider's name, and without a key or an
    address.
    """
    require_extra("llm", "aiohttp", needed_by=f"judge {model!r}")
    if not speaks_openai(model):
        raise ConfigurationError(f"{model!r}: write openai/<name> or hosted_vllm/<name>")
    given = {"temperature": temperature, **(parameters or {})}
    return ResilientModel(openai_transport(model, api_base=api_base, api_key=api_key, parameters=given), **calls)


def openai_transport(
    model: str,
    *,
    api_base: str | None,
    api_key: str | None,
    parameters: Mapping[str, Any],
    price: Price | None = None,
    knows_schemas: bool = False,
) -> OpenAiTransport:
    """Calls of a model that `speaks_openai`. `price`: where the parameters give none; `knows_schemas`: it is certain
    that the server holds the model to a schema. Raises ConfigurationError as `openai_model` does."""
    from rag_otel_evaluators.llm.openai_http import OpenAiTransport

    provider, _, name = model.partition("/")
    address, own_server = _address(model, provider, api_base)
    key = _key(model, provider, api_key, own_server=own_server)
    address, authorization = server_access(model, KEYS[provider], address, key)
    schemas = knows_schemas or not own_server
    return OpenAiTransport(
        name=model,
        identity={"api_base": api_base, "parameters": dict(parameters)},
        model=name,
        address=address,
        headers={"Authorization": authorization},
        parameters=_Request(name, parameters, own_server=own_server),
        price=fixed_price(parameters) or price or (lambda read, written, cached: None),
        ladder=ModeLadder(known_to_support_schema=schemas, in_words_alone=thinks_aloud(name)),
    )


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


class _Request:
    """The fields of a request besides model and messages."""

    def __init__(self, name: str, given: Mapping[str, Any], *, own_server: bool) -> None:
        hidden = bool(_REASONING.match(name))
        left_out = PRICES | ({"temperature"} if hidden else set())
        self._room = REASONING_TOKENS if hidden or thinks_aloud(name) else 0
        self._given = {key: value for key, value in given.items() if value is not None and key not in left_out}
        # OpenAI has replaced `max_tokens`, other servers know nothing else.
        self._budget_key = "max_completion_tokens" if hidden or not own_server else "max_tokens"

    def __call__(self, mode: OutputMode, response_model: type[BaseModel], budget: int | None) -> Mapping[str, Any]:
        fields = dict(self._given)
        if (wanted := response_format(mode, response_model)) is not None:
            fields["response_format"] = wanted
        if budget is not None:
            fields[self._budget_key] = budget + self._room
        return fields


def _address(model: str, provider: str, api_base: str | None) -> tuple[str, bool]:
    """Where the server is, and whether it is another than OpenAI's own."""
    if api_base:
        return api_base, True
    if provider != "openai":
        raise ConfigurationError(f"{model!r} needs judge_api_base: the address of your server")
    elsewhere = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    return (elsewhere, True) if elsewhere else (_OPENAI, False)


def _key(model: str, provider: str, api_key: str | None, *, own_server: bool) -> str | None:
    key = api_key or os.environ.get(KEYS[provider])
    if not key and not own_server:
        raise ConfigurationError(
            f"{model!r} needs a key in {KEYS[provider]}; for a server of your own give judge_api_base"
        )
    return key
