"""The first of two steps: an answer's sentences -> statements that can be understood alone, none of them made up.

What the model returns is checked against what it was given: every sentence must be covered (those that are not are
asked about once more, and then stand for themselves), a statement said twice counts once, a statement that says what
its answer does not is set aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel

from rag_otel.errors import RagOtelError
from rag_otel.model import Claim
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.numbered_items import ROUNDS, TOKENS_BESIDES, TOKENS_PER_ITEM

_FROM_THE_ANSWER: Final = 0.5
"""Share of a statement's words that must occur in answer or question; a paraphrase keeps more, an invention less."""
_WORD: Final = re.compile(r"[^\W_]+")
_STEM_LENGTH: Final = 5
"""Characters by which two forms of a word (`opened`, `opening`) are taken for one."""


class Statement(BaseModel):
    """One statement and the number of the sentence that it comes from."""

    sentence: int
    statement: str


class Statements(BaseModel):
    """What the model returns."""

    statements: list[Statement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decomposition:
    """The claims to judge, and what was wrong with the model's answer."""

    claims: tuple[Claim, ...]
    """In the order of the sentences; at least one for each. Span and sentence index are those of the sentence."""
    problems: tuple[str, ...]


async def decompose(
    model: StructuredModel, prompt: Prompt, *, question: str | None, response: str, claims: Sequence[Claim]
) -> Decomposition:
    """Ask for the statements of each of `claims`.

    An error of the model is raised while nothing has been answered; later the sentences still missing stand for
    themselves.
    """
    known = set(_stems(f"{question or ''} {response} {' '.join(claim.text for claim in claims)}"))
    found: dict[int, list[str]] = {}
    problems: list[str] = []
    for _ in range(ROUNDS):
        missing = [index for index in range(len(claims)) if index not in found]
        if not missing:
            break
        fields = {"question": question, "sentences": [claims[index].text for index in missing]}
        budget = TOKENS_PER_ITEM * len(missing) + TOKENS_BESIDES
        try:
            completion = await model.complete(prompt.messages(fields), Statements, max_output_tokens=budget)
        except RagOtelError as error:
            if not found:
                raise
            problems.append(f"asking again failed: {error}")
            break
        problems.extend(completion.problems)
        given = completion.value.statements if completion.value is not None else []
        checked = _check(given, len(missing), known, problems)
        found |= {missing[local]: texts for local, texts in checked.items()}
    split = [replace(claim, text=text) for i, claim in enumerate(claims) for text in found.get(i, [claim.text])]
    return Decomposition(claims=tuple(split), problems=tuple(problems))


def _check(given: Sequence[Statement], count: int, known: set[str], problems: list[str]) -> dict[int, list[str]]:
    """The statements by sentence, without doubled and invented ones; what is set aside is added to `problems`."""
    kept: dict[int, list[str]] = {}
    seen: set[str] = set()
    for statement in given:
        text = " ".join(statement.statement.split())
        key = " ".join(_words(text))
        if not 0 <= statement.sentence < count:
            problems.append(f"statement of sentence {statement.sentence}, which does not exist")
        elif not key or key in seen:
            problems.append(f"statement given twice or empty: {text!r}")
        elif not _is_from(text, known):
            problems.append(f"statement that the answer does not make: {text!r}")
        else:
            seen.add(key)
            kept.setdefault(statement.sentence, []).append(text)
    return kept


def _is_from(statement: str, known: set[str]) -> bool:
    """False for a number that is nowhere in the answer, and where most words are not."""
    stems = list(_stems(statement))
    if any(stem.isdigit() and stem not in known for stem in stems):
        return False
    return sum(stem in known for stem in stems) >= _FROM_THE_ANSWER * len(stems)


def _stems(text: str) -> Iterator[str]:
    for word in _words(text):
        if word.isdigit() or not _writes_without_spaces(word):
            yield word if word.isdigit() else word[:_STEM_LENGTH]
        else:
            yield from word


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _writes_without_spaces(word: str) -> bool:
    """True for Chinese and Japanese, whose "words" here are whole phrases: they are compared by character."""
    return any("\u3040" <= character <= "\u9fff" for character in word)
