"""What the metrics of one configuration share: the judge, the embedder and the prompts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict, cast

from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.judge import Judge

if TYPE_CHECKING:
    from rag_otel_evaluators.judges.decisions import DecisionJudge
    from rag_otel_evaluators.llm.embedding import Embedder
    from rag_otel_evaluators.llm.structured import StructuredModel

EMBEDDED: Final = "embedded"


class PromptOptions(TypedDict):
    """Where the prompts of a metric or a judge come from."""

    language: str
    prompt_folder: Path | str | None


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
    faithfulness: Callable[[], Judge] | None = None
    """Makes the judge of faithfulness. None: `judge`, and a language model judges in one call."""

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

    @property
    def prompts(self) -> PromptOptions:
        """Where the prompts come from: arguments of every metric with a language model."""
        return {"language": self.language, "prompt_folder": self.prompt_folder}

    @property
    def decision_judge(self) -> DecisionJudge | None:
        """The judge, where it is a decision model: some metrics are a question more to it."""
        return cast("DecisionJudge", self.judge) if hasattr(self.judge, "riders") else None

    @property
    def faithfulness_judge(self) -> Judge:
        """The judge of faithfulness. Raises ConfigurationError for settings that cannot be combined."""
        if isinstance(self.judge, Judge):
            return self.judge
        if self.faithfulness is not None:
            return self.faithfulness()
        from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge

        return LlmJudge(model=self.model, **self.prompts)

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
