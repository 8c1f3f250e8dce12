"""The two dialects of decision models on the wire: OpenAI's, and TypeSafe's System One.

Sources: OpenAI's API reference, "Create decision" (openai-python, `DecisionCreateParams` and `Decision`); TypeSafe's
documentation of `POST /v1/systemone` and the requirements of jevcompat. Of an answer only probabilities are read:
servers define `confidence` in five ways.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rag_otel_evaluators.llm.decisions.form import REFUSED, Form, FormAnswers, checked_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDialect:
    """How one dialect asks and answers."""

    body: Callable[[str, Form], dict[str, Any]]
    """(model, form) -> the request."""
    given: Callable[[Any], list[tuple[Any, Any]]]
    """The decoded answer -> (name, probabilities or `REFUSED`). Raises ValueError, LookupError, TypeError or
    AttributeError for what is no answer of this dialect."""

    def read(self, answer: Any, form: Form) -> FormAnswers:
        """What a decoded answer says. Raises as `given` does."""
        return FormAnswers(answers=checked_answers(form, self.given(answer)), model=str(answer.get("model") or ""))


def _openai_body(model: str, form: Form) -> dict[str, Any]:
    content = [{"type": "input_json", "data": form.state}]
    return {
        "model": model,
        "input": [{"role": "user", "content": content}],
        "questions": openai_questions(form),
        "prompt_cache_options": {"mode": "explicit"},  # else every state is written to a cache, at a price
    }


def openai_questions(form: Form) -> list[dict[str, Any]]:
    """The questions as OpenAI takes them."""
    return [
        {
            "type": "choice",
            "name": question.name,
            "instructions": question.instructions,
            "choices": [
                {"value": value} if meaning is None else {"value": value, "description": meaning}
                for value, meaning in question.options.items()
            ],
        }
        for question in form.questions
    ]


def openai_text_body(form: Form) -> dict[str, Any]:
    """Input and questions for servers of this dialect that take no JSON as input."""
    return {"input": json.dumps(form.state, ensure_ascii=False), "questions": openai_questions(form)}


def _openai_given(answer: Any) -> list[tuple[Any, Any]]:
    return [(each.get("name"), _openai_answer(each)) for each in answer["answers"]]


def _openai_answer(answer: Mapping[str, Any]) -> Any:
    if answer.get("type") == "refusal":
        return REFUSED
    listed = answer.get("probabilities")
    if answer.get("type") != "choice" or not isinstance(listed, (list, tuple)):
        return None
    values = [(each.get("value"), each.get("probability")) for each in listed if isinstance(each, Mapping)]
    return dict(values) if len(dict(values)) == len(listed) else None


def _system_one_body(model: str, form: Form) -> dict[str, Any]:
    questions = {
        question.name: {"type": "choice", "instructions": question.instructions, "criteria": dict(question.options)}
        for question in form.questions
    }
    return {"model": model, "state": form.state, "questions": questions}


def _system_one_given(answer: Any) -> list[tuple[Any, Any]]:
    return [(name, _system_one_answer(each)) for name, each in answer["answers"].items()]


def _system_one_answer(answer: Any) -> Any:
    if not isinstance(answer, Mapping):
        return None
    if answer.get("type") == "refusal":
        return REFUSED
    return answer.get("probabilities") if answer.get("type") == "choice" else None


OPENAI: Final = DecisionDialect(body=_openai_body, given=_openai_given)
SYSTEM_ONE: Final = DecisionDialect(body=_system_one_body, given=_system_one_given)
