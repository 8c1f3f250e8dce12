"""What the metrics that ask a language model share: prompts, cost, time, and failure as data.

A metric says how it scores one `Case` (`_score`); the rest, from the name on the result to what an outage looks like,
is the same for all and stands here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rag_otel.errors import ConfigurationError, RagOtelError
from rag_otel.evaluation.evaluate import failed_evaluation
from rag_otel.evaluation.usage_meter import add_usage
from rag_otel.model import Chunk, Evaluation, Usage
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.llm.structured import Completion, Message, StructuredModel, T, complete_once
from rag_otel_evaluators.metrics.inputs import Case, make_case
from rag_otel_evaluators.prompts import Prompt, load_prompt
from rag_otel_evaluators.sync import SyncTwin


class LlmMetric(SyncTwin, ABC):
    """An `Evaluator` that asks a `StructuredModel`. Never raises the model's errors: they are failed evaluations."""

    revision: ClassVar[str] = "1"
    """Raised when the same answers of a model would lead to another score."""

    def __init__(self, *, model: StructuredModel, name: str, prompts: Sequence[Prompt]) -> None:
        """Raises ValueError for a name that cannot be a metric's."""
        self._name = check_metric_name(name)
        self.model = model
        self.prompts = {prompt.name: prompt for prompt in prompts}
        """Every prompt that is asked, by name: read them here, replace them in the constructor."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def version(self) -> str:
        """`<revision>+<hash of the prompts>`: another prompt is another measurement."""
        hashes = "".join(prompt.hash for prompt in self.prompts.values())
        return f"{self.revision}+{hashlib.sha256(hashes.encode()).hexdigest()[:8]}"

    @property
    def judge_name(self) -> str:
        return self.model.name

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        """Score one answer; what the metric needs and does not get is a `reason_code`, without a call."""
        case = make_case(question, chunks, response, reference)
        meter = MeteredModel(self.model)
        started = time.perf_counter()
        try:
            result = await self._score(case, meter)
        except RagOtelError as error:
            result = failed_evaluation(self.name, error)
        return dataclasses.replace(
            result,
            evaluator=type(self).__qualname__,
            version=self.version,
            judge=self.judge_name,
            prompts=tuple(prompt.reference for prompt in self.prompts.values()),
            usage=add_usage(meter.usage, result.usage),
            duration_s=time.perf_counter() - started,
        )

    @abstractmethod
    async def _score(self, case: Case, model: StructuredModel) -> Evaluation:
        """Score `case`, asking `model` only (it counts what is spent). May raise the model's errors."""

    def _null(self, reason: str, explanation: str, chunk_scores: tuple[float | None, ...] = ()) -> Evaluation:
        """No score, and why."""
        return Evaluation(name=self.name, reason_code=reason, explanation=explanation, chunk_scores=chunk_scores)


class MeteredModel:
    """A model that adds up what its calls cost, also of those whose answers could not be used."""

    def __init__(self, model: StructuredModel) -> None:
        self._model = model
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        completion = await self._model.complete(messages, response_model, max_output_tokens=max_output_tokens)
        self.usage = add_usage(self.usage, completion.usage)
        return completion

    async def complete_once(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        completion = await complete_once(self._model, messages, response_model, max_output_tokens=max_output_tokens)
        self.usage = add_usage(self.usage, completion.usage)
        return completion


def choose_prompts(
    names: Sequence[str], replacements: Sequence[Prompt | None], language: str, folder: Path | str | None
) -> list[Prompt]:
    """The prompts `names`: a replacement where there is one of that name, else from `folder`, else built in.

    Raises ConfigurationError for a language that a prompt does not have, and for a replacement of another name.
    """
    given = {prompt.name: prompt for prompt in replacements if prompt is not None}
    if unknown := given.keys() - set(names):
        raise ConfigurationError(
            f"this metric asks {', '.join(names)}, and no prompt called {', '.join(sorted(unknown))}"
        )
    return [given.get(name) or load_prompt(name, language, folder=folder) for name in names]
