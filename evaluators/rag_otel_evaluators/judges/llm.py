"""Any language model as a judge, through litellm: `llm_model("openai/gpt-4o-mini")`, `llm_model("ollama/...")`.

Importing it imports litellm (`litellm_library`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from rag_otel_evaluators.judges.litellm_library import litellm, provider_of
from rag_otel_evaluators.judges.litellm_transports import LitellmEmbeddings, LitellmTransport
from rag_otel_evaluators.llm.call_options import CallOptions
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.direct import direct_transport
from rag_otel_evaluators.llm.embedder import ModelEmbedder
from rag_otel_evaluators.llm.transport import Transport


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

    `direct`: a server at `api_base` that speaks OpenAI's protocol is called over HTTP, with the parameters and prices
    that litellm knows and without its 3 to 10 ms of CPU a call; where `parameters` hold what only litellm understands,
    and for all other models, calls go through litellm.

    Raises ConfigurationError for a name of which litellm knows no provider.
    """
    asked = {"temperature": temperature, **(parameters or {})}
    transport: Transport | None = None
    provider = provider_of(model)
    if direct and api_base:
        transport = direct_transport(litellm, provider, model, api_base=api_base, api_key=api_key, parameters=asked)
    if transport is None:
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
