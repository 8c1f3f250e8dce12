"""Any language model as a judge, through litellm: `llm_model("openai/gpt-4o-mini")`, `llm_model("ollama/...")`.

Importing it imports litellm (`litellm_library`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Unpack

from rag_otel_evaluators.judges.litellm_library import litellm, price_of, provider_of
from rag_otel_evaluators.judges.litellm_transports import LitellmEmbeddings, LitellmTransport
from rag_otel_evaluators.judges.openai_model import KNOWN_PARAMETERS, openai_transport, speaks_openai
from rag_otel_evaluators.llm.client import CallOptions, ResilientModel
from rag_otel_evaluators.llm.embedding import ModelEmbedder
from rag_otel_evaluators.llm.transport import Transport

_OWN_MESSAGES: Final = re.compile(r"openai/o\d")
"""Models whose messages litellm changes: some take no `system`."""


def llm_model(
    model: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    temperature: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    direct: bool = True,
    **calls: Unpack[CallOptions],
) -> ResilientModel:
    """A `StructuredModel` over litellm.

    `model` is litellm's name (`openai/gpt-4o-mini`, `anthropic/...`, `ollama/...`, `hosted_vllm/...`); for a local
    server that speaks OpenAI's protocol `openai/<name>` with `api_base`. `parameters` go to litellm as they are
    (`seed`, `input_cost_per_token` for a model whose price it does not know, ...). `calls`: see `CallOptions`.

    `direct`: a server at `api_base` that speaks OpenAI's protocol is called over HTTP, at the prices that litellm knows
    and without its 3 to 10 ms of CPU a call; where `parameters` hold what only litellm understands, and for all other
    models, calls go through litellm.

    Raises ConfigurationError for a name of which litellm knows no provider.
    """
    asked = {"temperature": temperature, **(parameters or {})}
    transport: Transport
    provider_of(model)
    plain = speaks_openai(model) and not _OWN_MESSAGES.match(model) and asked.keys() <= KNOWN_PARAMETERS
    if direct and api_base and plain:
        transport = openai_transport(
            model,
            api_base=api_base,
            api_key=api_key,
            parameters=asked,
            price=price_of(model, asked),
            knows_schemas=bool(litellm.supports_response_schema(model)),
        )
    else:
        transport = LitellmTransport(model, api_base=api_base, api_key=api_key, parameters=asked)
    return ResilientModel(transport, **calls)


def llm_embedder(
    model: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    **calls: Unpack[CallOptions],
) -> ModelEmbedder:
    """An `Embedder` over litellm (`openai/text-embedding-3-small`, `ollama/...`); arguments as of `llm_model`."""
    transport = LitellmEmbeddings(model, model, api_base=api_base, api_key=api_key, parameters=parameters or {})
    return ModelEmbedder(ResilientModel(transport, **calls))
