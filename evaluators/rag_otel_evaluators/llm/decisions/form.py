"""Questions about a state in a form that no provider owns, and what came back of them.

    state      {"question": "...", "passages": {"c0": "...", "c1": "..."}}
    questions  name, instructions, options (value -> what it means): always a choice of one
    answers    by name: a probability for each option, or why there is none

It travels in a `ChatRequest`, so that masking, caches, limits and records treat it as any other: every text is a
message of its own, and the layout of the state and of the questions is the request's schema.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from rag_otel_evaluators.llm.structured import Message
from rag_otel_evaluators.llm.transport import ChatRequest

REFUSED: Final = "refused"
"""The problem of a question that the model declined to answer."""
_SUM_OFF: Final = 0.03
"""How far from 1 the sum of probabilities may lie: they come with two decimals."""
_ROUNDING: Final = 0.005
"""What rounding to two decimals may add for each option."""

State = Mapping[str, "str | Mapping[str, str]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One question: which of the options holds?"""

    name: str
    """Comes back with the answer; the model is not shown it."""
    instructions: str
    options: Mapping[str, str | None]
    """Value -> what it means; at least two."""
    known: str | None = None
    """The right option, where it is known beforehand. An answer that misses it is not kept in a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What is asked in one request."""

    state: State
    questions: tuple[Choice, ...]

    def messages(self) -> tuple[Message, ...]:
        """Every text that leaves, in the order of `layout`."""
        texts = [
            text for value in self.state.values() for text in ([value] if isinstance(value, str) else value.values())
        ]
        texts += [question.instructions for question in self.questions]
        return tuple(Message(role="user", content=text) for text in texts)

    def layout(self) -> dict[str, Any]:
        """The form without its texts, as JSON."""
        return {
            "state": [[key, None if isinstance(value, str) else list(value)] for key, value in self.state.items()],
            "questions": [[each.name, dict(each.options), each.known] for each in self.questions],
        }


def form_of(request: ChatRequest) -> Form:
    """The form of a request that was made of `messages` and `layout`; its texts may have been masked since."""
    layout = request.schema or {}
    texts = iter([message.content for message in request.messages])
    state: dict[str, str | Mapping[str, str]] = {}
    for key, parts in layout["state"]:
        state[key] = next(texts) if parts is None else {part: next(texts) for part in parts}
    questions = tuple(
        Choice(name=name, instructions=next(texts), options=options, known=known)
        for name, options, known in layout["questions"]
    )
    return Form(state=state, questions=questions)


class ChoiceAnswer(BaseModel):
    """What is known of one question: probabilities that sum to 1, or the problem."""

    name: str
    probabilities: dict[str, float] = {}
    problem: str | None = None


class FormAnswers(BaseModel):
    """The answer to a `Form`: one entry for each question, in its order."""

    answers: list[ChoiceAnswer] = []
    model: str = ""
    """The version that answered, as the server says."""
    refused: bool = False
    """The whole request was refused because of one of its questions."""

    def by_name(self) -> dict[str, ChoiceAnswer]:
        return {answer.name: answer for answer in self.answers}


def checked_answers(form: Form, given: Sequence[tuple[Any, Any]]) -> list[ChoiceAnswer]:
    """An entry for each question of the form, matched by name alone; nothing that is missing or odd becomes an answer.

    `given`: (name, probabilities by option, or `REFUSED`) as they came, in any order. Names that nobody asked about
    are ignored; of answers that share a name none counts.
    """
    found: dict[Any, list[Any]] = {}
    for name, what in given:
        found.setdefault(name if isinstance(name, str) else None, []).append(what)
    return [_checked(question, found.get(question.name, [])) for question in form.questions]


def _checked(question: Choice, given: Sequence[Any]) -> ChoiceAnswer:
    if len(given) != 1:
        return ChoiceAnswer(name=question.name, problem="was answered twice" if given else "got no answer")
    if given[0] == REFUSED:
        return ChoiceAnswer(name=question.name, problem=REFUSED)
    problem = _problem(question, given[0])
    if problem is not None:
        return ChoiceAnswer(name=question.name, problem=problem)
    total = sum(given[0].values())
    return ChoiceAnswer(name=question.name, probabilities={option: value / total for option, value in given[0].items()})


def _problem(question: Choice, given: Any) -> str | None:
    if not isinstance(given, Mapping) or set(given) != set(question.options):
        return "has probabilities of other options than those that were asked about"
    if not all(_is_probability(value) for value in given.values()):
        return "has a probability that is no number within 0..1"
    off = abs(sum(given.values()) - 1.0)
    if off > max(_SUM_OFF, _ROUNDING * len(given)) + 1e-9:
        return f"has probabilities that sum to {sum(given.values()):.2f}"
    return None


def _is_probability(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1
