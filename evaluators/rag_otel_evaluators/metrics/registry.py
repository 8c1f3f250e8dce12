"""Metrics by name: the built-in ones, and those that other packages add.

A package adds a metric with an entry point of the group `rag_otel.metrics`. The entry point's name is the name of the
metric. Its object is an `Evaluator`, or a function that takes a `MetricSetup` and returns an `Evaluator`:

    [project.entry-points."rag_otel.metrics"]
    politeness = "my_package.metrics:politeness"

Each metric is imported only when it is used, so that an application with the embedded judge imports little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, cast, runtime_checkable

from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.judges.judge import Judge
from rag_otel_evaluators.metrics.ragas_names import advice

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rag_otel_evaluators.judges.decisions import DecisionJudge
    from rag_otel_evaluators.judges.llm_faithfulness import Reading, Strategy
    from rag_otel_evaluators.llm.embedding import Embedder
    from rag_otel_evaluators.llm.structured import StructuredModel

ENTRY_POINTS: Final = "rag_otel.metrics"
EMBEDDED: Final = "embedded"


@dataclass(frozen=True, kw_only=True)
class MetricSetup:
    """The settings and models that the metrics of one configuration share."""

    judge: str | StructuredModel | Judge = EMBEDDED
    """`embedded`, the name of a language model (`openai/gpt-4o-mini`), a model, or a judge that only judges
    faithfulness."""
    embedder: str | Embedder | None = None
    """The name of an embedding model, an embedder, or None for the built-in embedder, which needs no key."""
    language: str = "en"
    """The language of the prompts."""
    prompt_folder: Path | str | None = None
    """A folder of prompts that replace built-in ones."""
    strategy: Strategy | Literal["classifier"] = "single"
    """How faithfulness is judged with a language model: in one call (`single`), in two calls as RAGAS does
    (`two_step`), or the model writes statements and the `classifier` judges them."""
    reading: Reading = "strict"
    """What a language model counts as supported: only what the chunks state (`strict`), or also what can be inferred
    from them (`lenient`)."""
    classifier: str | Judge = EMBEDDED
    """The judge of the strategy `classifier`: `embedded`, or a judge."""
    samples: int = 1
    """How often a language model judges each claim, for faithfulness."""
    most_claims: int = 60
    """Maximum number of claims of an answer that a language model judges."""

    @cached_property
    def model(self) -> StructuredModel:
        """The language model. All metrics share it and its rate limits.

        Raises ConfigurationError if the judge is not a language model.
        """
        if isinstance(self.judge, Judge):
            raise ConfigurationError(
                f"needs a language model; the judge `{self.judge.name}` is not one, it judges only faithfulness"
            )
        if not isinstance(self.judge, str):
            return self.judge
        if self.judge == EMBEDDED:
            raise ConfigurationError(
                f"needs a language model; the judge is `{EMBEDDED}`: name a model, for example openai/gpt-4o-mini"
            )
        from rag_otel_evaluators.judges.language_model import language_model

        return language_model(self.judge)

    @cached_property
    def faithfulness_judge(self) -> Judge:
        """The judge of faithfulness for the strategy. Raises ConfigurationError for settings that cannot be
        combined."""
        if isinstance(self.judge, Judge):
            return self.judge
        shared: dict[str, Any] = {"language": self.language, "prompt_folder": self.prompt_folder}
        if self.strategy != "classifier":
            from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge

            return LlmJudge(
                model=self.model,
                strategy=self.strategy,
                reading=self.reading,
                samples=self.samples,
                most_claims=self.most_claims,
                **shared,
            )
        from rag_otel_evaluators.judges.statements import StatementsJudge

        if self.reading != "strict":
            raise ConfigurationError(
                f"reading {self.reading!r} is an option of language models; the strategy `classifier` has only `strict`"
            )
        return StatementsJudge(model=self.model, classifier=self._classifier(), **shared)

    def _classifier(self) -> Judge:
        if isinstance(self.classifier, Judge):
            return self.classifier
        if self.classifier != EMBEDDED:
            raise ConfigurationError(f"classifier {self.classifier!r}: is neither `{EMBEDDED}` nor a judge")
        from rag_otel_evaluators.judges.embedded import EmbeddedJudge

        return EmbeddedJudge()

    @cached_property
    def vectors(self) -> Embedder:
        """The embedder. All metrics share it."""
        if self.embedder is None:
            from rag_otel_evaluators.llm.embedding import HashedNgramEmbedder

            return HashedNgramEmbedder()
        if not isinstance(self.embedder, str):
            return self.embedder
        from rag_otel_evaluators.judges.llm import llm_embedder

        return llm_embedder(self.embedder)


MetricFactory: TypeAlias = Callable[[MetricSetup], Evaluator]


@runtime_checkable
class DescribedMetric(Protocol):
    """A metric that still needs a judge, such as `critics.Aspect` and `critics.Rubric`."""

    @property
    def name(self) -> str: ...

    def build(self, setup: MetricSetup) -> Evaluator:
        """Returns the evaluator. Raises ConfigurationError if the setup does not suit it."""
        ...


def build(
    metrics: Sequence[str | DescribedMetric],
    *,
    judge: str | StructuredModel | Judge = EMBEDDED,
    embedder: str | Embedder | None = None,
    language: str = "en",
    prompt_folder: Path | str | None = None,
    strategy: Strategy | Literal["classifier"] = "single",
    reading: Reading = "strict",
    classifier: str | Judge = EMBEDDED,
    samples: int = 1,
    most_claims: int = 60,
) -> tuple[Evaluator, ...]:
    """Builds these metrics, in this order. They share one judge (see `MetricSetup` for the arguments).

    Raises ConfigurationError for an unknown name (the message lists the known ones), for a metric that needs a language
    model if the judge is not one, and for an entry point that cannot be loaded.
    """
    setup = MetricSetup(
        judge=judge,
        embedder=embedder,
        language=language,
        prompt_folder=prompt_folder,
        strategy=strategy,
        reading=reading,
        classifier=classifier,
        samples=samples,
        most_claims=most_claims,
    )
    unique = {metric if isinstance(metric, str) else metric.name: metric for metric in metrics}
    return tuple(_build_one(metric, setup) for metric in unique.values())


def metric_names() -> list[str]:
    """The names of all metrics: the built-in ones, then those of other packages in alphabetical order."""
    return [*_BUILT_IN, *sorted(_added().keys() - _BUILT_IN.keys())]


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
        raise ConfigurationError(advice(name) or f"not known; there are: {', '.join(metric_names())}")
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


def _faithfulness(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.faithfulness import Faithfulness

    if setup.judge == EMBEDDED:
        return Faithfulness()
    if (decisions := decision_judge(setup)) is not None:
        decisions.judges_claims = True
    return Faithfulness(judge=setup.faithfulness_judge)


def decision_judge(setup: MetricSetup) -> DecisionJudge | None:
    """The judge, where it is a decision model: some metrics are a question more to it."""
    judge = setup.judge
    return cast("DecisionJudge", judge) if hasattr(judge, "riders") else None


def _context_precision(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.context_precision import ContextPrecision

    return ContextPrecision(model=setup.model, language=setup.language, prompt_folder=setup.prompt_folder)


def _context_precision_with_reference(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.context_precision import ContextPrecision

    return ContextPrecision(
        model=setup.model, against="reference", language=setup.language, prompt_folder=setup.prompt_folder
    )


def _context_recall(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.context_recall import ContextRecall

    return ContextRecall(model=setup.model, language=setup.language, prompt_folder=setup.prompt_folder)


def _context_relevance(setup: MetricSetup) -> Evaluator:
    if (decisions := decision_judge(setup)) is not None:
        from rag_otel_evaluators.metrics.decided import DecidedContextRelevance

        return DecidedContextRelevance(judge=decisions)
    from rag_otel_evaluators.metrics.context_relevance import ContextRelevance

    return ContextRelevance(model=setup.model, language=setup.language, prompt_folder=setup.prompt_folder)


def _response_relevancy(setup: MetricSetup) -> Evaluator:
    if (decisions := decision_judge(setup)) is not None:
        from rag_otel_evaluators.metrics.decided import DecidedResponseRelevancy

        return DecidedResponseRelevancy(judge=decisions)
    from rag_otel_evaluators.metrics.response_relevancy import ResponseRelevancy

    return ResponseRelevancy(
        model=setup.model, embedder=setup.vectors, language=setup.language, prompt_folder=setup.prompt_folder
    )


def _id_based_context_precision(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.context_overlap import IdContextPrecision

    return IdContextPrecision()


def _id_based_context_recall(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.context_overlap import IdContextRecall

    return IdContextRecall()


def _text_context_precision(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.context_overlap import TextContextPrecision

    return TextContextPrecision()


def _text_context_recall(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.context_overlap import TextContextRecall

    return TextContextRecall()


def _factual_correctness(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.factual_correctness import FactualCorrectness

    return FactualCorrectness(model=setup.model, language=setup.language, prompt_folder=setup.prompt_folder)


def _answer_correctness(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.answer_correctness import AnswerCorrectness

    return AnswerCorrectness(
        model=setup.model, embedder=setup.vectors, language=setup.language, prompt_folder=setup.prompt_folder
    )


def _semantic_similarity(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.semantic_similarity import SemanticSimilarity

    return SemanticSimilarity(embedder=setup.vectors)


def _noise_sensitivity(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.noise_sensitivity import NoiseSensitivity

    return NoiseSensitivity(model=setup.model, language=setup.language, prompt_folder=setup.prompt_folder)


def _noise_sensitivity_irrelevant(setup: MetricSetup) -> Evaluator:
    from rag_otel_evaluators.metrics.noise_sensitivity import NoiseSensitivity

    return NoiseSensitivity(
        model=setup.model, mode="irrelevant", language=setup.language, prompt_folder=setup.prompt_folder
    )


_BUILT_IN: Final[dict[str, MetricFactory]] = {
    "faithfulness": _faithfulness,
    "context_precision": _context_precision,
    "context_precision_with_reference": _context_precision_with_reference,
    "context_recall": _context_recall,
    "context_relevance": _context_relevance,
    "response_relevancy": _response_relevancy,
    "factual_correctness": _factual_correctness,
    "answer_correctness": _answer_correctness,
    "semantic_similarity": _semantic_similarity,
    "noise_sensitivity": _noise_sensitivity,
    "noise_sensitivity_irrelevant": _noise_sensitivity_irrelevant,
    "id_based_context_precision": _id_based_context_precision,
    "id_based_context_recall": _id_based_context_recall,
    "non_llm_context_precision_with_reference": _text_context_precision,
    "non_llm_context_recall": _text_context_recall,
}
