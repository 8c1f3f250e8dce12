"""From a configuration to evaluators: the only place that knows which name stands for which kind of judge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.evaluation_config import EvaluationConfig, JudgeConfig, ModelConfig
from rag_otel_evaluators.registry import EMBEDDED, build

if TYPE_CHECKING:
    from rag_otel_evaluators.embedding import Embedder
    from rag_otel_evaluators.judge import Judge
    from rag_otel_evaluators.llm.cache import DiskCache
    from rag_otel_evaluators.structured import StructuredModel

_HHEM: Final = "hhem"
_LOCAL: Final = "local/"


def build_evaluators(config: EvaluationConfig, resources: ExitStack) -> tuple[Evaluator, ...]:
    """The metrics that the configuration names; what they hold open is closed with `resources`.

    The heavy imports of judges happen here. Raises ConfigurationError.
    """
    cache = _open_cache(config, resources)
    return build(
        config.metrics,
        judge=_judge(config.judge, config.concurrency, cache),
        embedder=None if config.embedder is None else _embedder(config.embedder, config.concurrency, cache),
        language=config.language,
        prompt_folder=config.prompts,
        strategy=config.judge.strategy,
        reading=config.judge.reading,
    )


def _open_cache(config: EvaluationConfig, resources: ExitStack) -> DiskCache | None:
    """None where nothing is worth keeping: the embedded judge is quicker than a disk."""
    if config.cache_path is None or (config.judge.model == EMBEDDED and config.embedder is None):
        return None
    from rag_otel_evaluators.llm.cache import DiskCache

    cache = DiskCache(config.cache_path)
    resources.callback(cache.close)
    return cache


def _judge(config: JudgeConfig, concurrency: int, cache: DiskCache | None) -> str | StructuredModel | Judge:
    if config.model == EMBEDDED:
        return EMBEDDED
    if config.model.partition("/")[0] == _HHEM:
        return _hhem(config, cache)
    if config.model.startswith(_LOCAL):
        from rag_otel_evaluators.judges.local import local_model

        return local_model(config.model.removeprefix(_LOCAL), cache=cache, **config.parameters)
    from rag_otel_evaluators.judges.llm import llm_model, warm_up

    model = llm_model(config.model, temperature=config.temperature, cache=cache, **_call_settings(config, concurrency))
    warm_up(config.model)  # what litellm would load, and warn of, in the midst of the progress bar
    return model


def _hhem(config: JudgeConfig, cache: DiskCache | None) -> Judge:
    from rag_otel_evaluators.judges.cached import CachedJudge
    from rag_otel_evaluators.judges.hhem import hhem_judge

    folder = config.model.partition("/")[2]
    judge = hhem_judge(folder, **config.parameters) if folder else hhem_judge(**config.parameters)
    return judge if cache is None else CachedJudge(judge, cache)


def _embedder(config: ModelConfig, concurrency: int, cache: DiskCache | None) -> Embedder:
    if config.model.startswith(_LOCAL):
        from rag_otel_evaluators.judges.local_embedder import local_embedder

        return local_embedder(config.model.removeprefix(_LOCAL), **config.parameters)
    from rag_otel_evaluators.judges.llm import llm_embedder

    return llm_embedder(config.model, cache=cache, **_call_settings(config, concurrency))


def _call_settings(config: ModelConfig, concurrency: int) -> Mapping[str, Any]:
    from rag_otel_evaluators.llm.limits import Limits

    return {
        "api_base": config.api_base,
        "api_key": _api_key(config),
        "parameters": config.parameters,
        "timeout_s": config.timeout,
        "limits": Limits(
            concurrency=concurrency,
            requests_per_minute=config.requests_per_minute,
            tokens_per_minute=config.tokens_per_minute,
        ),
    }


def _api_key(config: ModelConfig) -> str | None:
    if config.api_key_env is None:
        return None
    key = os.environ.get(config.api_key_env)
    if not key:
        raise ConfigurationError(f"{config.model}: the environment variable {config.api_key_env} holds no key")
    return key
