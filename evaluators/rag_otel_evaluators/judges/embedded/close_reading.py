"""A sentence read word by word: its quantities, names, clauses and the words that decide how far it holds.

Dear compared with `terms`, so only claims and their few nearest sentences are read so.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import Final, NamedTuple

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.marks import CLASSES_OF, is_rate, mark_chinese, mark_phrases, unmark
from rag_otel_evaluators.judges.embedded.quantities import Quantity, quantities_in
from rag_otel_evaluators.judges.embedded.shares import HALVES, PERIODS_ALONE, QUARTERS_OF_HOURS, SHARES
from rag_otel_evaluators.judges.embedded.terms import MONTH_TERMS, WEIGHTS, term_of
from rag_otel_evaluators.text.languages import polarity
from rag_otel_evaluators.text.languages import words as listed_words
from rag_otel_evaluators.text.languages.negations import ANTONYMS
from rag_otel_evaluators.text.languages.numerals import CJK_NUMERALS, MULTIPLIERS, roman_value, spelled_value
from rag_otel_evaluators.text.languages.quantities import CLOCK_WORDS, FREE_OF_CHARGE, WEEKDAYS
from rag_otel_evaluators.text.languages.scripts import SPACELESS
from rag_otel_evaluators.text.word_memo import WordMemo

_CJK: Final = "\u3400-\u9fff"
_TOKEN: Final = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}/\d{{1,2}}/\d{{4}}|\d++(?:[.,:]\d++)*+|[%$€£¥]|[{CJK_NUMERALS}]++|[{_CJK}]|[^\W\d_{_CJK}]++|[,;:|()，；：、—–\n]"
)
_ASCII_TOKEN: Final = re.compile(r"[a-zA-Z]++|\d{4}-\d{2}-\d{2}|\d{1,2}/\d{1,2}/\d{4}|\d++(?:[.,:]\d++)*+|[%$,;:|()\n]")
"""The same in plain text, faster."""
_SPACED: Final = re.compile(r"(?<![\d.,/:-])\d{1,3}(?:[ \u00a0\u202f\u2009]\d{3})+(?![\d/:-])")
_MAY_BE_SPACED: Final = re.compile(r"[0-9][ \u00a0\u202f\u2009][0-9]")
"""The same roughly, and much faster."""
_SPACES: Final = re.compile(r"[ \u00a0\u202f\u2009]")
_DASH: Final = re.compile(r"(?<=[^\W\d])–(?=[^\W\d])")
"""Between two words, where it separates nothing: "Monday–Friday"."""
_SEPARATORS: Final = frozenset(",;:|()，；：、—–\n")
_STRONG_SEPARATORS: Final = frozenset(";；\n")
STRONG: Final = 3
"""Clauses that a strong separator counts as."""
_CLAUSE_WORDS: Final = frozenset(
    ["and", "but", "while", "whereas", "y", "pero", "mientras", "und", "aber", "während", "et", "mais", "tandis"]
)
_LETTERS: Final = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")
"""A capital that is a word alone names something; "I" does not."""
_OTHER_NUMBERS: Final = listed_words("first second primero premier ersten one uno una une einer 中 正 午 零 日 天")
"""What is a date, a weekday, a share or a time of day only together with the words around it."""
_MOST_TOKENS: Final = 160
"""Tokens of one sentence that are read: a longer one is a table or a log."""


@dataclass(slots=True)
class Reading:
    """A sentence read closely."""

    words: list[str]
    """Terms; of Chinese, single characters."""
    clauses: list[int]
    """By word, the number of separators before it."""
    quantities: list[Quantity]
    names: dict[str, list[int]]
    """Term -> where it stands, for words that capitals tell to be names."""
    places: dict[str, list[int]]
    """Term -> where it stands, for terms of weight."""
    written: list[str]
    labels: dict[str, list[int]]
    """Numbers in figures and single capital letters -> where they stand: "line 41", "exit B"."""
    marks: dict[str, list[int]]
    """Class of `polarity` -> where its words stand."""
    opposites: dict[str, list[int]]
    """Term -> where it stands, for words that have an opposite."""
    quoted: list[bool]
    """By word: inside quotation marks."""
    is_row: bool
    """A row of a table."""
    key: list[str]
    """The words of its first cell, where it was read with the head of its table."""
    asks: bool = False
    """A question: it says nothing."""
    is_ascii: bool = False
    """Written without accents and without Chinese."""
    with_opposites: list[tuple[int, str]] | None = None
    """(place, term) of the words that have an opposite meaning, once somebody has asked for them."""


_AT_LEAST: Final = {"menos": ("lo", "al"), "moins": ("au", "du", "à")}
"""A word that has an opposite, but not after one of these: "por lo menos", "au moins"."""
_CONTRACTED: Final = re.compile(r"\b(ca|wo|sha)?n['’]t\b|n['’]t\b", re.IGNORECASE)
_IN_FULL: Final = {"ca": "can", "wo": "will", "sha": "shall"}
"""What stands before the "n't": "can't", "won't"."""

_CJK_FUNCTION: Final = frozenset(
    "的了是在和与及也都就而被把从对为以于等其这那有之着过得地并且或中上下里会要能可由到去来后前时"
)
"""Characters of grammar."""

_QUOTES: Final = frozenset('"“”«»„「」')
_QUOTE: Final = re.compile(f"[{''.join(sorted(_QUOTES))}]")


_SPEAKER: Final = re.compile(
    r"[^\w]{0,3}(?:\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?\W{1,3})?(?:the )?"
    rf"(?:{'|'.join(sorted(polarity.OUTSIDERS, key=len, reverse=True))})"
    r"(?: [A-Z]\w{0,15})?\s?(?:\([^()]{0,20}\)\s?)?[:：]",
    re.IGNORECASE,
)
"""Whose line of a conversation it is: no word of the house."""
_ASKS: Final = re.compile(r"[?？][\s\"'”’»)\]*_」』）]*$")


class _Facts(NamedTuple):
    """What is known of a token wherever it stands."""

    token: str
    separates: int
    """Clauses that it ends; 0 for a word, and of a separator nothing else counts."""
    term: str
    lower: str
    classes: tuple[str, ...]
    has_opposite: bool
    counts: bool
    """A word of weight, no number."""
    is_name: bool
    """As far as capitals tell; the first word of a sentence is capitalised in any case."""
    may_be_number: bool
    is_label: bool
    opens_clause: bool
    is_plain: bool
    """None of the marks below `counts`, nor a class or an opposite."""


def _find_facts(token: str) -> _Facts:
    separates = 0 if token not in _SEPARATORS else STRONG if token in _STRONG_SEPARATORS else 1
    lower = token.lower()
    term = _term(token, lower)
    classes = CLASSES_OF.get(lower, ())
    if not classes and polarity.is_conditional(lower):
        classes = ("hedge",)
    counts = not term[0].isdigit() and WEIGHTS.get(term, 1.0) > 0.0 and term not in _CJK_FUNCTION
    has_opposite, opens_clause = lower in ANTONYMS, lower in _CLAUSE_WORDS
    is_name = (
        counts
        and token[0].isupper()
        and len(token) > 1
        and term not in MONTH_TERMS
        and lower not in WEEKDAYS
        and not classes
    )
    may_be_number = (
        token[0].isdigit()
        or token[0] in CJK_NUMERALS
        or spelled_value(lower) is not None
        or lower in HALVES
        or lower in QUARTERS_OF_HOURS
        or lower in CLOCK_WORDS
        or lower in _OTHER_NUMBERS
        or lower in MULTIPLIERS
        or lower in SHARES
        or lower in PERIODS_ALONE
        or term in MONTH_TERMS
        or lower in WEEKDAYS
        or lower in FREE_OF_CHARGE
        or (token.isupper() and roman_value(token) is not None)
    )
    is_label = token[0].isdigit() or (len(token) == 1 and token in _LETTERS)
    return _Facts(
        token=token,
        separates=separates,
        term=term,
        lower=lower,
        classes=classes,
        has_opposite=has_opposite,
        counts=counts,
        is_name=is_name,
        may_be_number=may_be_number,
        is_label=is_label,
        opens_clause=opens_clause,
        is_plain=not (classes or has_opposite or is_name or may_be_number or is_label or opens_clause),
    )


_facts: Final = WordMemo(_find_facts)
_facts_of_piece: Final = WordMemo(
    lambda piece: tuple(map(_facts.__getitem__, (_ASCII_TOKEN if piece.isascii() else _TOKEN).findall(piece)))
)
"""What stands between two spaces -> the facts of its tokens: no token reaches across a space."""


def join_thousands(text: str) -> str:
    """ "3 600 000" as one number."""
    return _SPACED.sub(lambda found: _SPACES.sub("", found[0]), text) if _MAY_BE_SPACED.search(text) else text


def read_closely(text: str) -> Reading:
    """Read one sentence; only its beginning where it is very long."""
    words: list[str] = []
    written: list[str] = []
    clauses: list[int] = []
    numbers: list[int] = []
    places: dict[str, list[int]] = {}
    names: dict[str, list[int]] = {}
    marks: dict[str, list[int]] = {}
    opposites: dict[str, list[int]] = {}
    labels: dict[str, list[int]] = {}
    clause = at = 0
    if "°" in text:
        text = text.replace("° ", "°").replace("°F", " fahrenheit").replace("°C", " celsius")
    if "–" in text:
        text = _DASH.sub("-", text)
    if "n't" in text or "n’t" in text:
        text = _CONTRACTED.sub(_in_full, text)
    text = join_thousands(text)
    is_ascii = text.isascii()
    facts = chain.from_iterable(map(_facts_of_piece.__getitem__, text.split(" ")))
    for known in islice(facts, 2 * _MOST_TOKENS):
        # fmt: off
        (token, separates, term, lower, classes, has_opposite,
         counts, is_name, may_be_number, is_label, opens_clause, is_plain) = known
        # fmt: on
        if separates:
            clause += separates
            continue
        written.append(token)
        words.append(term)
        if is_plain:  # most words are: nothing to mark
            clauses.append(clause)
            if counts:
                if term in places:
                    places[term].append(at)
                else:
                    places[term] = [at]
            at += 1
            if at >= _MOST_TOKENS:
                break
            continue
        if opens_clause:
            clause += 1
        clauses.append(clause)
        if classes:
            for name in classes:
                marks.setdefault(name, []).append(at)
        if has_opposite and (lower not in _AT_LEAST or not at or written[at - 1] not in _AT_LEAST[lower]):
            opposites.setdefault(lower, []).append(at)
        if counts:
            if term in places:
                places[term].append(at)
            else:
                places[term] = [at]
            if is_name and at:
                names.setdefault(term, []).append(at)
        if may_be_number:
            numbers.append(at)
        if is_label and (at or token[0].isdigit()):
            labels.setdefault(term, []).append(at)
        at += 1
        if at >= _MOST_TOKENS:
            break
    quoted: list[bool] = []
    has_quotes, is_chinese = _QUOTE.search(text) is not None, not is_ascii and SPACELESS.search(text) is not None
    if has_quotes or is_chinese:
        starts = [m.start() for m in islice(_TOKEN.finditer(text), 2 * _MOST_TOKENS) if m[0] not in _SEPARATORS][:at]
        if is_chinese:
            mark_chinese(text, starts, marks, opposites)
        quoted = _quoted(text, starts) if has_quotes else []
    if (":" in text or "：" in text) and words and _SPEAKER.match(text):
        marks.setdefault("reported", []).insert(0, 0)
    if "phrase" in marks:
        mark_phrases(written, marks)
    if "all" in marks:
        unmark(marks, {"all"}, [at for at in marks["all"] if is_rate(words, written, at)])
    return Reading(
        words=words,
        clauses=clauses,
        quantities=quantities_in(words, written, numbers, clauses, is_row="|" in text) if numbers else [],
        names=names,
        places=places,
        written=written,
        labels=labels,
        marks=marks,
        opposites=opposites,
        quoted=quoted,
        is_row="|" in text,
        key=[],
        asks=("?" in text or "？" in text) and _ASKS.search(text) is not None,
        is_ascii=is_ascii,
    )


def _in_full(contracted: re.Match[str]) -> str:
    before = contracted[1]
    return f"{_IN_FULL[before.lower()] if before else ''} not"


def _quoted(text: str, starts: list[int]) -> list[bool]:
    quoted, at, inside = [], 0, False
    for start in starts:
        inside ^= sum(character in _QUOTES for character in text[at:start]) % 2 == 1
        at = start
        quoted.append(inside)
    return quoted


def _term(token: str, lower: str) -> str:
    if token[0].isdigit() and ":" in token:
        return token
    if token[0] in CJK_NUMERALS or "\u3400" <= token[0] <= "\u9fff":
        return token
    return term_of(lower)


NOTHING_READ: Final = Reading([], [], [], {}, {}, [], {}, {}, {}, [], is_row=False, key=[])
"""The close reading of no text."""
