"""What a decision model is asked about an answer: the state, the questions on each claim, and what fits one request.

Wording: the fact is asked about with the passages as the only source, because a question whether the passages *state*
something makes these models blind to what follows from them. Claims and passages are data: the passages stand in the
state alone, a claim between quotation marks that it cannot close.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.model import Chunk, Claim, Verdict
from rag_otel_evaluators.llm.decisions.form import Choice, Form
from rag_otel_evaluators.llm.decisions.providers import RequestLimits
from rag_otel_evaluators.text.terms import terms_of

SUPPORTED: Final = "supported"
CONTRADICTED: Final = "contradicted"
NOT_STATED: Final = "not_stated"
VERDICTS: Final = {
    SUPPORTED: Verdict.SUPPORTED,
    CONTRADICTED: Verdict.CONTRADICTED,
    NOT_STATED: Verdict.NOT_ENOUGH_INFO,
}
NONE: Final = "none"
END: Final = "end_of_text"
"""Name of the question about the end of the state."""

_CLAIM: Final = "Taking `passages` as the only source, is this claim true? Claim: «{claim}»"
_RELATIONS: Final = {
    SUPPORTED: "True by the passages: what the claim says follows from them.",
    CONTRADICTED: "False by the passages: what the claim says conflicts with them.",
    NOT_STATED: "Open: the passages settle neither that it is true nor that it is false.",
}
_EVIDENCE: Final = "Which of `passages` bears most on whether this claim is true? Claim: «{claim}»"
_NO_EVIDENCE: Final = "No passage bears on it."
_END_NOTE: Final = "The control word of this text is {word}."
_END_QUESTION: Final = "Which control word does `note` name?"
_WORDS: Final = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heron")
WORDING: Final = hashlib.sha256(
    json.dumps([_CLAIM, _RELATIONS, _EVIDENCE, _NO_EVIDENCE, _END_NOTE, _END_QUESTION, _WORDS]).encode()
).hexdigest()[:8]
"""Changes with any word of the questions."""

_MOST_OPTIONS: Final = 250
"""Passages among which the evidence of a claim is chosen; providers take 255 options."""
_BESIDES: Final = 2_000
"""Bytes of a request that are neither texts nor options: names, brackets, the question about the end."""
_HARMLESS: Final = str.maketrans({"`": "'", "«": '"', "»": '"'})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingPassages:
    """The passages that fit the state, by key (`c0`: the first chunk), and what had to be left out."""

    texts: dict[str, str]
    problems: tuple[str, ...] = ()


def as_data(text: str) -> str:
    """A claim that can neither name a field of the state nor leave its quotation marks."""
    return " ".join(_CONTROL.sub(" ", text).translate(_HARMLESS).split())


def fitting_passages(
    chunks: Sequence[Chunk], claims: Sequence[Claim], question: str, limits: RequestLimits
) -> FittingPassages:
    """The chunks, of too many those whose words the claims share most; the best of them is cut where it is too long."""
    room = limits.state - _BESIDES - _size(question)
    texts = {f"c{index}": chunk.text for index, chunk in enumerate(chunks) if chunk.text.strip()}
    if sum(_size(text) + 10 for text in texts.values()) <= room:
        return FittingPassages(texts=texts)
    wanted = {term for claim in claims for term in terms_of(claim.text)}
    shared = {key: len(wanted & set(terms_of(text))) for key, text in texts.items()}
    kept: set[str] = set()
    for key in sorted(texts, key=lambda key: -shared[key]):
        size = _size(texts[key]) + 10
        if size <= room:
            kept.add(key)
            room -= size
        elif not kept:
            cut = {key: texts[key].encode("utf-8", "replace")[: room // 2].decode("utf-8", "ignore")}
            return FittingPassages(
                texts=cut, problems=(f"only the beginning of 1 of {len(texts)} passages fits the request",)
            )
    problem = (
        f"{len(texts) - len(kept)} of {len(texts)} passages do not fit the request; those least related are left out"
    )
    return FittingPassages(texts={key: text for key, text in texts.items() if key in kept}, problems=(problem,))


def claim_questions(index: int, claim: Claim, passages: FittingPassages) -> list[Choice]:
    """Whether the claim holds, and which passage bears on it (of a single one that need not be asked)."""
    text = as_data(claim.text)
    questions = [Choice(name=f"k{index}", instructions=_CLAIM.format(claim=text), options=_RELATIONS)]
    if 1 < len(passages.texts) <= _MOST_OPTIONS:
        options: dict[str, str | None] = dict.fromkeys(passages.texts)
        options[NONE] = _NO_EVIDENCE
        questions.append(Choice(name=f"e{index}", instructions=_EVIDENCE.format(claim=text), options=options))
    return questions


def end_question(about: str) -> tuple[str, Choice]:
    """(last sentence of the state, question about it); the word depends on the text that is judged alone."""
    digest = hashlib.sha256(about.encode("utf-8", "replace")).digest()
    word = _WORDS[digest[0] % len(_WORDS)]
    options: dict[str, str | None] = {**dict.fromkeys(_WORDS), NONE: "It names none of these."}
    return _END_NOTE.format(word=word), Choice(name=END, instructions=_END_QUESTION, options=options, known=word)


def parts_of(questions: Sequence[Sequence[Choice]], state_size: int, limits: RequestLimits) -> Iterator[list[int]]:
    """The numbers of the claims that go into one request each. A claim that fits none comes in no part."""
    most, room = limits.questions - 1, limits.request - state_size - _BESIDES
    part: list[int] = []
    count = size = 0
    for index, asked in enumerate(questions):
        own = sum(_size(each.instructions) + _size(json.dumps(dict(each.options))) + 60 for each in asked)
        if own > room:
            continue
        if part and (count + len(asked) > most or size + own > room):
            yield part
            part, count, size = [], 0, 0
        part.append(index)
        count, size = count + len(asked), size + own
    if part:
        yield part


def the_form(
    question: str | None, passages: FittingPassages, questions: Sequence[Choice], end: tuple[str, Choice] | None
) -> Form:
    """One request; what shows that the state was read to its end stands last."""
    state: dict[str, str | dict[str, str]] = {} if question is None else {"question": question}
    state["passages"] = passages.texts
    if end is None:
        return Form(state=state, questions=tuple(questions))
    return Form(state={**state, "note": end[0]}, questions=(*questions, end[1]))


def state_size(question: str | None, passages: FittingPassages) -> int:
    """Bytes of the state."""
    return _size(question or "") + sum(_size(text) + 10 for text in passages.texts.values())


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))
