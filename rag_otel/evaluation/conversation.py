"""Which earlier turns and memory count as context of an answer, and under which chunk ids.

Only what the application names counts: what it says that it remembered, and, with the setting `conversation_context`
or `@observe(history=...)`, earlier messages that the model was given. The user's messages count first. The assistant's
count only with `all`: an earlier answer may itself be unfaithful, and would support its own repetition.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from rag_otel.model import Chunk, Conversation

ConversationContext: TypeAlias = Literal["none", "user", "all"]
USER: Final = "user"
ASSISTANT: Final = "assistant"
MAX_MESSAGES: Final = 40
"""Newest messages of a conversation that are read. Older ones are left out."""
MAX_CHARACTERS: Final = 50_000
"""Characters of the messages that count. Older messages are left out whole, so that no quote is cut."""
_PREVIOUS_QUESTION: Final = 2_000
"""Characters, from the end, of the previous question."""
_BEGINNING: Final = 200
"""Characters of a chunk by which it is found in a message."""


class Turn(NamedTuple):
    """An earlier message."""

    role: str
    """`user`, `assistant`, or another role, whose messages never count."""
    text: str


def turns_of(texts: Sequence[str]) -> list[Turn]:
    """The turns in a flat list of role and text by turns, as a span of an observed call has them."""
    return [Turn(role, text) for role, text in zip(texts[::2], texts[1::2], strict=False)]


def turns_before(messages: Sequence[Turn], question: str | None) -> Sequence[Turn]:
    """The messages before the question: before the last user message that contains it, else before the last user
    message. All of them if there is none."""
    asked = [index for index, message in enumerate(messages) if message.role == USER]
    containing = (index for index in reversed(asked) if question and question.strip() in messages[index].text)
    end = next(containing, asked[-1] if asked else len(messages))
    return messages[:end]


def earlier_turns(
    turns: Sequence[Turn], *, counts: ConversationContext, chunks: Collection[Chunk] = ()
) -> Conversation:
    """The earlier messages that count as context, of `turns` in their order, which end before the question.

    A user message with the text of one of the `chunks` is a prompt, not something that the user said: it is left out.
    Bounded by `MAX_MESSAGES` and `MAX_CHARACTERS`.
    """
    if counts == "none":
        return Conversation()
    beginnings = [chunk.text[:_BEGINNING] for chunk in chunks if chunk.text]
    taken = {chunk.id for chunk in chunks}
    kept: list[Chunk] = []
    previous: str | None = None
    left, number = MAX_CHARACTERS, sum(turn.role == USER for turn in turns)
    for turn in list(reversed(turns))[:MAX_MESSAGES]:
        is_user = turn.role == USER
        name = f"turn-{number}" if is_user else f"turn-{number}-answer"
        number -= is_user
        is_prompt = is_user and any(beginning in turn.text for beginning in beginnings)
        if not turn.text.strip() or is_prompt or turn.role not in (USER, ASSISTANT):
            continue
        if is_user and previous is None:
            previous = turn.text[-_PREVIOUS_QUESTION:]
        if is_user or counts == "all":
            left -= len(turn.text)
            if left < 0:
                break
            kept.append(Chunk(id=_free(name, taken), text=turn.text, position=0))
    return Conversation(turns=_in_order(reversed(kept)), previous_question=previous)


def named_conversation(
    found: Conversation,
    *,
    memory: Sequence[str],
    history: Sequence[Turn],
    question: str | None,
    chunks: Collection[Chunk],
    counts: ConversationContext,
) -> Conversation:
    """The conversation of an observed call: what it named, else what was `found` in the spans below it.

    The application names the history, so the user's messages in it count whatever the setting says. It may end with
    the question.
    """
    if history:
        last = next((index for index in range(len(history) - 1, -1, -1) if history[index].role == USER), None)
        asked = last is not None and question is not None and history[last].text.strip() == question.strip()
        turns = history[:last] if asked else history
        found = earlier_turns(turns, counts="user" if counts == "none" else counts, chunks=chunks)
    return dataclasses.replace(found, memory=remembered(memory, chunks=chunks)) if memory else found


def remembered(texts: Iterable[str], *, chunks: Collection[Chunk] = ()) -> tuple[Chunk, ...]:
    """What the application remembered, as chunks. `chunks` are the retrieved ones, whose ids are taken."""
    taken = {chunk.id for chunk in chunks}
    return _in_order(
        Chunk(id=_free(f"memory-{number}", taken), text=text, position=0) for number, text in enumerate(texts, start=1)
    )


def with_conversation(
    conversation: Conversation,
    read_as: Literal["chunks", "question"],
    question: str | None,
    chunks: Sequence[Chunk | str],
) -> tuple[str | None, Sequence[Chunk | str]]:
    """Question and chunks for an evaluator that reads the conversation."""
    if read_as == "question":
        if question is None or conversation.previous_question is None:
            return question, chunks
        return f"{conversation.previous_question}\n{question}", chunks
    evidence = conversation.evidence
    placed = (dataclasses.replace(each, position=n) for n, each in enumerate(evidence, start=len(chunks)))
    return question, (*chunks, *placed) if evidence else chunks


def _free(name: str, taken: Collection[str]) -> str:
    """The name, with a `#` for as long as a retrieved chunk has the same id."""
    while name in taken:
        name += "#"
    return name


def _in_order(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    return tuple(dataclasses.replace(chunk, position=position) for position, chunk in enumerate(chunks))
