"""How an answer says that it does not know, or that its sources do not say.

An abstention is a statement about the documents ("the passages do not mention it") or about one's own knowledge
("I don't know"), not about the world ("the app collects no data"). Each language has a lexicon of concepts; patterns
over concepts are the same for all. What they need is compiled when a sentence first asks for it.

english  spanish  german  french  chinese  lexicons
concepts  patterns                         sentences as rows of concepts, and what makes a row an abstention
idioms  others                             turns of phrase, and further languages
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from rag_otel_evaluators.text.languages.abstentions import chinese, english, french, german, spanish
from rag_otel_evaluators.text.languages.abstentions.concepts import Lexicon, compiled, spaced_row, spaceless_row
from rag_otel_evaluators.text.languages.abstentions.idioms import idioms
from rag_otel_evaluators.text.languages.abstentions.others import others
from rag_otel_evaluators.text.languages.abstentions.patterns import CHINESE, GERMAN, SHARED, SPACED, VERBAL
from rag_otel_evaluators.text.languages.scripts import SPACELESS
from rag_otel_evaluators.text.word_memo import WordMemo

_CUE_LETTERS: Final = frozenset("NUlLMmzhGjyq")
"""What an abstention turns on: each has one of these."""
_WORD: Final = re.compile(r"[^\W_]+['’]?")
_TURNS_ZH: Final = re.compile(r"[没未无不难缺超空隐略仅只猜臆莫阙缄默悬残]")
_SUBJECTS: Final = frozenset("DdbcIQFGNUjM")
"""Beside what it turns on, an abstention has one of these: a quick look before the patterns."""
Span = tuple[int, int]


@cache
def _spaced() -> tuple[Lexicon, ...]:
    return tuple(Lexicon(module.WORDS, module.DROPPED) for module in (english, spanish, german, french))


@cache
def _chinese() -> Lexicon:
    return Lexicon(chinese.WORDS, chinese.DROPPED)


def _languages_of(piece: str) -> tuple[frozenset[int], tuple[int, ...]]:
    """Of a word with its marks: languages in which an abstention may turn on it, and function words by language."""
    words = _WORD.findall(piece)
    cued = frozenset(
        number
        for number, lexicon in enumerate(_spaced())
        if any(not _CUE_LETTERS.isdisjoint(lexicon.letters[word]) for word in words)
    )
    return cued, tuple(sum(word in lexicon.function_words for word in words) for lexicon in _spaced())


_known: Final = WordMemo(_languages_of)


def find_abstention(sentence: str) -> Span | None:
    """Where (start, end) the sentence says that something is not known or not in the sources; None where nowhere.

    A sentence about what other people do not know, or what a thing does not do, is none.
    """
    if (other := _in_others(sentence)) is not None:
        return other
    if SPACELESS.search(sentence) is not None:
        return _in_chinese(sentence) if _TURNS_ZH.search(sentence) is not None else None
    cued = _cued(sentence)
    if not cued:
        return None
    counts = _function_words(_pieces(sentence))
    return next(
        (span for number in sorted(cued) if counts[number] == max(counts) and (span := _in_spaced(sentence, number))),
        None,
    )


def speaks_of_sources(clause: str) -> bool:
    """True where the clause is about the documents or who answers, and does not tell what the documents do say."""
    if SPACELESS.search(clause) is not None:
        return spaceless_row(clause, _chinese()).about_sources
    counts = _function_words(_pieces(clause))
    return spaced_row(clause, _spaced()[counts.index(max(counts))]).about_sources


def in_further_language(sentence: str) -> bool:
    """Whether it abstains in one of the languages of which only the commonest wordings are known."""
    return _in_others(sentence) is not None


def may_abstain(sentence: str) -> bool:
    """Whether the sentence has a word that an abstention may turn on, in any language."""
    if SPACELESS.search(sentence) is not None:
        return _TURNS_ZH.search(sentence) is not None
    return bool(_cued(sentence))


def concepts_of(sentence: str) -> list[str]:
    """The letters of the concepts that the sentence's words stand for, in the language that it is most likely in."""
    if SPACELESS.search(sentence) is not None:
        return spaceless_row(sentence, _chinese()).text.split()
    counts = _function_words(_pieces(sentence))
    return spaced_row(sentence, _spaced()[counts.index(max(counts))]).text.split()


@lru_cache(maxsize=64)  # asked by the rules, and again by the score
def _cued(sentence: str) -> frozenset[int]:
    """The languages in which one of its words is one that an abstention may turn on."""
    return frozenset[int]().union(*[_known[piece][0] for piece in _pieces(sentence)])


def _pieces(text: str) -> list[str]:
    return text.lower().replace("’", "'").split()


def _function_words(pieces: list[str]) -> list[int]:
    """How many function words of each language: the most tell the language."""
    return [sum(column) for column in zip((0,) * len(_spaced()), *[_known[piece][1] for piece in pieces], strict=True)]


def _in_others(sentence: str) -> Span | None:
    found = None if sentence.isascii() else others().search(sentence)
    return None if found is None else found.span()


def _in_spaced(sentence: str, number: int) -> Span | None:
    if (idiom := idioms()[number].search(sentence)) is not None:
        return idiom.span()
    row = spaced_row(sentence, _spaced()[number])
    return row.find(_patterns(number)) if not _SUBJECTS.isdisjoint(row.text) else None


def _in_chinese(sentence: str) -> Span | None:
    return spaceless_row(sentence, _chinese()).find(chinese_patterns())


def _patterns(number: int) -> re.Pattern[str]:
    return (english_patterns, verbal_patterns, german_patterns, verbal_patterns)[number]()


@cache
def english_patterns() -> re.Pattern[str]:
    """Patterns of rows, like those of the other languages."""
    return compiled(SHARED + SPACED, 1)


@cache
def verbal_patterns() -> re.Pattern[str]:
    return compiled(SHARED + SPACED + VERBAL, 1)


@cache
def german_patterns() -> re.Pattern[str]:
    return compiled(SHARED + SPACED + GERMAN, 1)


@cache
def chinese_patterns() -> re.Pattern[str]:
    """Gaps are twice as long: a character is less than a word."""
    return compiled(SHARED + CHINESE, 2)
