"""The base class of metrics that ask a language model: prompts, tokens and cost, and questions about numbered items."""

from __future__ import annotations

import dataclasses
import hashlib
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, TypedDict, Unpack

from rag_otel.errors import RagOtelError
from rag_otel.evaluation.current_evaluation import add_usage
from rag_otel.evaluation.evaluate import failed_evaluation
from rag_otel.model import Evaluation
from rag_otel_evaluators.llm.metered import MeteredModel
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, StructuredModel
from rag_otel_evaluators.llm.structured import T as ResponseT
from rag_otel_evaluators.metrics.metric import Case, Metric
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts
from rag_otel_evaluators.prompts.numbered_items import A, AnswerForm, NumberedAnswers, ask_about_each
from rag_otel_evaluators.prompts.prompt import InputField


class LlmOptions(TypedDict, total=False):
    """Arguments that every metric with a language model has."""

    name: str | None
    """The name of the metric. None: the usual one."""
    language: str
    """The language of the prompts, `en` without one."""
    prompt: Prompt | tuple[Prompt, ...] | None
    """A prompt that takes the place of the metric's own of the same name, or several."""
    prompt_folder: Path | str | None
    """A folder of prompts that take the place of built-in ones."""


class LlmMetric(Metric):
    """A `Metric` that asks a `StructuredModel`. The model's errors become failed evaluations."""

    revision: ClassVar[str] = "3"
    """Must be increased when the same answers of a model would lead to another score."""
    most_calls: int = CALLS_A_STEP
    """Maximum number of calls of one evaluation."""
    default_name: str
    prompt_names: tuple[str, ...]
    """The prompts that the metric asks with."""

    def __init__(self, *, model: StructuredModel, **options: Unpack[LlmOptions]) -> None:
        """`options`: see `LlmOptions`. Raises ValueError for an invalid name of a metric, ConfigurationError for a
        prompt that the metric does not use and a language without prompts."""
        super().__init__(options.get("name") or self.default_name)
        self.model = model
        given = options.get("prompt") or ()
        chosen = choose_prompts(
            self.prompt_names,
            [given] if isinstance(given, Prompt) else given,
            options.get("language", "en"),
            options.get("prompt_folder"),
        )
        self.prompts = {prompt.name: prompt for prompt in chosen}
        """All prompts of the metric by name. To replace one, pass it to the constructor."""

    @property
    def version(self) -> str:
        """`<revision>+<hash of the prompts>`. Scores with different prompts are not comparable."""
        return f"{self.revision}+{short_hash(''.join(prompt.hash for prompt in self.prompts.values()))}"

    @property
    def judge_name(self) -> str:
        return self.model.name

    @property
    def prompt(self) -> Prompt:
        """The first prompt: the only one of most metrics."""
        return next(iter(self.prompts.values()))

    async def _score(self, case: Case) -> Evaluation:
        meter = MeteredModel(self.model, most_calls=self.most_calls)
        try:
            result = await self._ask(case, meter)
        except RagOtelError as error:
            result = failed_evaluation(self.name, error)
        prompts = tuple(prompt.reference for prompt in self.prompts.values())
        return dataclasses.replace(result, prompts=prompts, usage=add_usage(meter.usage, result.usage))

    @abstractmethod
    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        """Scores `case`. Must call only `model`, which counts tokens and cost. May raise the model's errors."""

    async def _about_each(
        self, model: StructuredModel, fields: Mapping[str, InputField | None], form: AnswerForm[ResponseT, A]
    ) -> NumberedAnswers[A]:
        """Asks about each item of the last field, in one step (one call and at most one repeat)."""
        *_, items = fields
        return await ask_about_each(model, self.prompt, fields, items=items, form=form)


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
