"""A sentence read word by word: its quantities, names, clauses and the words that decide how far it holds.

Dear compared with `terms`, so only claims and their few nearest sentences are read so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.terms import MONTH_TERMS, WEIGHTS, normalize_number, term_of
from rag_otel_evaluators.text.languages import polarity
from rag_otel_evaluators.text.languages.negations import ANTONYMS
from rag_otel_evaluators.text.languages.numerals import (
    CJK_DIGITS,
    CJK_MYRIADS,
    CJK_SCALES,
    JOINERS,
    MULTIPLIERS,
    SPELLED,
    cjk_value,
    roman_value,
)
from rag_otel_evaluators.text.languages.quantities import UNITS
from rag_otel_evaluators.text.languages.scripts import SPACELESS
from rag_otel_evaluators.text.word_memo import WordMemo

_CJK: Final = "\u3400-\u9fff"
_CJK_NUMERALS: Final = "".join([*CJK_DIGITS, *CJK_SCALES, *CJK_MYRIADS])
_TOKEN: Final = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d++(?:[.,:]\d++)*+|[%$€£¥]|[{_CJK_NUMERALS}]++|[{_CJK}]|[^\W\d_{_CJK}]++|[,;:|()，；：、—–\n]"
)
_ASCII_TOKEN: Final = re.compile(r"[a-zA-Z]++|\d{4}-\d{2}-\d{2}|\d++(?:[.,:]\d++)*+|[%$,;:|()\n]")
"""The same in plain text, faster."""
_SEPARATORS: Final = frozenset(",;:|()，；：、—–\n")
_CLAUSE_WORDS: Final = frozenset(
    ["and", "but", "while", "whereas", "y", "pero", "mientras", "und", "aber", "während", "et", "mais", "tandis"]
)
_MOST_TOKENS: Final = 160
"""Tokens of one sentence that are read: a longer one is a table or a log."""
_MOST_QUANTITIES: Final = 12
_CJK_UNITS: Final = {
    word: unit
    for unit, words in {
        "yuan": "元",
        "year": "年",
        "month": "月",
        "day": "天 日",
        "hour": "小",
        "minute": "分",
        "second": "秒",
        "metre": "米",
        "kilo": "公",
        "person": "人",
        "age": "岁",
        "week": "周",
        "volume": "册",
        "tonne": "吨",
        "degree": "度 ℃",
        "percent": "％",
        "time": "次",
        "piece": "个",
        "line": "路",
        "number": "号",
        "oclock": "点",
    }.items()
    for word in words.split()
}


class Quantity(NamedTuple):
    """A number with what it counts."""

    value: float
    unit: str
    """Canonical unit, or the stem of the word after it; empty where there is none."""
    known_unit: bool
    at: int
    """Position among the words."""
    text: str
    """As written."""


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
    marks: dict[str, list[int]]
    """Class of `polarity` -> where its words stand."""
    opposites: dict[str, list[int]]
    """Term -> where it stands, for words that have an opposite."""
    quoted: list[bool]
    """By word: inside quotation marks."""


_CLASSES: Final = {
    "all": polarity.ALL,
    "most": polarity.MOST,
    "some": polarity.SOME,
    "only": polarity.ONLY,
    "none": polarity.NONE,
    "hedge": polarity.HEDGES,
    "certain": polarity.CERTAIN,
    "condition": polarity.CONDITIONS,
    "unconditional": polarity.UNCONDITIONAL,
    "before": polarity.BEFORE,
    "after": polarity.AFTER,
    "passive": polarity.PASSIVES,
    "reported": polarity.REPORTED,
}
_CLASSES_OF: Final[dict[str, tuple[str, ...]]] = {}
for _name, _listed in _CLASSES.items():
    for _word in _listed:
        _CLASSES_OF[_word] = (*_CLASSES_OF.get(_word, ()), _name)
_CJK_MARKS: Final = re.compile(
    "|".join(sorted((w for w in [*_CLASSES_OF, *ANTONYMS] if "\u3400" <= w[0] <= "\u9fff"), key=lambda w: (-len(w), w)))
)
_CJK_PAIRS: Final = {
    word: unit
    for unit, words in {
        "hour": "小时",
        "minute": "分钟",
        "kilometre": "公里 千米",
        "centimetre": "厘米",
        "millimetre": "毫米",
        "kilogram": "公斤 千克",
        "millilitre": "毫升",
        "mile": "英里",
        "foot": "英尺",
        "inch": "英寸",
        "week": "星期",
        "month": "个月",
        "dollar": "美元",
        "euro": "欧元",
        "kilowatt": "千瓦",
        "hectare": "公顷",
    }.items()
    for word in words.split()
}
_CJK_FUNCTION: Final = frozenset(
    "的了是在和与及也都就而被把从对为以于等其这那有之着过得地并且或中上下里会要能可由到去来后前时"
)
"""Characters of grammar."""
_JOINED: Final = frozenset({"and", "y", "et", "und", "or", "o", "ou", "oder", "to", "a", "à", "bis", "至", "到"})
_QUOTES: Final = frozenset('"“”«»„「」')
_QUOTE: Final = re.compile(f"[{''.join(sorted(_QUOTES))}]")
_UNIT_OF: Final = dict(UNITS)


class _Facts(NamedTuple):
    """What is known of a token wherever it stands."""

    term: str
    lower: str
    classes: tuple[str, ...]
    has_opposite: bool
    counts: bool
    """A word of weight, no number."""
    is_name: bool
    """As far as capitals tell; the first word of a sentence is capitalised in any case."""
    may_be_number: bool
    opens_clause: bool


def _find_facts(token: str) -> _Facts:
    lower = token.lower()
    term = _term(token, lower)
    classes = _CLASSES_OF.get(lower, ())
    counts = not term[0].isdigit() and WEIGHTS.get(term, 1.0) > 0.0 and term not in _CJK_FUNCTION
    return _Facts(
        term=term,
        lower=lower,
        classes=classes,
        has_opposite=lower in ANTONYMS,
        counts=counts,
        is_name=counts and token[0].isupper() and len(token) > 1 and term not in MONTH_TERMS and not classes,
        may_be_number=token[0].isdigit()
        or token[0] in _CJK_NUMERALS
        or lower in SPELLED
        or lower in MULTIPLIERS
        or term in MONTH_TERMS
        or (token.isupper() and roman_value(token) is not None),
        opens_clause=lower in _CLAUSE_WORDS,
    )


_facts: Final = WordMemo(_find_facts)


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
    clause = at = 0
    separators, facts = _SEPARATORS, _facts
    if "°" in text:
        text = text.replace("° ", "°").replace("°F", " fahrenheit").replace("°C", " celsius")
    is_ascii = text.isascii()
    for token in (_ASCII_TOKEN if is_ascii else _TOKEN).findall(text)[: 2 * _MOST_TOKENS]:
        if token in separators:
            clause += 1
            continue
        term, lower, classes, has_opposite, counts, is_name, may_be_number, opens_clause = facts[token]
        if opens_clause:
            clause += 1
        words.append(term)
        written.append(token)
        clauses.append(clause)
        if classes:
            for name in classes:
                marks.setdefault(name, []).append(at)
        if has_opposite:
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
        at += 1
        if at >= _MOST_TOKENS:
            break
    quoted: list[bool] = []
    has_quotes, is_chinese = _QUOTE.search(text) is not None, not is_ascii and SPACELESS.search(text) is not None
    if has_quotes or is_chinese:
        starts = [m.start() for m in islice(_TOKEN.finditer(text), 2 * _MOST_TOKENS) if m[0] not in _SEPARATORS][:at]
        if is_chinese:
            _mark_chinese(text, starts, marks, opposites)
        quoted = _quoted(text, starts) if has_quotes else []
    return Reading(
        words=words,
        clauses=clauses,
        quantities=list(islice(_quantities(words, written, numbers), _MOST_QUANTITIES)) if numbers else [],
        names=names,
        places=places,
        written=written,
        marks=marks,
        opposites=opposites,
        quoted=quoted,
    )


def _quoted(text: str, starts: list[int]) -> list[bool]:
    quoted, at, inside = [], 0, False
    for start in starts:
        inside ^= sum(character in _QUOTES for character in text[at:start]) % 2 == 1
        at = start
        quoted.append(inside)
    return quoted


def _mark_chinese(text: str, starts: list[int], marks: dict[str, list[int]], opposites: dict[str, list[int]]) -> None:
    by_start = {start: at for at, start in enumerate(starts)}
    for match in _CJK_MARKS.finditer(text):
        at = by_start.get(match.start())
        if at is None:
            continue
        if len(match[0]) > 1 or match[0] not in marks:  # single characters were marked as words
            for name in _CLASSES_OF.get(match[0], ()):
                places = marks.setdefault(name, [])
                if at not in places:
                    places.append(at)
        if match[0] in ANTONYMS:
            opposites.setdefault(match[0], []).append(at)


def _term(token: str, lower: str) -> str:
    if token[0].isdigit() and ":" in token:
        return token
    if token[0] in _CJK_NUMERALS or "\u3400" <= token[0] <= "\u9fff":
        return token
    return term_of(lower)


def _quantities(words: list[str], written: list[str], numbers: list[int]) -> Iterator[Quantity]:
    """The quantities that begin at one of these places."""
    end = 0
    for at in numbers:
        if at < end:
            continue
        date = _date_at(words, written, at)
        if date is not None:
            value, end = date
            yield Quantity(value, "date", True, at, " ".join(written[at:end]))
            continue
        spelled, end = _number_at(words, written, at)
        if spelled is None:
            continue
        value = spelled
        unit, known = _unit(words, written, at, end)
        if unit == "oclock" or ":" in written[at]:
            value, unit, known = (value if ":" in written[at] else value * 60), "clock", True
        yield Quantity(value, unit, known, at, " ".join(written[at:end]))


def _date_at(words: list[str], written: list[str], at: int) -> tuple[float, int] | None:
    """(yyyymmdd, end) of a date that begins here: "2019-06-28", "28 June 2019", "June 28 2019", "2019年6月28日"."""
    token = written[at]
    if token.count("-") == 2 and token[0].isdigit():
        return float(token.replace("-", "")), at + 1
    if not (token[0].isdigit() or words[at] in MONTH_TERMS):
        return None
    window = written[at : at + 6]
    if len(window) > 4 and window[1] == "年" and window[3] == "月" and window[0].isdigit() and window[2].isdigit():
        day = int(window[4]) if window[4].isdigit() and len(window[4]) < 3 else 0
        return float(int(window[0][:4]) * 10_000 + int(window[2][:2]) * 100 + day), at + (6 if day else 4)
    parts: dict[str, int] = {}
    end = at
    while end < min(at + 6, len(words)) and len(parts) < 3:
        term, mark = words[end], written[end]
        number = mark.rstrip("stndrh") if mark[0].isdigit() else ""
        if term in MONTH_TERMS and "month" not in parts:
            parts["month"] = MONTH_TERMS[term]
        elif number.isascii() and number.isdigit() and len(number) <= 2 and "day" not in parts:
            parts["day"] = int(number)
        elif number.isascii() and number.isdigit() and len(number) == 4 and "month" in parts:
            parts["year"] = int(number)
        elif mark.lower() not in {"of", "de", "del", "the", "den"}:
            break
        end += 1
    if "month" not in parts or not {"day", "year"} & parts.keys():
        return None
    return float(parts.get("year", 0) * 10_000 + parts["month"] * 100 + parts.get("day", 0)), end


def _number_at(words: list[str], written: list[str], at: int) -> tuple[float | None, int]:
    token = written[at]
    if token[0].isdigit():
        value = _digits(token)
        end = at + 1
        if value is not None and end < len(written) and written[end][0] in CJK_MYRIADS:
            return value * CJK_MYRIADS[written[end][0]], end + 1
        if value is not None and end < len(written) and written[end].lower() in MULTIPLIERS:
            return value * MULTIPLIERS[written[end].lower()], end + 1
        return value, end
    if token[0] in _CJK_NUMERALS:
        if token in {"一", "百", "千", "万", "亿", "十"}:
            return None, at + 1
        return cjk_value(token), at + 1
    if token.isupper() and (roman := roman_value(token)) is not None:
        return roman, at + 1
    return _spelled(written, at)


def _spelled(written: list[str], at: int) -> tuple[float | None, int]:
    total = current = 0.0
    found, end = False, at
    while end < len(written):
        word = written[end].lower()
        if word in SPELLED:
            value = SPELLED[word]
            if (
                found
                and current
                and not (value < current and (value < 10 or current >= 100 or (value < 20 and current >= 60)))
            ):
                if current == 4.0 and value == 20.0:  # quatre-vingt
                    current = 80.0
                    end += 1
                    continue
                break
            current += value
            found = True
        elif word in MULTIPLIERS and (found or word in ("hundred", "hundert", "cien", "mil", "mille", "cent")):
            current = max(current, 1.0) * MULTIPLIERS[word]
            if MULTIPLIERS[word] >= 1000:
                total, current = total + current, 0.0
            found = True
        elif word in JOINERS and found and end + 1 < len(written) and current and written[end + 1].lower() in SPELLED:
            if SPELLED[written[end + 1].lower()] >= current:
                break
        else:
            break
        end += 1
    return (total + current, end) if found else (None, at + 1)


def _digits(token: str) -> float | None:
    if ":" in token:
        parts = token.split(":")
        return float(parts[0][:4]) * 60 + float(parts[1][:2]) if all(p.isdigit() for p in parts) else None
    if token.count("-") == 2:
        return float(token.replace("-", ""))
    try:
        return float(normalize_number(token[:24]))
    except ValueError:
        return None


def _unit(words: list[str], written: list[str], at: int, end: int) -> tuple[str, bool]:
    if at and written[at - 1] in "$€£¥":
        return _UNIT_OF.get(written[at - 1], written[at - 1]), True
    for there in range(end, min(end + 2, len(words))):
        lower = written[there].lower()
        if lower in _UNIT_OF:
            return _UNIT_OF[lower], True
        if (two := "".join(written[there : there + 2])) in _CJK_PAIRS:
            return _CJK_PAIRS[two], True
        if lower in _CJK_UNITS:
            return _CJK_UNITS[lower], True
        if lower[0].isdigit() or lower in _JOINED:
            break
        if words[there] in MONTH_TERMS or words[there].startswith("month"):
            return "date", True
    if end < len(words) and not words[end][0].isdigit() and WEIGHTS.get(words[end], 1.0) > 0.0:
        return words[end], False
    return "", False
