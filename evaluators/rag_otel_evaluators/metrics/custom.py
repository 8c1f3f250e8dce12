"""Custom metrics, defined by a prompt and a pydantic response model in about five lines.

    class Politeness(BaseModel):
        reason: str
        rating: int = Field(ge=1, le=5)

    politeness = llm_evaluator(
        name="politeness", model=model, response_model=Politeness,
        prompt="Rate from 1 to 5 how polite the response is.", score=lambda answer: (answer.rating - 1) / 4,
    )

They are evaluators like the built-in ones: they work on live traces and on files, and record cost, explanations and
failures.
"""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.evaluate import failed_evaluation
from rag_otel.model import Evaluation, ReasonCode
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.llm.structured import Message, StructuredModel
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.metric import FIELDS, Case, scored, with_problems
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.prompt import InputField, render_fields

_PLACEHOLDER: Final = re.compile(r"\{(" + "|".join(FIELDS) + r")\}")
_EXPLANATIONS: Final = ("explanation", "reason", "reasoning")
"""Fields of a response model that become the explanation. The first one with a text is used."""

R = TypeVar("R", bound=BaseModel)
Score: TypeAlias = float | int | bool | None


def llm_evaluator(
    *,
    name: str,
    model: StructuredModel,
    prompt: Prompt | str,
    response_model: type[R],
    score: Callable[[R], Score] | str,
    version: str = "1",
    max_output_tokens: int | None = None,
    lower_is_better: bool = False,
) -> CustomLlmMetric[R]:
    """Returns an evaluator that sends `prompt` to the model and scores the answer.

    `prompt`: its placeholders (`{question}`, `{chunks}`, `{response}`, `{reference}`) are replaced with the fields. A
    prompt without placeholders is used as the instruction, and all known fields follow it.
    `score`: a field of the response model, or a function of the response, in 0..1. None means that there is no score.
    `lower_is_better`: a low score is good (toxicity).

    Raises ConfigurationError for an invalid prompt or score, ValueError for an invalid name of a metric.
    """
    if isinstance(prompt, str):
        prompt = Prompt(name=check_metric_name(name), version=version, instruction=prompt)
    if isinstance(score, str) and score not in response_model.model_fields:
        known = ", ".join(response_model.model_fields)
        raise ConfigurationError(f"{name}: {response_model.__name__} has no field {score!r} to score; it has: {known}")
    return CustomLlmMetric(
        name=name,
        model=model,
        prompt=prompt,
        response_model=response_model,
        score=score,
        max_output_tokens=max_output_tokens,
        lower_is_better=lower_is_better,
    )


class CustomLlmMetric(LlmMetric, Generic[R]):
    """A metric with one step (one call and at most one repeat) per answer. If a part of the model's answer was dropped,
    the score has the reason `incomplete`. The score is None with the reason `parse_error`, or `not_scored` if `score`
    returned None. `Evaluation.answer` holds the parsed answer: `response_model.model_validate(result.answer)`."""

    def __init__(
        self,
        *,
        name: str,
        model: StructuredModel,
        prompt: Prompt,
        response_model: type[R],
        score: Callable[[R], Score] | str,
        max_output_tokens: int | None = None,
        lower_is_better: bool = False,
    ) -> None:
        self.default_name, self.prompt_names = name, (prompt.name,)
        super().__init__(model=model, prompt=prompt)
        self.lower_is_better = lower_is_better
        if prompt.examples and _PLACEHOLDER.search(prompt.instruction):
            raise ConfigurationError(f"{name}: a prompt with placeholders is one message and cannot have examples")
        self.needs = tuple(dict.fromkeys(_PLACEHOLDER.findall(prompt.instruction)))
        self.response_model = response_model
        self.score: Callable[[R], Score] = operator.attrgetter(score) if isinstance(score, str) else score
        self.max_output_tokens = max_output_tokens

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        completion = await model.complete(
            custom_messages(self.prompt, case), self.response_model, max_output_tokens=self.max_output_tokens
        )
        if completion.value is None:
            return self._null(ReasonCode.PARSE_ERROR, with_problems("No answer could be read.", completion.problems))
        answer = completion.value.model_dump(mode="json")
        try:
            score = self.score(completion.value)
            result = scored(self.name, score, with_problems(_explanation(completion.value), completion.problems))
        except Exception as error:  # noqa: BLE001 - the user's function may fail in any way
            return dataclasses.replace(failed_evaluation(self.name, error), answer=answer)
        if completion.problems and result.reason_code is None:  # items of the answer were dropped
            result = dataclasses.replace(result, reason_code=ReasonCode.INCOMPLETE)
        return dataclasses.replace(result, answer=answer)


def custom_messages(prompt: Prompt, case: Case) -> list[Message]:
    """Returns the messages of a custom prompt: with its placeholders replaced, or with all known fields after it."""
    fields: Mapping[str, InputField | None] = {
        "question": case.question,
        "chunks": case.chunks,
        "response": case.response,
        "reference": case.reference,
    }
    if not _PLACEHOLDER.search(prompt.instruction):
        return prompt.messages(fields)
    filled = _PLACEHOLDER.sub(lambda match: render_fields({match[1]: fields[match[1]]}), prompt.instruction)
    return [Message(role="user", content=filled)]


def _explanation(answer: BaseModel) -> str:
    texts = (getattr(answer, field, None) for field in _EXPLANATIONS)
    return next((text for text in texts if isinstance(text, str)), "")
