"""Builds evaluators from a configuration. It maps the names of judges (`hhem`, `local/...`) to their classes."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Evaluator
from rag_otel.safety.extras import require_extra
from rag_otel.safety.masking import check_classes
from rag_otel_evaluators.judges.config import EvaluatorsConfig, JudgeConfig, ModelConfig
from rag_otel_evaluators.judges.judge import Judge
from rag_otel_evaluators.llm.reported_usage import PRICES
from rag_otel_evaluators.metrics.registry import DescribedMetric, build
from rag_otel_evaluators.metrics.setup import EMBEDDED, MetricSetup, PromptOptions

if TYPE_CHECKING:
    from rag_otel_evaluators.llm.cache import AnswerCache
    from rag_otel_evaluators.llm.egress import Egress
    from rag_otel_evaluators.llm.embedding import Embedder
    from rag_otel_evaluators.llm.structured import StructuredModel

InBackground: TypeAlias = Callable[[Callable[[], object]], object]
"""Calls a function later, on another thread."""

_HHEM: Final = "hhem"
_LOCAL: Final = "local/"
_CASCADE: Final = "cascade/"
_DECISIONS: Final = "decisions/"
_ROWS_AHEAD: Final = 5


def build_evaluators(
    config: EvaluatorsConfig,
    resources: ExitStack,
    *,
    described: Sequence[DescribedMetric] = (),
    cache_path: Path | None = None,
    cache: AnswerCache | None = None,
    in_background: InBackground | None = None,
) -> tuple[Evaluator, ...]:
    """Builds the metrics of the configuration, then those that are `described`. Open files are closed with `resources`.

    `cache_path` is the file of the cache of judges' answers, or `cache` is the cache itself. None: no cache.
    Imports the judges, which may take seconds. `in_background` runs the imports of a language model on another
    thread while the application starts. Raises ConfigurationError.
    """
    if cache is None:  # an empty file has a length of 0: it is a cache all the same
        cache = _open_cache(config, cache_path, resources)
    judge = _judge(config, cache, in_background=in_background)
    embedder = None if config.embedder is None else _embedder(config.embedder, config, cache)
    return build([*config.metrics, *described], _setup(config, config.judge, judge, cache, embedder))


def _setup(
    config: EvaluatorsConfig,
    settings: JudgeConfig,
    judge: str | StructuredModel | Judge,
    cache: AnswerCache | None,
    embedder: Embedder | None = None,
) -> MetricSetup:
    def faithfulness() -> Judge:
        assert not isinstance(judge, str | Judge)  # neither the embedded judge nor another that judges by itself
        return _judge_of_faithfulness(
            judge, settings, {"language": config.language, "prompt_folder": config.prompts}, cache
        )

    return MetricSetup(
        judge=judge,
        embedder=embedder,
        language=config.language,
        prompt_folder=config.prompts,
        faithfulness=faithfulness,
    )


def _judge_of_faithfulness(
    model: StructuredModel, settings: JudgeConfig, prompts: PromptOptions, cache: AnswerCache | None
) -> Judge:
    """A language model by the strategy of the settings. Raises ConfigurationError for settings that cannot be
    combined."""
    from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
    from rag_otel_evaluators.judges.statements import StatementsJudge

    if settings.strategy != "classifier":
        return LlmJudge(
            model=model,
            strategy=settings.strategy,
            reading=settings.reading,
            samples=settings.samples,
            most_claims=settings.most_claims,
            **prompts,
        )
    if settings.reading != "strict":
        raise ConfigurationError(
            f"reading {settings.reading!r} is an option of language models; the strategy `classifier` has only `strict`"
        )
    return StatementsJudge(model=model, classifier=_classifier(settings, cache), **prompts)


def rows_at_once(config: EvaluatorsConfig) -> int:
    """The number of rows to evaluate at once. It is a little higher than the limit of calls, so that the limit is
    used."""
    return config.concurrency if config.judge.model == EMBEDDED else config.concurrency + _ROWS_AHEAD


def _open_cache(config: EvaluatorsConfig, path: Path | None, resources: ExitStack) -> AnswerCache | None:
    """None for the embedded judge, which is faster than a cache on disk."""
    if path is None or (config.judge.model == EMBEDDED and config.embedder is None):
        return None
    from rag_otel_evaluators.llm.cache import DiskCache

    cache = DiskCache(path)
    resources.callback(cache.close)
    return cache


def _judge(
    config: EvaluatorsConfig, cache: AnswerCache | None, *, in_background: InBackground | None
) -> str | StructuredModel | Judge:
    name = config.judge.model
    if name == EMBEDDED:
        return EMBEDDED
    if name.startswith(_CASCADE):
        return _cascade(config, cache, in_background=in_background)
    if name.partition("/")[0] == _HHEM:
        return _hhem(config.judge, cache)
    if name.startswith(_LOCAL):
        from rag_otel_evaluators.judges.local import local_model

        parameters = _parameters_of(local_model, config.judge)
        return local_model(name.removeprefix(_LOCAL), cache=cache, **parameters)
    settings = {"cache": cache, "egress": _egress(config.judge), **_call_settings(config.judge, config.concurrency)}
    if name.startswith(_DECISIONS):
        return _decisions(config.judge, settings)
    from rag_otel_evaluators.judges.language_model import DeferredModel, deferred_model, language_model

    settings["temperature"] = config.judge.temperature
    if in_background is None:
        return language_model(name, warm=True, **settings)  # imports now, not during the first evaluation
    model = deferred_model(name, **settings)
    if isinstance(model, DeferredModel):
        in_background(model.prepare)
    return model


def _decisions(judge: JudgeConfig, settings: Mapping[str, Any]) -> Judge:
    from rag_otel_evaluators.judges.decision_model import decision_model, limits_of
    from rag_otel_evaluators.judges.decisions import DecisionJudge

    limits, refuses_whole = limits_of(judge.model)
    return DecisionJudge(
        model=decision_model(judge.model, input_price=judge.input_price, **settings),
        limits=limits,
        refuses_whole=refuses_whole,
        most_claims=judge.most_claims,
        check_end=judge.check_end,
    )


def require_price(judge: JudgeConfig, limit: str) -> None:
    """Raises ConfigurationError, which names the `limit` in dollars, where the price of this language model or decision
    model is unknown: asked before the first answer."""
    if judge.parameters.keys() >= PRICES or price_of_judge(judge.model, judge.input_price) is not None:
        return
    if not judge.model.removeprefix(_CASCADE).startswith(_DECISIONS):
        require_extra("llm", "litellm", needed_by=f"{limit} without a price of {judge.model}")
    raise ConfigurationError(
        f"{judge.model}: {limit} needs a price, and none is known; give `input_cost_per_token` and "
        "`output_cost_per_token` as the judge's parameters in a file (of a decision model `input_price`), or limit "
        "calls, tokens or evaluations"
    )


def price_of_judge(judge: str, input_price: float | None = None) -> tuple[float, float] | None:
    """US dollars for a million tokens in and out of a judge by its name, of a cascade's last judge; None where that of
    one is unknown. `input_price`: of a decision model, where it is given. Blocks: what knows prices may have to be
    imported first. Raises ConfigurationError for a judge whose price is not asked by its name."""
    from rag_otel_evaluators.judges.language_model import known_price

    first, last = _decisions_and_chat(judge.removeprefix(_CASCADE))
    if not first.startswith(_DECISIONS):
        return known_price(first)
    from rag_otel_evaluators.llm.decisions.providers import PREFIX, price_of

    known = price_of(first.removeprefix(PREFIX))
    usd = input_price if known is None or input_price is not None else known.usd
    if usd is None:
        return None
    return (usd, 0.0) if last is None else known_price(last)


def _cascade(config: EvaluatorsConfig, cache: AnswerCache | None, *, in_background: InBackground | None) -> Judge:
    """A cascade: the embedded judge decides first, and the judge named after `cascade/` decides uncertain claims.

    Behind a decision model a chat model may be named, for what the decision model is in doubt of.
    """
    from rag_otel_evaluators.judges.cascade import CascadeJudge
    from rag_otel_evaluators.judges.decision_verdicts import DOUBT_FROM, SURE_FROM
    from rag_otel_evaluators.judges.embedded import EmbeddedJudge

    first, last = _decisions_and_chat(config.judge.model.removeprefix(_CASCADE))
    expensive = _second_judge(config, first, cache, in_background=in_background, alone=last is None)
    if last is not None:
        judge = _second_judge(config, last, cache, in_background=in_background, alone=False)
        expensive = CascadeJudge(
            cheap=expensive, expensive=judge, sure_supported_from=SURE_FROM, sure_unsupported_to=DOUBT_FROM
        )
    return CascadeJudge(cheap=EmbeddedJudge(), expensive=expensive)


def _decisions_and_chat(name: str) -> tuple[str, str | None]:
    """`decisions/<provider>/<model>/<chat model>` as both; a judge without a chat model behind it, and None.

    The model of a provider is one part of the name, of OpenRouter two (`typesafe/jev-1.13`).
    """
    kind, *parts = name.split("/")
    of_decisions = 3 if parts[:1] == ["openrouter"] else 2
    chat = parts[of_decisions:]
    if f"{kind}/" != _DECISIONS or len(chat) < 2:
        return name, None
    return "/".join([kind, *parts[:of_decisions]]), "/".join(chat)


def _second_judge(
    config: EvaluatorsConfig, name: str, cache: AnswerCache | None, *, in_background: InBackground | None, alone: bool
) -> Judge:
    """A judge behind the embedded one. Of a decision model and a chat model, address, key and parameters belong to the
    one that is a server of one's own (`decisions/systemone/...`), else to the chat model."""
    update: dict[str, Any] = {"model": name}
    own_server = f"{_DECISIONS}systemone/" in config.judge.model
    if not alone and own_server != name.startswith(_DECISIONS):
        update |= {"api_base": None, "api_key_env": None, "parameters": {}}
    settings = config.judge.model_copy(update=update)
    judge = _judge(config.model_copy(update={"judge": settings}), cache, in_background=in_background)
    if isinstance(judge, str):
        raise ConfigurationError(f"{config.judge.model}: a cascade needs a second judge behind `{_CASCADE}`")
    return _setup(config, settings, judge, cache).faithfulness_judge


def _classifier(config: JudgeConfig, cache: AnswerCache | None) -> Judge:
    """The judge that decides in the strategy `classifier`."""
    from rag_otel_evaluators.judges.embedded import EmbeddedJudge

    if config.classifier == EMBEDDED:
        return EmbeddedJudge()
    if config.classifier.partition("/")[0] == _HHEM:
        return _hhem(JudgeConfig(model=config.classifier), cache)
    raise ConfigurationError(f"classifier: {config.classifier!r} is neither `{EMBEDDED}` nor `{_HHEM}[/...]`")


def _hhem(config: JudgeConfig, cache: AnswerCache | None) -> Judge:
    from rag_otel_evaluators.judges.cached import CachedJudge
    from rag_otel_evaluators.judges.hhem import hhem_judge

    folder, parameters = config.model.partition("/")[2], _parameters_of(hhem_judge, config)
    judge = hhem_judge(folder, **parameters) if folder else hhem_judge(**parameters)
    return judge if cache is None else CachedJudge(judge, cache)


def _embedder(config: ModelConfig, whole: EvaluatorsConfig, cache: AnswerCache | None) -> Embedder:
    if config.model.startswith(_LOCAL):
        from rag_otel_evaluators.judges.local_embedder import local_embedder

        return local_embedder(config.model.removeprefix(_LOCAL), **_parameters_of(local_embedder, config))
    from rag_otel_evaluators.judges.llm import llm_embedder

    settings = _call_settings(config, whole.concurrency)
    return llm_embedder(config.model, cache=cache, egress=_egress(whole.judge), **settings)


def _parameters_of(loader: Callable[..., Any], config: ModelConfig) -> Mapping[str, Any]:
    """The configured parameters. For a model in this process they are arguments of its loader."""
    known = inspect.signature(loader).parameters.keys() - {"model", "cache"}
    if unknown := config.parameters.keys() - known:
        raise ConfigurationError(
            f"{config.model}: parameters: unknown {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}"
        )
    return config.parameters


def _call_settings(config: ModelConfig, concurrency: int) -> Mapping[str, Any]:
    from rag_otel_evaluators.llm.rate_limits import RateLimits

    return {
        "api_base": config.api_base,
        "api_key": _api_key(config),
        "parameters": config.parameters,
        "timeout_s": config.timeout,
        "limits": RateLimits(
            concurrency=concurrency,
            requests_per_minute=config.requests_per_minute,
            tokens_per_minute=config.tokens_per_minute,
        ),
    }


def _egress(judge: JudgeConfig) -> Egress:
    """What is masked and recorded of what leaves, for the judge and the embedder."""
    from rag_otel_evaluators.llm.egress import Egress
    from rag_otel_evaluators.llm.egress_record import EgressRecord
    from rag_otel_evaluators.llm.mask_engines import engine_of

    return Egress(
        mask=check_classes(judge.mask),
        engine=engine_of(judge.mask_engine),
        record=None if judge.record_file is None else EgressRecord(judge.record_file),
    )


def _api_key(config: ModelConfig) -> str | None:
    if config.api_key_env is None:
        return None
    key = os.environ.get(config.api_key_env)
    if not key:
        raise ConfigurationError(f"{config.model}: the environment variable {config.api_key_env} is not set or empty")
    return key
