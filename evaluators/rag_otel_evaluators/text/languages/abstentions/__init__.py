"""How an answer says that it does not know, or that its sources do not say.

An abstention is a statement about the documents ("the passages do not mention it") or about one's own knowledge
("I don't know"), not about the world ("the app collects no data"). Each language has a lexicon of concepts; patterns
over concepts are the same for all. What they need is compiled when a sentence first asks for it.

english  spanish  german  french  chinese  others    lexicons, and the patterns of further languages
concepts  patterns                                   sentences as rows of concepts, and what makes a row an abstention
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages.abstentions import chinese, english, french, german, spanish
from rag_otel_evaluators.text.languages.abstentions.concepts import Lexicon, Row, compiled, spaced_row, spaceless_row
from rag_otel_evaluators.text.languages.abstentions.idioms import idioms
from rag_otel_evaluators.text.languages.abstentions.others import others
from rag_otel_evaluators.text.languages.abstentions.patterns import CHINESE, GERMAN, SHARED, SPACED, VERBAL
from rag_otel_evaluators.text.languages.scripts import SPACELESS
from rag_otel_evaluators.text.word_memo import WordMemo

_CUE_LETTERS: Final = frozenset("NUlLMmzhGjyq")
_WORD: Final = re.compile(r"[^\W_]+['’]?")
_NEGATED_ZH: Final = re.compile(r"[没未无不难缺超空隐略仅只猜臆莫阙缄默悬]")
Span = tuple[int, int]


@cache
def _spaced() -> tuple[Lexicon, ...]:
    return tuple(Lexicon(module.WORDS, module.DROPPED) for module in (english, spanish, german, french))


@cache
def _chinese() -> Lexicon:
    return Lexicon(chinese.WORDS, chinese.DROPPED)


def _cued(piece: str) -> frozenset[int]:
    """The languages in which the piece, a word with its marks, may be the word on which an abstention turns."""
    return frozenset(
        number
        for number, lexicon in enumerate(_spaced())
        if any(not _CUE_LETTERS.isdisjoint(lexicon.letters[word]) for word in _WORD.findall(piece))
    )


_cues_in: Final = WordMemo(_cued)


def find_abstention(sentence: str) -> Span | None:
    """Where (start, end) the sentence says that something is not known or not in the sources; None where nowhere.

    A sentence about what other people do not know, or what a thing does not do, is none.
    """
    if not sentence.isascii() and (found := others().search(sentence)):
        return found.span()
    if SPACELESS.search(sentence) is not None:
        return _in_chinese(sentence) if _NEGATED_ZH.search(sentence) is not None else None
    pieces = sentence.lower().replace("’", "'").split()
    cued = frozenset().union(*map(_cues_in.__getitem__, pieces))
    if not cued:
        return None
    for number in _likely(pieces, cued):
        if (idiom := idioms()[number].search(sentence)) is not None:
            return idiom.span()
        row = spaced_row(sentence, _spaced()[number])
        if (found := row.find(spaced_patterns(number))) is not None:
            return found
    return None


def _likely(pieces: list[str], cued: frozenset[int]) -> list[int]:
    """Of the cued languages those with the most function words in the sentence, if no other language has more."""
    words = [word for piece in pieces for word in _WORD.findall(piece)]
    counts = [sum(word in lexicon.function_words for word in words) for lexicon in _spaced()]
    most = max(counts)
    return [number for number in sorted(cued) if counts[number] == most]


def _in_chinese(sentence: str) -> Span | None:
    return spaceless_row(sentence, _chinese()).find(chinese_patterns())


@cache
def spaced_patterns(number: int) -> re.Pattern[str]:
    own = ((), VERBAL, GERMAN, VERBAL)[number]
    return compiled(SHARED + SPACED + own, 1)


@cache
def chinese_patterns() -> re.Pattern[str]:
    return compiled(SHARED + CHINESE, 2)


def speaks_of_sources(clause: str) -> bool:
    """True where the clause is about the documents or who answers, and does not tell what the documents do say."""
    if SPACELESS.search(clause) is not None:
        row = spaceless_row(clause, _chinese())
    else:
        words = [word for piece in clause.lower().replace("’", "'").split() for word in _WORD.findall(piece)]
        number = max(
            range(len(_spaced())),
            key=[sum(map(each.function_words.__contains__, words)) for each in _spaced()].__getitem__,
        )
        row = spaced_row(clause, _spaced()[number])
    return row.about_sources
