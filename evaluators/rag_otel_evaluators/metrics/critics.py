"""Critics: a language model judges an aspect or a rubric that you describe in your own words.

    polite = Aspect(name="polite", definition="Is the response polite?")
    helpful = Rubric(name="helpful", levels={1: "Of no use.", 2: "Of some use.", 3: "Solves the user's problem."})
    evaluate(rows, metrics=[polite, helpful], judge="openai/gpt-4o-mini")

    aspect: 1 if the definition holds, else 0
    rubric: (level - lowest level) / (highest level - lowest level)

Example: level 4 of the levels 1 to 5 is (4 - 1) / (5 - 1) = 0.75. The label is the level itself, `4`, which is the
number that Ragas gives.

Source: Ragas, "Aspect Critic" and "Rubrics Based Scoring", docs.ragas.io. Word an aspect so that yes is good:
everything else takes a higher score as better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Unpack

from pydantic import BaseModel, create_model

from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation, ReasonCode
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.llm_metric import LlmMetric, LlmOptions, short_hash
from rag_otel_evaluators.metrics.metric import Case, with_problems
from rag_otel_evaluators.metrics.setup import MetricSetup
from rag_otel_evaluators.prompts.prompt import InputField

_MAX_OUTPUT_TOKENS: Final = 300
_LEVEL: Final = re.compile(r"(?:score)?_?(-?\d{1,3})(?:_description)?")
"""A level as a number, or as Ragas names it: `score3_description`."""


class AspectAnswer(BaseModel):
    """What the judge returns for an aspect."""

    reason: str = ""
    verdict: bool


class RubricAnswer(BaseModel):
    """What the judge returns for a rubric. Each rubric allows only its own levels."""

    reason: str = ""
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """An aspect to be judged with yes or no. A metric of `evaluate`, which adds the judge."""

    name: str
    """The name of the metric."""
    definition: str
    """A question about the response, or a statement that holds for it or does not."""

    def build(self, setup: MetricSetup) -> Evaluator:
        """Returns the evaluator. Raises ConfigurationError if the judge is neither a language nor a decision model."""
        if (decisions := setup.decision_judge) is not None:
            from rag_otel_evaluators.metrics.decided import DecidedAspect

            return DecidedAspect(name=self.name, definition=self.definition, judge=decisions)
        return AspectCritic(aspect=self, model=setup.model, **setup.prompts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Levels to be judged. A metric of `evaluate`, which adds the judge."""

    name: str
    """The name of the metric."""
    levels: Mapping[int, str] | Mapping[str, str]
    """Level -> what it means, at least two. A higher level is better. Names as in Ragas (`score1_description`) are
    understood."""

    @property
    def numbered(self) -> dict[int, str]:
        """The levels by number, lowest first. Raises ConfigurationError for fewer than two levels or another name."""
        found: dict[int, str] = {}
        for key, text in self.levels.items():
            match = _LEVEL.fullmatch(str(key))
            if match is None:
                raise ConfigurationError(f"{self.name}: {key!r} is not a level; give numbers, for example 1 to 5")
            found[int(match[1])] = text
        if len(found) < 2:
            raise ConfigurationError(f"{self.name}: a rubric needs at least two levels, not {len(found)}")
        return dict(sorted(found.items()))

    def build(self, setup: MetricSetup) -> Evaluator:
        """Returns the evaluator. Raises ConfigurationError if the judge is neither a language nor a decision model."""
        if (decisions := setup.decision_judge) is not None:
            from rag_otel_evaluators.metrics.decided import DecidedRubric

            return DecidedRubric(name=self.name, levels=self.numbered, judge=decisions)
        return RubricScore(rubric=self, model=setup.model, **setup.prompts)


class _Critic(LlmMetric):
    """One question about the response, in the user's own words."""

    needs = ("response",)

    def __init__(self, words: str, *, model: StructuredModel, **options: Unpack[LlmOptions]) -> None:
        self._words = words
        super().__init__(model=model, **options)

    @property
    def version(self) -> str:
        """Changes with the user's words too."""
        return f"{super().version}.{short_hash(self._words)}"

    async def _answer(
        self, case: Case, model: StructuredModel, response_model: type[BaseModel]
    ) -> tuple[BaseModel | None, Evaluation]:
        """Returns the answer, and the result as far as both critics share it."""
        if missing := self._missing(case, "response"):
            return None, missing
        (field,) = self.prompt_names
        fields: dict[str, InputField | None] = {
            field: self._words,
            "question": case.question,
            "chunks": case.chunks or None,
            "response": case.response,
            "reference": case.reference,
        }
        messages = self.prompt.messages(fields)
        completion = await model.complete(messages, response_model, max_output_tokens=_MAX_OUTPUT_TOKENS)
        if completion.value is None:
            explanation = with_problems("No answer could be read.", completion.problems)
            return None, self._null(ReasonCode.PARSE_ERROR, explanation)
        return completion.value, Evaluation(
            name=self.name,
            explanation=getattr(completion.value, "reason", "") or None,
            answer=completion.value.model_dump(mode="json"),
        )


class AspectCritic(_Critic):
    """The score is 1 with the label `yes`, or 0 with the label `no`. It is None with the reason `no_response` or
    `parse_error`."""

    prompt_names = ("aspect",)

    def __init__(self, *, aspect: Aspect, model: StructuredModel, **options: Unpack[LlmOptions]) -> None:
        self.default_name = aspect.name
        super().__init__(aspect.definition, model=model, **options)
        if not aspect.definition.strip():
            raise ConfigurationError(f"{aspect.name}: the definition of the aspect is empty")
        self.aspect = aspect

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        answer, result = await self._answer(case, model, AspectAnswer)
        if not isinstance(answer, AspectAnswer):
            return result
        return replace(result, score=float(answer.verdict), label="yes" if answer.verdict else "no")


class RubricScore(_Critic):
    """The score is the place of the level between the lowest and the highest, the label is the level. The score is None
    with the reason `no_response` or `parse_error` (also for a level that the rubric does not have)."""

    prompt_names = ("rubric",)

    def __init__(self, *, rubric: Rubric, model: StructuredModel, **options: Unpack[LlmOptions]) -> None:
        self.default_name, self.levels = rubric.name, rubric.numbered
        text = "\n".join(f"{level}: {text}" for level, text in self.levels.items())
        super().__init__(text, model=model, **options)
        level: Any = Literal[tuple(self.levels)]
        self._response_model = create_model("RubricAnswer", __base__=RubricAnswer, level=(level, ...))

    async def _ask(self, case: Case, model: StructuredModel) -> Evaluation:
        answer, result = await self._answer(case, model, self._response_model)
        if not isinstance(answer, RubricAnswer):
            return result
        lowest, *_, highest = self.levels
        return replace(result, score=place(answer.level, lowest, highest), label=str(answer.level))


def place(level: int, lowest: int, highest: int) -> float:
    """Returns the place of a level between the lowest and the highest one, in 0..1.

    >>> place(4, 1, 5)
    0.75
    """
    return (level - lowest) / (highest - lowest)
