"""Asks a model one question about each of several numbered items, and makes sure that each item gets one answer.

A model that is given ten chunks may return nine verdicts, or eleven, or two for one chunk. So answers are matched to
the items by number. Contradictory answers are ignored and recorded as problems. Items without an answer are asked about
once more.

Items are numbered from 0. A model may count them from 1 all the same, and then each of its answers stands beside the
item before its own. So the numbers of a response are read together (`counted_from`), and where they do not tell what
they are counted from, none of its answers is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Protocol, TypeVar

from rag_otel.errors import RagOtelError
from rag_otel_evaluators.llm.failures import CallTimeoutError
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, Completion, StructuredModel, complete_once
from rag_otel_evaluators.llm.structured import T as ResponseT
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.prompt import InputField

NOTE: Final = "note"
"""The field that a repeat adds. It makes the request differ, so that no cache returns the first answer."""
_ASKED_AGAIN: Final = (
    "You were asked about these before, and what you answered about them could not be used. "
    "Answer about every one of them now, in the same form and with the numbers in the brackets: the first is 0."
)
TOKENS_PER_ITEM: Final = 60
TOKENS_BESIDES: Final = 200
"""Maximum output tokens: 60 per item, and 200 for the rest of the answer."""
_SHOWN: Final = 10
"""Numbers of items that a problem lists."""


class NumberedAnswer(Protocol):
    """One answer with the number of its item."""

    @property
    def index(self) -> int:
        """Number of the item, as the model gave it."""
        ...

    @property
    def decision(self) -> object:
        """The decision without its reason. Two answers with equal decisions agree."""
        ...


A = TypeVar("A", bound=NumberedAnswer)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedAnswers(Generic[A]):
    """The answers by number of the item."""

    by_index: Mapping[int, A]
    """Keys are valid numbers of items. Items without a usable answer are absent."""
    problems: tuple[str, ...] = ()
    """Which answers were ignored, and why."""
    unusable: Mapping[int, A] = field(default_factory=dict)
    """Answers that could not be used, also after the repeat, by number of the item."""
    first: int = 0
    """What the model counted the items from: 0, or 1 against its instruction. Keys are counted from 0 in any case."""


def counted_from(numbers: Collection[int], count: int) -> int | None:
    """Returns what `count` items were counted from, 0 or 1; None where the numbers of the answers fit neither or both.

    >>> counted_from([0, 2], 3), counted_from([1, 2, 3], 3)
    (0, 1)
    >>> counted_from([1, 2], 3), counted_from([0, 3], 3)
    (None, None)
    """
    if not numbers or (0 in numbers and all(0 <= number < count for number in numbers)):
        return 0
    return 1 if set(numbers) == set(range(1, count + 1)) else None


def match(answers: Sequence[A], count: int, *, unread: Collection[int] = ()) -> NumberedAnswers[A]:
    """Matches answers to `count` items. Equal answers to one item count once. Contradictory answers do not count, and
    none does where the numbers do not tell what they are counted from.

    `unread`: numbers of answers that could not be read. They help to tell.
    """
    said = {answer.index for answer in answers}
    first = counted_from(said | set(unread), count)
    if first is None:
        return NumberedAnswers(
            by_index={}, problems=(f"answers about items {_listed(said)} of 0 to {count - 1}: not used",)
        )
    by_index: dict[int, A] = {}
    disagreeing: set[int] = set()
    for answer in answers:
        index = answer.index - first
        if index in by_index and by_index[index].decision != answer.decision:
            disagreeing.add(index)
        else:
            by_index.setdefault(index, answer)
    return NumberedAnswers(
        by_index={index: answer for index, answer in by_index.items() if index not in disagreeing},
        problems=tuple(f"answers about item {index} disagree" for index in sorted(disagreeing)),
        first=first,
    )


def _listed(numbers: Collection[int]) -> str:
    shown = ", ".join(map(str, sorted(numbers)[:_SHOWN]))
    return f"{shown}, ..." if len(numbers) > _SHOWN else shown


@dataclass(frozen=True, kw_only=True)
class AnswerForm(Generic[ResponseT, A]):
    """The form of the answers, and how they are read."""

    response_model: type[ResponseT]
    answers: Callable[[ResponseT], Sequence[A]]
    """Extracts the answers from the response."""
    number: str = "claim"
    """The field of an answer that holds the number of its item."""
    usable: Callable[[A], bool] = lambda answer: True
    """False for an answer that must be requested once more."""
    refers: Callable[[Sequence[A], int], Sequence[A] | None] = lambda answers, first: answers
    """Gets all answers of a response, and what their items are counted from. Returns the answers with the numbers of
    other things in them, such as chunks, counted from 0; None where one does not exist: then no answer of the
    response is used."""
    schema: Callable[[int], Mapping[str, Any] | None] = lambda items: None
    """The JSON schema of a response for this number of items. None: the schema of the response model."""
    tokens_per_item: int = TOKENS_PER_ITEM


async def ask_about_each(
    model: StructuredModel,
    prompt: Prompt,
    fields: Mapping[str, InputField | None],
    *,
    items: str,
    form: AnswerForm[ResponseT, A],
    order: int = 0,
    calls: int = CALLS_A_STEP,
) -> NumberedAnswers[A]:
    """Sends `prompt` with the items in the list `fields[items]`, and once more with the items without a usable answer.

    This is one step: one call and at most one repeat (`calls`). If the first answer was truncated, the repeat may be
    twice as long. Raises the model's error (RetryableError, PermanentError) if there is no answer yet; if only the
    repeat fails, the answers of the first call are returned. `order` selects an order of the prompt's examples.
    """
    everything = fields[items]
    assert isinstance(everything, Sequence)
    found: dict[int, A] = {}
    unusable: dict[int, A] = {}
    problems: list[str] = []
    room = 1
    for number in range(calls):
        missing = [index for index in range(len(everything)) if index not in found]
        if not missing:
            break
        again = {NOTE: _ASKED_AGAIN} if number else {}
        asked = {**fields, items: [everything[index] for index in missing], **again}
        try:
            completion = await complete_once(
                model,
                prompt.messages(asked, order=order),
                form.response_model,
                max_output_tokens=room * (form.tokens_per_item * len(missing) + TOKENS_BESIDES),
                schema=form.schema(len(missing)),
            )
        except RagOtelError as error:
            worth_repeating = isinstance(error, CallTimeoutError) and error.worth_repeating
            if number + 1 < calls and worth_repeating:
                continue
            if not found and not unusable:
                raise
            problems.append(f"asking again failed: {error}")
            break
        room = 2 if completion.truncated else 1
        problems.extend(completion.problems)
        matched = _matched(form, completion, len(missing))
        problems.extend(matched.problems)
        for local, answer in matched.by_index.items():
            (found if form.usable(answer) else unusable)[missing[local]] = answer
    left = {index: answer for index, answer in unusable.items() if index not in found}
    return NumberedAnswers(by_index=found, problems=tuple(problems), unusable=left)


def _matched(form: AnswerForm[ResponseT, A], completion: Completion[ResponseT], count: int) -> NumberedAnswers[A]:
    """The answers of one response by number of the item, counted from 0."""
    given = form.answers(completion.value) if completion.value is not None else ()
    unread = [item.get(form.number) for item in completion.dropped if isinstance(item, dict)]
    matched = match(given, count, unread=[number for number in unread if type(number) is int])
    numbers = sorted(matched.by_index)
    answers = form.refers([matched.by_index[number] for number in numbers], matched.first)
    if answers is None:
        problem = "the answers name by number what does not exist: not used"
        return NumberedAnswers(by_index={}, problems=(*matched.problems, problem))
    return replace(matched, by_index=dict(zip(numbers, answers, strict=True)))
