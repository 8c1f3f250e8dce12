"""A sentence that abstains, taken apart: which of its clauses say that something is not known, and which claim.

"The price is not mentioned, but the tour lasts two hours" abstains and claims; only the claim is judged. An abstaining
clause never silences a claim beside it, in the same sentence or in another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from rag_otel_evaluators.text.abstention_score import AbstentionScore, shipped
from rag_otel_evaluators.text.languages.abstentions import find_abstention, in_further_language, speaks_of_sources
from rag_otel_evaluators.text.languages.asides import READING_OPENERS, advice, kindness, own_reading
from rag_otel_evaluators.text.languages.discourse_markers import contrasts, dependent_openers, fillers
from rag_otel_evaluators.text.languages.replies import plain_reply_end
from rag_otel_evaluators.text.sentences import trimmed

_LEAST_WORDS: Final = 3
"""A clause beside an abstention is a claim of its own from this many words on."""
_LEAST_CHARACTERS: Final = 4
"""The same in scripts without spaces."""
_LONGEST_MANNERS: Final = 5
_LONGEST_TOPIC: Final = 8
_LONGEST_TOPIC_CHARACTERS: Final = 8
_WORD: Final = re.compile(r"[^\W_]+")

SURE: Final = 0.4
"""A score above which a sentence abstains though no rule has found it."""
LEAST: Final = -0.5
"""A score below which a sentence claims though a rule has found an abstention."""

Clause = tuple[bool, int, int]


def split_abstention(sentence: str) -> list[Clause]:
    """The sentence as (abstains, start, end), in order; empty where it does not abstain at all."""
    return split_by(sentence, shipped())


def split_by(sentence: str, score: AbstentionScore | None) -> list[Clause]:
    """The same by the rules and a score, or by the rules alone. The rules decide alone what the score cannot read.

    The "No," of a reply denies nothing of the sources: it is left out, and belongs to what follows.
    """
    if (reply := plain_reply_end(sentence)) and (clauses := _split(sentence[reply:], score)):
        (abstains, _, end), *others = clauses
        return [(abstains, 0, end + reply), *((said, start + reply, end + reply) for said, start, end in others)]
    return [] if reply else _split(sentence, score)


def _split(sentence: str, score: AbstentionScore | None) -> list[Clause]:
    if in_further_language(sentence):
        score = None
    found = find_abstention(sentence)
    if found is None and (score is None or not score.may_be_one(sentence)):
        return []
    parts = list(_parts(sentence))
    if found is None:
        clauses = _by_score(sentence, parts, score) if score is not None else []
    elif score is not None and _taken_back(sentence, parts, score):
        return []
    else:
        clauses = [clause for start, end in parts for clause in _of_part(sentence, start, end, found)]
    merged: list[Clause] = []
    for abstains, start, end in clauses:
        if merged and merged[-1][0] == abstains:
            merged[-1] = (abstains, merged[-1][1], end)
        else:
            merged.append((abstains, start, end))
    return merged


def _by_score(sentence: str, parts: list[tuple[int, int]], score: AbstentionScore) -> list[Clause]:
    """What the rules have not found, by what it sounds like; each part by itself where a turn parts them."""
    pieces = [sentence[start:end] for start, end in parts]
    sure = [score.may_be_one(piece) and score(piece) > SURE for piece in pieces]
    if not any(sure):
        return []
    return [
        (abstains or not _claims(sentence[start:end]), start, end)
        for abstains, (start, end) in zip(sure, parts, strict=True)
    ]


def _taken_back(sentence: str, parts: list[tuple[int, int]], score: AbstentionScore) -> bool:
    """Whether what the rules have found does not sound like an abstention, neither whole nor in a part."""
    return score(sentence) < LEAST and all(score(sentence[start:end]) < LEAST for start, end in parts)


def is_aside(sentence: str, *, abstained: bool) -> bool:
    """Whether a sentence that does not abstain claims nothing either: it tells what was read or asked.

    abstained: an abstention stands before it. Then it is no claim either where it offers help or says where to ask.
    """
    first = _WORD.search(sentence)
    if not abstained and first is not None and first[0] < "\u3040" and first[0].lower() not in READING_OPENERS:
        return False
    return all(_is_aside(sentence[start:end], abstained=abstained) for start, end in _parts(sentence))


def _is_aside(part: str, *, abstained: bool) -> bool:
    if own_reading().match(part) is not None:
        return _joins().search(part) is None
    if not abstained:
        return False
    if advice().match(part) is not None or kindness().match(part) is not None:
        return True
    return fillers().match(part) is not None and len(_WORD.findall(part)) <= _LONGEST_MANNERS


def _of_part(sentence: str, start: int, end: int, whole: tuple[int, int]) -> Iterator[Clause]:
    """One part between semicolons or turns, by its commas. A part that does not abstain claims, unless it is manners.

    `whole`: where the sentence's abstention stands. "The notes list three names, but do not say which": the part
    there abstains, though it does not by itself.
    """
    part = sentence[start:end]
    found = find_abstention(part)
    if found is None:
        yield start < whole[1] <= end or not _claims(part), start, end
        return
    at = 0
    for comma in [*(mark.end() for mark in _commas().finditer(part)), len(part)]:
        if (span := trimmed(part, at, comma)) is not None:
            piece = part[span[0] : span[1]]
            overlaps = span[0] < found[1] and found[0] < span[1]
            said = overlaps or find_abstention(piece) is not None or not _claims(piece)
            yield said or (span[1] <= found[0] and _is_topic(piece)), start + span[0], start + span[1]
        at = comma


def _claims(piece: str) -> bool:
    """Whether a clause without an abstention says something of the world that can be judged."""
    words = _WORD.findall(piece)
    spaceless = any(word[0] > "\u3040" for word in words)
    if sum(map(len, words)) < _LEAST_CHARACTERS if spaceless else len(words) < _LEAST_WORDS:
        return False
    if piece.rstrip("\"'”’»)*_ ").endswith(("?", "？")) or _or_not().search(piece) is not None:
        return False
    if _follows().match(piece) is not None:
        return not speaks_of_sources(piece) and find_abstention(piece) is None and advice().match(piece) is None
    if any(manners().match(piece) is not None for manners in (fillers, dependent_openers, advice, own_reading)):
        return False
    return not speaks_of_sources(piece)


def _is_topic(piece: str) -> bool:
    """Whether the clause before an abstention may be what that is about: "The resting time, the recipe omits it"."""
    words = _WORD.findall(piece)
    if any(character.isdigit() for character in piece):
        return False
    if any(word[0] > "\u3040" for word in words):
        return sum(map(len, words)) <= _LONGEST_TOPIC_CHARACTERS or _asks().search(piece) is not None
    return len(words) <= _LONGEST_TOPIC


def _parts(sentence: str) -> Iterator[tuple[int, int]]:
    at = 0
    for turn in contrasts().finditer(sentence):
        if (span := trimmed(sentence, at, turn.end())) is not None:
            yield span
        at = turn.end()
    if (span := trimmed(sentence, at, len(sentence))) is not None:
        yield span


@cache
def _commas() -> re.Pattern[str]:
    return re.compile(r",(?!\d)|，")


@cache
def _asks() -> re.Pattern[str]:
    return re.compile(
        r"谁|什么|多久|多少|多大|多高|怎么|怎样|为何|何时|何地|哪|是否|能不能|会不会|有没有|如何|是不是|几"
    )


@cache
def _follows() -> re.Pattern[str]:
    """A consequence: "the rules do not mention cyclists, so the fine was cancelled" is about the world."""
    return re.compile(
        r"^\W{0,4}(?:(?:and |und |y |et )?(?:so|therefore|hence|thus|which is why|that is why|así que"
        r"|por lo que|por eso"
        r"|de modo que|por tanto|por lo tanto|deshalb|daher|weshalb|weswegen|darum|deswegen|donc|aussi"
        r"|c['’]est pourquoi"
        r"|par conséquent|du coup|si bien que)\b|所以|因此|因而|于是)",
        re.IGNORECASE,
    )


@cache
def _joins() -> re.Pattern[str]:
    """What may join a claim to what was read: "I read that ...", "I looked at the menu and ..."."""
    return re.compile(r"\b(?:that|and|que|y|dass|und|et)\b|发现|得知|，", re.IGNORECASE)


@cache
def _or_not() -> re.Pattern[str]:
    return re.compile(r"\b(?:or not|oder nicht|ou pas|ou non|o no)\W*$", re.IGNORECASE)
