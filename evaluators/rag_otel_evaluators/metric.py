"""What the metrics that ask a language model share: inputs, prompts, cost, time, and failure as data.

A metric says how it scores one `Case` (`_score`); the rest, from the name on the result to what an outage looks like,
is the same for all and stands here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import ClassVar, Final

from rag_otel.errors import ConfigurationError, RagOtelError, RetryableError
from rag_otel.model import Chunk, Evaluation, ReasonCode, Usage
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.prompts import Prompt, load_prompt
from rag_otel_evaluators.segmentation import segment
from rag_otel_evaluators.structured import Completion, Message, StructuredModel, T, add_usage
from rag_otel_evaluators.sync import SyncTwin

FIELDS: Final = ("question", "chunks", "response", "reference")
"""What there is to judge, by the names that `Evaluator.evaluate` gives them."""

_NAMED_PROBLEMS: Final = 3
"""How many problems with a judge's answer an explanation names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What one evaluation is about, with blank texts made absent."""

    question: str | None
    chunks: tuple[str, ...]
    """Texts by position; blank ones stay, so that positions hold."""
    chunk_ids: tuple[str, ...]
    """By position; the position as text for a chunk that is a mere string."""
    response: str | None
    reference: str | None

    @property
    def has_context(self) -> bool:
        """False where nothing, or nothing but white space, was retrieved."""
        return any(text.strip() for text in self.chunks)


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
        case = Case(
            question=_text(question),
            chunks=tuple(chunk if isinstance(chunk, str) else chunk.text for chunk in chunks),
            chunk_ids=tuple(str(i) if isinstance(chunk, str) else chunk.id for i, chunk in enumerate(chunks)),
            response=_text(response),
            reference=_text(reference),
        )
        meter = MeteredModel(self.model)
        started = time.perf_counter()
        try:
            result = await self._score(case, meter)
        except RagOtelError as error:
            result = failed(self.name, error)
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


def failed(name: str, error: Exception) -> Evaluation:
    """An evaluation that failed: what went wrong and whether trying again may help."""
    return Evaluation(
        name=name,
        reason_code=ReasonCode.JUDGE_ERROR,
        explanation=str(error) or type(error).__name__,
        error_type=f"{type(error).__module__}.{type(error).__qualname__}",
        error_retryable=isinstance(error, RetryableError),
    )


def only_abstains(text: str) -> bool:
    """True where the text says that it does not know, and claims nothing beside it."""
    segments = segment(text)
    return segments.abstained and not segments.claims


def with_problems(explanation: str, problems: Sequence[str]) -> str:
    """The explanation, followed by what was set aside of the judge's answer."""
    if not problems:
        return explanation
    named = "; ".join(problems[:_NAMED_PROBLEMS])
    more = f"; and {len(problems) - _NAMED_PROBLEMS} more" if len(problems) > _NAMED_PROBLEMS else ""
    return f"{explanation} Set aside: {named}{more}.".lstrip()


def scored(name: str, score: object, explanation: str) -> Evaluation:
    """An evaluation of what a user's own code returned; raises ValueError where that is no score."""
    if score is None:
        return Evaluation(name=name, reason_code=ReasonCode.NOT_SCORED, explanation=explanation or None)
    if not isinstance(score, Real) or not 0.0 <= (number := float(score)) <= 1.0:
        raise ValueError(f"a score is a number within 0..1 or None, not {score!r}")
    return Evaluation(name=name, score=number, explanation=explanation or None)


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


def _text(value: str | None) -> str | None:
    return value if value and value.strip() else None
