"""The base class of metrics that use a language model. It handles prompts, cost, duration and failures.

A metric implements `_score`, which scores one `Case`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from rag_otel.errors import RagOtelError
from rag_otel.evaluation.evaluate import failed_evaluation
from rag_otel.evaluation.usage_meter import add_usage
from rag_otel.model import Chunk, Evaluation
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.llm.metered import MeteredModel
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, StructuredModel
from rag_otel_evaluators.metrics.inputs import Case, make_case
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.sync import SyncTwin


class LlmMetric(SyncTwin, ABC):
    """An `Evaluator` that calls a `StructuredModel`. The model's errors become failed evaluations."""

    revision: ClassVar[str] = "3"
    """Must be increased when the same answers of a model would lead to another score."""
    most_calls: int = CALLS_A_STEP
    """Maximum number of calls of one evaluation."""

    def __init__(self, *, model: StructuredModel, name: str, prompts: Sequence[Prompt]) -> None:
        """Raises ValueError for an invalid name of a metric."""
        self._name = check_metric_name(name)
        self.model = model
        self.prompts = {prompt.name: prompt for prompt in prompts}
        """All prompts of the metric by name. To replace one, pass it to the constructor."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def version(self) -> str:
        """`<revision>+<hash of the prompts>`. Scores with different prompts are not comparable."""
        hashes = "".join(prompt.hash for prompt in self.prompts.values())
        return f"{self.revision}+{hashlib.sha256(hashes.encode()).hexdigest()[:8]}"

    @property
    def judge_name(self) -> str:
        return self.model.name

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        """Scores one answer. If a required field is missing, the result has a `reason_code` and no call is made."""
        case = make_case(question, chunks, response, reference)
        meter = MeteredModel(self.model, most_calls=self.most_calls)
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
        """Scores `case`. Must call only `model`, which counts tokens and cost. May raise the model's errors."""

    def _null(self, reason: str, explanation: str, chunk_scores: tuple[float | None, ...] = ()) -> Evaluation:
        """Returns an evaluation without a score, with its reason."""
        return Evaluation(name=self.name, reason_code=reason, explanation=explanation, chunk_scores=chunk_scores)
