"""Which words of a sentence decide how far it holds: "all", "not", "only", "perhaps", before and after, more and less.

Each belongs to a class of `polarity`; a reading marks where the words of each class stand.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Collection, Set
from typing import Final

from rag_otel_evaluators.judges.embedded.terms import UNIT_TERMS
from rag_otel_evaluators.text.languages import polarity
from rag_otel_evaluators.text.languages.negations import ANTONYMS, HARMLESS_CHINESE, NEGATING_WORDS, WITHOUT_OPPOSITE

DENYING: Final = ("none", "negating", "privative")
"""Classes of words that deny."""
_CLASSES: Final = {
    "all": polarity.ALL,
    "most": polarity.MOST,
    "some": polarity.SOME,
    "only": polarity.ONLY,
    "except": polarity.EXCEPT,
    "none": polarity.NONE,
    "negating": NEGATING_WORDS,
    "hedge": polarity.HEDGES,
    "certain": polarity.CERTAIN,
    "condition": polarity.CONDITIONS,
    "unconditional": polarity.UNCONDITIONAL,
    "before": polarity.BEFORE,
    "after": polarity.AFTER,
    "reported": polarity.REPORTED,
    "greater": polarity.GREATER,
    "smaller": polarity.SMALLER,
    "soon": polarity.SOON,
    "than": polarity.THAN,
    "up": polarity.UP,
    "down": polarity.DOWN,
    "exceeds": polarity.EXCEEDS,
    "trails": polarity.TRAILS,
    "now": polarity.NOW,
    "formerly": polarity.FORMERLY,
    "summed": polarity.SUMMED,
    "privative": polarity.PRIVATIVE,
    "past": polarity.PAST,
    "differing": polarity.DIFFERING,
}
CLASSES_OF: Final[dict[str, tuple[str, ...]]] = {}
for _name, _listed in _CLASSES.items():
    for _word in _listed:
        CLASSES_OF[_word] = (*CLASSES_OF.get(_word, ()), _name)
_PHRASES: Final[dict[str, list[tuple[list[str], int, str]]]] = {}
"""Longest word of a phrase -> (the phrase, words before that word, class)."""
for _name, _phrases in polarity.PHRASES.items():
    for _phrase in _phrases:
        _parts = _phrase.split()
        _key = max(_parts, key=lambda part: (part not in polarity.NONE, len(part)))  # the rarest, as a rule
        _PHRASES.setdefault(_key, []).append((_parts, _parts.index(_key), _name))
        CLASSES_OF[_key] = (*(known for known in CLASSES_OF.get(_key, ()) if known != "phrase"), "phrase")
_EVERY: Final = frozenset(["every", "each", "cada", "jede", "jeder", "jedes", "jeden", "jedem", "chaque", "每"])
_PERIODS: Final = frozenset({"second", "minute", "hour", "day", "week", "month", "year"})
_WHOLE_PHRASES: Final = frozenset({"all", "only", "except"})
"""Classes of phrases whose words say something else alone: "without exception", "nothing but"."""
_PARTS_ALONE: Final = frozenset({"all", "only", "except", "none", "negating", "privative"})
_CJK_MARKS: Final = re.compile(
    "|".join(sorted((w for w in [*CLASSES_OF, *ANTONYMS] if "\u3400" <= w[0] <= "\u9fff"), key=lambda w: (-len(w), w)))
)

_CJK_HARMLESS: Final = re.compile("|".join(sorted(HARMLESS_CHINESE, key=lambda w: (-len(w), w))))
_CJK_WITHOUT_OPPOSITE: Final = re.compile(
    "|".join(sorted((w for w in WITHOUT_OPPOSITE if w not in ANTONYMS), key=lambda w: (-len(w), w)))
)


def mark_phrases(written: list[str], marks: dict[str, list[int]]) -> None:
    for at in marks.pop("phrase"):
        for words, before, name in _PHRASES[written[at].lower()]:
            start = at - before
            if start >= 0 and [word.lower() for word in written[start : start + len(words)]] == words:
                places = marks.setdefault(name, [])
                if at not in places:
                    insort(places, at)
                if name in _WHOLE_PHRASES:
                    unmark(marks, _PARTS_ALONE - {name}, range(start, start + len(words)))


def mark_chinese(text: str, starts: list[int], marks: dict[str, list[int]], opposites: dict[str, list[int]]) -> None:
    by_start = {start: at for at, start in enumerate(starts)}
    for match in _CJK_MARKS.finditer(text):
        at = by_start.get(match.start())
        if at is None:
            continue
        if len(match[0]) > 1 or match[0] not in marks:  # single characters were marked as words
            for name in CLASSES_OF.get(match[0], ()):
                places = marks.setdefault(name, [])
                if at not in places:
                    places.append(at)
        if match[0] in ANTONYMS:
            opposites.setdefault(match[0], []).append(at)
    for match in _CJK_HARMLESS.finditer(text):
        harmless = {by_start.get(start) for start in range(*match.span())}
        for name in ("none", "privative"):
            if name in marks and not (places := [at for at in marks[name] if at not in harmless]):
                del marks[name]
            elif name in marks:
                marks[name] = places
    for match in _CJK_WITHOUT_OPPOSITE.finditer(text):
        for start in range(*match.span()):
            if text[start] in opposites and (at := by_start.get(start)) is not None:
                opposites[text[start]] = [place for place in opposites[text[start]] if place != at]
                if not opposites[text[start]]:
                    del opposites[text[start]]


def is_rate(words: list[str], written: list[str], at: int) -> bool:
    """True where "every" only says how often or for how much: "every 20 minutes", "every hectare"."""
    if written[at].lower() not in _EVERY or at + 1 >= len(words):
        return False
    following = words[at + 1]
    return following[0].isdigit() or UNIT_TERMS.get(following, "day") not in _PERIODS


def unmark(marks: dict[str, list[int]], names: Set[str], within: Collection[int]) -> None:
    for name in names & marks.keys():
        left = [at for at in marks[name] if at not in within]
        if left:
            marks[name] = left
        else:
            del marks[name]
