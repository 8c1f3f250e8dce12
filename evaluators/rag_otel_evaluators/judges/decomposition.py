"""The first of two steps: an answer's sentences -> statements that can be understood alone, none of them made up.

What the model returns is checked against what it was given: a response with the number of a sentence that is not there
is not used, every sentence must be covered (those that are not are asked about once more, and then stand for
themselves), a statement said twice counts once, a statement that says what its answer does not is set aside, and its
sentence stands for itself. So nothing of an answer goes unjudged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel

from rag_otel.errors import RagOtelError
from rag_otel.model import Claim
from rag_otel_evaluators.llm.failures import CallTimeoutError
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, StructuredModel, complete_once
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.numbered_items import NOTE, TOKENS_BESIDES, TOKENS_PER_ITEM
from rag_otel_evaluators.prompts.prompt import InputField
from rag_otel_evaluators.text.quantities import read_quantities
from rag_otel_evaluators.text.quantity import Quantity
from rag_otel_evaluators.text.terms import terms_of, tokenize

_FROM_THE_ANSWER: Final = 0.5
"""Share of a statement's words that must occur in answer or question; a paraphrase keeps more, an invention less."""


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
    """Ask for the statements of each of `claims`: one call and at most one repeat, about the sentences still missing.

    An error of the model is raised while nothing has been answered; later the sentences still missing stand for
    themselves.
    """
    known = _Known.of([question or "", response, *(claim.text for claim in claims)])
    found: dict[int, list[str]] = {}
    distorted: set[int] = set()
    problems: list[str] = []
    room = 1
    for number in range(CALLS_A_STEP):
        missing = [index for index in range(len(claims)) if index not in found]
        if not missing:
            break
        fields: dict[str, InputField | None] = {
            "question": question,
            "sentences": [claims[index].text for index in missing],
        }
        if number:
            fields[NOTE] = "You left these sentences out. Give the statements of every one of them."
        budget = room * (TOKENS_PER_ITEM * len(missing) + TOKENS_BESIDES)
        try:
            completion = await complete_once(model, prompt.messages(fields), Statements, max_output_tokens=budget)
        except RagOtelError as error:
            if number + 1 < CALLS_A_STEP and isinstance(error, CallTimeoutError) and error.worth_repeating:
                continue
            if not found:
                raise
            problems.append(f"asking again failed: {error}")
            break
        room = 2 if completion.truncated else 1
        problems.extend(completion.problems)
        given = completion.value.statements if completion.value is not None else []
        kept, wrong = _check(given, [claims[index].text for index in missing], known, problems)
        found |= {missing[local]: texts for local, texts in kept.items()}
        distorted |= {missing[local] for local in wrong}
    whole = {index for index in range(len(claims)) if index not in found} | distorted
    split = [
        replace(claim, text=text)
        for index, claim in enumerate(claims)
        for text in ([claim.text] if index in whole else found[index])
    ]
    return Decomposition(claims=tuple(split), problems=tuple(problems))


def _check(
    given: Sequence[Statement], sentences: Sequence[str], known: _Known, problems: list[str]
) -> tuple[dict[int, list[str]], set[int]]:
    """The statements by sentence, without doubled and invented ones, and the sentences that something was dropped of.

    What is set aside is added to `problems`. A sentence of which a statement was dropped is not covered by the others:
    the dropped one may have been what it says.
    """
    kept: dict[int, list[str]] = {}
    distorted: set[int] = set()
    seen: set[str] = set()
    first = _counted_from(given, sentences)
    if first is None:
        numbers = sorted({statement.sentence for statement in given})
        problems.append(f"statements of sentences {numbers} of 0 to {len(sentences) - 1}: not used")
        return {}, set()
    for statement in given:
        text = " ".join(statement.statement.split())
        key = " ".join(tokenize(text.lower()))
        if not key or key in seen:
            problems.append(f"statement given twice or empty: {text!r}")
        elif not known.says(text):
            problems.append(f"statement that the answer does not make: {text!r}")
            distorted.add(statement.sentence - first)
        else:
            seen.add(key)
            kept.setdefault(statement.sentence - first, []).append(text)
    return kept, distorted


def _counted_from(given: Sequence[Statement], sentences: Sequence[str]) -> int | None:
    """What the statements' sentences are counted from, 0 or 1; None where there is a number that fits neither.

    A greeting has no statement, so that the first or the last number may be missing. Where both fit, it is the one by
    which statements and sentences share more words.
    """
    shared: dict[int, int] = {}
    terms = [set(terms_of(sentence)) for sentence in sentences]
    for first in (0, 1):
        if all(0 <= statement.sentence - first < len(sentences) for statement in given):
            shared[first] = sum(
                len(terms[statement.sentence - first].intersection(terms_of(statement.statement)))
                for statement in given
            )
    return max(shared, key=lambda first: (shared[first], -first), default=None)


@dataclass(frozen=True, slots=True)
class _Known:
    """The words and numbers of an answer and its question."""

    terms: frozenset[str]
    quantities: tuple[Quantity, ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> _Known:
        return cls(
            frozenset(term for text in texts for term in terms_of(text)),
            tuple(quantity for text in texts for quantity in read_quantities(text)),
        )

    def says(self, statement: str) -> bool:
        """False for a number that is nowhere in the answer, in figures or in words, and where most words are not."""
        terms = terms_of(statement)
        words = [term for term in terms if not term[0].isdigit()]
        if sum(word in self.terms for word in words) < _FROM_THE_ANSWER * len(words):
            return False
        return all(term in self.terms or not term[0].isdigit() for term in terms) or self._writes_otherwise(statement)

    def _writes_otherwise(self, statement: str) -> bool:
        """True where the answer has each number in some form: "1,500,000" is its "1.5 million"."""
        read = read_quantities(statement)
        return bool(read) and all(any(each.agrees(known) for known in self.quantities) for each in read)
