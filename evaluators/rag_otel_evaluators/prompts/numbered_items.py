"""Asks a model one question about each of several numbered items, and makes sure that each item gets one answer.

A model that is given ten chunks may return nine verdicts, or eleven, or two for one chunk. So answers are matched to
the items by number. Answers with unknown numbers and contradictory answers are ignored and recorded as problems. Items
without an answer are asked about once more.
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
"""One round for all items, and one more for items without an answer."""
TOKENS_PER_ITEM: Final = 60
TOKENS_BESIDES: Final = 200
"""Maximum output tokens: 60 per item, and 200 for the rest of the answer."""


class Answer(Protocol):
    """One answer with the number of its item."""

    @property
    def index(self) -> int:
        """0-based number of the item."""
        ...

    @property
    def decision(self) -> object:
        """The decision without its reason. Two answers with equal decisions agree."""
        ...


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[A]):
    """The answers by number of the item."""

    by_index: Mapping[int, A]
    """Keys are valid numbers of items. Items without a usable answer are absent."""
    problems: tuple[str, ...] = ()
    """Which answers were ignored, and why."""


def match(answers: Sequence[A], count: int) -> Answers[A]:
    """Matches answers to `count` items. Equal answers to one item count once. Contradictory answers do not count."""
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
    """Sends `prompt` with the items in the list `fields[items]`. `answers` extracts the answers from the response.

    Raises the model's error (RetryableError, PermanentError) if there is no answer yet. If the second round fails, the
    answers of the first are returned.
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
