"""Metrics by name: the built-in ones, those that other packages add, and what Ragas calls them.

A package adds a metric with an entry point of the group `rag_otel.metrics`. The entry point's name is the name of the
metric. Its object is an `Evaluator`, or a function that takes a `MetricSetup` and returns an `Evaluator`:

    [project.entry-points."rag_otel.metrics"]
    politeness = "my_package.metrics:politeness"

Each metric is imported only when it is used, so that an application with the embedded judge imports little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast, runtime_checkable

from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.metrics.setup import EMBEDDED, MetricSetup

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS: Final = "rag_otel.metrics"
RAGAS_NAMES: Final = {
    "AnswerCorrectness": "answer_correctness",
    "AnswerRelevancy": "response_relevancy",
    "ContextPrecision": "context_precision_with_reference",
    "ContextRecall": "context_recall",
    "ContextRelevance": "context_relevance",
    "FactualCorrectness": "factual_correctness",
    "Faithfulness": "faithfulness",
    "IDBasedContextPrecision": "id_based_context_precision",
    "IDBasedContextRecall": "id_based_context_recall",
    "LLMContextPrecisionWithReference": "context_precision_with_reference",
    "LLMContextPrecisionWithoutReference": "context_precision",
    "LLMContextRecall": "context_recall",
    "NoiseSensitivity": "noise_sensitivity",
    "NonLLMContextPrecisionWithReference": "non_llm_context_precision_with_reference",
    "NonLLMContextRecall": "non_llm_context_recall",
    "ResponseRelevancy": "response_relevancy",
    "SemanticSimilarity": "semantic_similarity",
    "answer_relevancy": "response_relevancy",
}
"""Class, or name of a result's column, in Ragas -> name of the metric with the same formula."""
_RAGAS_CLASSES: Final = {"AspectCritic": "Aspect", "RubricsScore": "Rubric", "SimpleCriteriaScore": "Rubric"}
"""Class in Ragas -> class of `rag_otel_evaluators.metrics.critics` that takes its place."""

MetricFactory: TypeAlias = Callable[[MetricSetup], Evaluator]


@runtime_checkable
class DescribedMetric(Protocol):
    """A metric that still needs a judge, such as `critics.Aspect` and `critics.Rubric`."""

    @property
    def name(self) -> str: ...

    def build(self, setup: MetricSetup) -> Evaluator:
        """Returns the evaluator. Raises ConfigurationError if the setup does not suit it."""
        ...


def build(metrics: Sequence[str | DescribedMetric], setup: MetricSetup | None = None) -> tuple[Evaluator, ...]:
    """Builds these metrics, in this order. They share one judge: that of the setup, without one the embedded judge.

    Raises ConfigurationError for an unknown name (the message lists the known ones), for a metric that needs a language
    model if the judge is not one, and for an entry point that cannot be loaded.
    """
    setup = setup or MetricSetup()
    unique = {metric if isinstance(metric, str) else metric.name: metric for metric in metrics}
    return tuple(_build_one(metric, setup) for metric in unique.values())


def metric_names() -> list[str]:
    """The names of all metrics: the built-in ones, then those of other packages in alphabetical order."""
    return [*_BUILT_IN, *sorted(_added().keys() - _BUILT_IN.keys())]


def ragas_advice(name: str) -> str | None:
    """What to write in place of a name of Ragas; None where it is none."""
    if name in RAGAS_NAMES:
        return f"write the name of the metric: {RAGAS_NAMES[name]!r}"
    if name in _RAGAS_CLASSES:
        return f"write rag_otel_evaluators.metrics.critics.{_RAGAS_CLASSES[name]}(...)"
    return None


def _build_one(metric: str | DescribedMetric, setup: MetricSetup) -> Evaluator:
    name = metric if isinstance(metric, str) else metric.name
    try:
        if not isinstance(metric, str):
            return metric.build(setup)
        factory = _BUILT_IN.get(name) or _load(name)
        return factory(setup)
    except ConfigurationError as error:
        raise ConfigurationError(f"metric {name!r}: {error}") from error


def _load(name: str) -> MetricFactory:
    """Loads the factory of the entry point `name`."""
    entry_point = _added().get(name)
    if entry_point is None:
        raise ConfigurationError(ragas_advice(name) or f"not known; there are: {', '.join(metric_names())}")
    try:
        loaded = entry_point.load()
    except Exception as error:
        raise ConfigurationError(f"its entry point {entry_point.value!r} cannot be loaded: {error}") from error
    if isinstance(loaded, Evaluator) and not isinstance(loaded, type):
        return lambda setup: loaded
    if not callable(loaded):
        raise ConfigurationError(
            f"its entry point {entry_point.value!r} is neither an evaluator nor a function that returns one"
        )
    factory: MetricFactory = loaded
    return factory


def _added() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # here: it imports zipfile and the package email

    return {entry_point.name: entry_point for entry_point in entry_points(group=ENTRY_POINTS)}


@dataclass(frozen=True, kw_only=True)
class _BuiltIn:
    """A metric of this package. It is imported when it is built."""

    path: str
    """`<module>:<class>` in this package."""
    asks: bool = True
    """Whether it asks a language model, and so takes the model and the prompts."""
    embeds: bool = False
    """Whether it takes the embedder."""
    options: Mapping[str, Any] | None = None
    decided: str | None = None
    """The class in `decided` for a judge that is a decision model."""

    def __call__(self, setup: MetricSetup) -> Evaluator:
        if self.decided is not None and setup.decision_judge is not None:
            return _class(f"decided:{self.decided}")(judge=setup.decision_judge)
        given = dict(self.options or {})
        if self.asks:
            given |= {"model": setup.model, **setup.prompts}
        if self.embeds:
            given["embedder"] = setup.vectors
        return _class(self.path)(**given)


def _class(path: str) -> Callable[..., Evaluator]:
    module, _, name = path.partition(":")
    return cast("Callable[..., Evaluator]", getattr(import_module(f"{__package__}.{module}"), name))


def _faithfulness(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.faithfulness import Faithfulness

    if setup.judge == EMBEDDED:
        return Faithfulness()
    if (decisions := setup.decision_judge) is not None:
        decisions.judges_claims = True
    return Faithfulness(judge=setup.faithfulness_judge)


_BUILT_IN: Final[dict[str, MetricFactory]] = {
    "faithfulness": _faithfulness,
    "context_precision": _BuiltIn(path="context_precision:ContextPrecision"),
    "context_precision_with_reference": _BuiltIn(
        path="context_precision:ContextPrecision", options={"against": "reference"}
    ),
    "context_recall": _BuiltIn(path="context_recall:ContextRecall"),
    "context_relevance": _BuiltIn(path="context_relevance:ContextRelevance", decided="DecidedContextRelevance"),
    "response_relevancy": _BuiltIn(
        path="response_relevancy:ResponseRelevancy", embeds=True, decided="DecidedResponseRelevancy"
    ),
    "factual_correctness": _BuiltIn(path="factual_correctness:FactualCorrectness"),
    "answer_correctness": _BuiltIn(path="answer_correctness:AnswerCorrectness", embeds=True),
    "semantic_similarity": _BuiltIn(path="semantic_similarity:SemanticSimilarity", asks=False, embeds=True),
    "noise_sensitivity": _BuiltIn(path="noise_sensitivity:NoiseSensitivity"),
    "noise_sensitivity_irrelevant": _BuiltIn(path="noise_sensitivity:NoiseSensitivity", options={"mode": "irrelevant"}),
    "id_based_context_precision": _BuiltIn(path="context_overlap:IdContextPrecision", asks=False),
    "id_based_context_recall": _BuiltIn(path="context_overlap:IdContextRecall", asks=False),
    "non_llm_context_precision_with_reference": _BuiltIn(path="context_overlap:TextContextPrecision", asks=False),
    "non_llm_context_recall": _BuiltIn(path="context_overlap:TextContextRecall", asks=False),
}
