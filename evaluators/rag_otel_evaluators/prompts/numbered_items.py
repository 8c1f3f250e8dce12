"""Ask one thing about each of several numbered items, and see to it that every item gets exactly one answer.

A judge that is given ten chunks returns nine verdicts, or eleven, or two for one chunk. What it returns is therefore
never counted: answers are matched to the items by number; numbers that do not exist and answers that disagree with
each other are set aside and recorded; what is missing is asked again, alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from rag_otel.errors import RagOtelError
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.llm.structured import T as ResponseT
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.prompt import InputField

ROUNDS: Final = 2
"""Everything is asked about once, what is then missing once more."""
TOKENS_PER_ITEM: Final = 60
TOKENS_BESIDES: Final = 200
"""Output budget: 60 tokens an item and 200 for what stands around them."""


class Answer(Protocol):
    """One answer, which says what it is about."""

    @property
    def index(self) -> int:
        """0-based number of the item."""
        ...

    @property
    def decision(self) -> object:
        """What is decided, without the words around it: two answers with equal decisions agree."""
        ...


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[A]):
    """What came back, by number of the item."""

    by_index: Mapping[int, A]
    """Keys are within the items' range; an item without a usable answer has none."""
    problems: tuple[str, ...] = ()
    """What was set aside and why, in words."""


def match(answers: Sequence[A], count: int) -> Answers[A]:
    """Match answers to `count` items. An answer given twice counts once; two that disagree count not at all."""
    by_index: dict[int, A] = {}
    disagreeing: set[int] = set()
    problems: list[str] = []
    for answer in answers:
        index = answer.index
        if not 0 <= index < count:
            problems.append(f"answer about item {index}, which does not exist")
        elif index in by_index and by_index[index].decision != answer.decision:
            disagreeing.add(index)
        else:
            by_index.setdefault(index, answer)
    problems.extend(f"answers about item {index} disagree" for index in sorted(disagreeing))
    return Answers(
        by_index={index: answer for index, answer in by_index.items() if index not in disagreeing},
        problems=tuple(problems),
    )


async def ask_about_each(
    model: StructuredModel,
    prompt: Prompt,
    fields: Mapping[str, InputField | None],
    *,
    items: str,
    response_model: type[ResponseT],
    answers: Callable[[ResponseT], Sequence[A]],
    tokens_per_item: int = TOKENS_PER_ITEM,
) -> Answers[A]:
    """Ask `prompt` about every item of the list `fields[items]`; `answers` takes the answers out of the response.

    An error of the model is raised (RetryableError, PermanentError) while nothing has been answered; later it costs
    only the items that were still missing.
    """
    everything = fields[items]
    assert isinstance(everything, Sequence)
    found: dict[int, A] = {}
    problems: list[str] = []
    for _ in range(ROUNDS):
        missing = [index for index in range(len(everything)) if index not in found]
        if not missing:
            break
        asked = {**fields, items: [everything[index] for index in missing]}
        budget = tokens_per_item * len(missing) + TOKENS_BESIDES
        try:
            completion = await model.complete(prompt.messages(asked), response_model, max_output_tokens=budget)
        except RagOtelError as error:
            if not found:
                raise
            problems.append(f"asking again failed: {error}")
            break
        problems.extend(completion.problems)
        given = answers(completion.value) if completion.value is not None else ()
        matched = match(given, len(missing))
        problems.extend(matched.problems)
        found |= {missing[local]: answer for local, answer in matched.by_index.items()}
    return Answers(by_index=found, problems=tuple(problems))
