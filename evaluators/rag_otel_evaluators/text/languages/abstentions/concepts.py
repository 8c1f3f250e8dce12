"""A sentence as a row of concepts, and patterns over such rows: how an abstention is told whatever its words and order.

Each word of a sentence becomes one token of letters, one letter for each concept that the word may stand for in the
language; words that carry nothing (articles, prepositions) are left out:

    The passages do not say when the museum reopens.  ->  "D N SK W x x "

The concepts, the same in every language:

    D  the texts at hand (passages, context)    d  a text (report, page)      c  a text that rules (contract, policy)
    S  says, mentions, specifies                s  contains, covers, gives    P, p  their participles: mentioned; given
    K  know, find, tell, determine              I  who answers                J  a verb in the first person
    N  not, no, nothing                         U  unable, impossible         E  enough
    L  silent, unstated, unanswered             l  missing, unclear, lacks    v o  remains open, leaves open
    F  information, mention                     f  evidence, word, trace      Q  question, point, topic
    G  speculate, guess                         i  idea, clue (no idea)       j  a whole abstention in one word
    y  only, other                              X  required, collected: what is denied of the world
    R  a report by others (said, found)         T  other people               W  who, when, whether
    M  unmentioned: an abstention at the end    m z  leaves, stops, runs: weaker than l
    k  help, comment: what the one who answers cannot do                      h  little, hardly
    Y g  you, who gave: what was given          t  deals with, talks about    n  did (not)
    w  would, only: before a guess              e  gives, lists: before "no"  b  what may be a text (record, list)
    C  if: a condition                          q  hints at an idiom
    x  any other word                           , and ;  a comma, and a mark or conjunction that parts more

A pattern is a row of classes and gaps: "D ~8 N" is a token with a D, at most eight others, a token with an N; "~8XT"
are such without X and T. A gap never crosses `;` or a word that reports what others said. "=8" is a gap that does not
grow in scripts without spaces. "s?" may be missing, "^" is the start, "$" the end, "-5X" means that no X is among the
next six tokens. Every gap has a bound, so a pattern takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from typing import Final

from rag_otel_evaluators.text.word_memo import WordMemo

_QUOTE: Final = r"(?P<quote>[\"“„«「][^\"“”„«»「」]{1,200}[\"”“»」])"
_MARK: Final = (
    r"(?P<mark>\[\d{1,3}\])|(?P<aside>\((?:passage|source|document|doc|context|chunk|fuente|quelle)s? ?\d[^()]{0,40}\))"
)
_STOP: Final = r"(?P<stop>[,，、;；:：.。!！?？…()（）—–]+)"
_TOKEN: Final = re.compile(rf"{_QUOTE}|{_MARK}|[^\W_]+['’]?|{_STOP}", re.IGNORECASE)
_LEAST_STEM: Final = 3
_WEAK: Final = frozenset(",，、()（）")


_SOURCES: Final = frozenset("DdIJ")


class Lexicon:
    """The concepts of a language's words."""

    def __init__(self, words: Mapping[str, str], dropped: str) -> None:
        self.function_words = frozenset(dropped.split()).union(*(words.get(letter, "").split() for letter in "NIYWTw"))
        self._exact: dict[str, str] = dict.fromkeys(dropped.split(), "")
        self._stems: dict[str, str] = {}
        self._ends: dict[str, str] = {}
        for letter, listed in words.items():
            for word in listed.split():
                if word[0] == "*":
                    table, key = self._ends, word[1:]
                else:
                    table, key = (self._stems, word[:-1]) if word[-1] == "*" else (self._exact, word)
                if letter not in table.get(key, ""):
                    table[key] = table.get(key, "") + letter
        self.letters = WordMemo(self._find)

    @cached_property
    def terms(self) -> re.Pattern[str]:
        """Finds the terms in a text without spaces."""
        longest_first = sorted(self._exact, key=lambda term: (-len(term), term))
        return re.compile(rf"{_QUOTE}|{_MARK}|(?P<term>{'|'.join(longest_first)})|{_STOP}|[^\W_a-zA-Z]|[a-zA-Z]+")

    def _find(self, word: str) -> str:
        exact = self._exact.get(word)
        return exact if exact == "" else (exact or "") + self._of_stem(word) or "x"

    def _of_stem(self, word: str) -> str:
        for length in range(len(word), _LEAST_STEM - 1, -1):
            if (found := self._stems.get(word[:length])) is not None:
                return found
        for start in range(1, len(word) - _LEAST_STEM + 1) if self._ends else ():
            if (found := self._ends.get(word[start:])) is not None:
                return found
        return ""


_REPORTED: Final = re.compile(r" ?(?<![^ ])[^ ;IDd]{0,8}R[^ ;IDd]{0,8} ")
"""A report by others before what would be an abstention."""
_CONDITION: Final = re.compile(r"[^,;]{0,200}C[^ ,;]{0,8} ,|[^ ,;]{0,8}C")
"""What is a condition, or ends as one."""


class Row:
    """A sentence as concepts; it knows where in the sentence each token stands."""

    def __init__(self, tokens: Iterable[tuple[str, int, int]]) -> None:
        self._ends: list[int] = []
        self._spans: list[tuple[int, int]] = []
        at = 0
        parts: list[str] = []
        for letters, start, end in tokens:
            if not parts and letters in ",;":
                continue
            parts.append(letters)
            at += len(letters) + 1
            self._ends.append(at)
            self._spans.append((start, end))
        self.text = " ".join([*parts, ""])

    def find(self, patterns: re.Pattern[str]) -> tuple[int, int] | None:
        """Where in the sentence one of the patterns stands, unless others report it or it is a condition."""
        found = patterns.search(self.text)
        while found is not None:
            start = found.start()
            clause = max(self.text.rfind("; ", 0, start), self.text.rfind(", ", 0, start)) + 1
            reported = _REPORTED.search(self.text, self.text.rfind("; ", 0, start) + 1, start) is not None
            if not reported and "C" not in self.text[clause:start] and _CONDITION.match(self.text, start) is None:
                return self.place(found)
            found = patterns.search(self.text, start + 1)
        return None

    @property
    def about_sources(self) -> bool:
        """Whether a token is the texts or who answers, and none tells what a text says; or it only denies."""
        tokens = self.text.split()
        if tokens and "N" in tokens[0]:
            return True
        says = any("S" in token and not _SOURCES.intersection(token) for token in tokens)
        return not says and any(_SOURCES.intersection(token) for token in tokens)

    def place(self, found: re.Match[str]) -> tuple[int, int]:
        """The stretch of the sentence that the pattern has matched."""
        inside = [span for span, end in zip(self._spans, self._ends, strict=True) if found.start() < end <= found.end()]
        return inside[0][0], inside[-1][1]


def spaced_row(sentence: str, lexicon: Lexicon) -> Row:
    """The row of a sentence whose words are spaced."""
    return Row(_spaced_tokens(sentence, lexicon))


def _spaced_tokens(sentence: str, lexicon: Lexicon) -> Iterable[tuple[str, int, int]]:
    before = ""
    for token in _TOKEN.finditer(sentence):
        kind = token.lastgroup
        if kind is None:
            before = token[0].lower().replace("’", "'")
            letters = lexicon.letters[before]
        elif kind == "aside":
            letters = ""
        elif kind == "mark":
            letters = "D" if before in _BEFORE_MARK else ""
        elif kind == "quote":
            letters = "x"
        else:
            letters = "," if _WEAK.issuperset(token[0]) else ";"
        if letters:
            yield letters, token.start(), token.end()


_BEFORE_MARK: Final = frozenset(
    [
        "",
        *[
            "in",
            "ni",
            "noch",
            "nor",
            "neither",
            "either",
            "of",
            "and",
            "und",
            "et",
            "y",
            "dans",
            "en",
            "weder",
            "passage",
            "source",
        ],
    ]
)
"""After one of these, or as the first thing, "[1]" names a passage; elsewhere it is where a claim was taken from."""


def spaceless_row(sentence: str, lexicon: Lexicon) -> Row:
    """The row of a sentence whose words nothing separates: the longest terms, and every other character by itself."""
    return Row(_spaceless_tokens(sentence, lexicon))


def _spaceless_tokens(sentence: str, lexicon: Lexicon) -> Iterable[tuple[str, int, int]]:
    for token in lexicon.terms.finditer(sentence):
        kind = token.lastgroup
        if kind == "term":
            letters = lexicon.letters[token[0]]
        elif kind == "mark":
            letters = "D" if token.start() == 0 or sentence[token.start() - 1] in "和与及在从" else ""
        elif kind == "stop":
            letters = "," if _WEAK.issuperset(token[0]) else ";"
        else:
            letters = "x"
        if letters:
            yield letters, token.start(), token.end()


@cache
def compiled(patterns: tuple[str, ...], scale: int) -> re.Pattern[str]:
    """One pattern for rows, of several like "D ~8 NL ~4 S"; gaps may be `scale` times as long."""
    return re.compile("|".join("".join(_piece(piece, scale) for piece in pattern.split()) for pattern in patterns))


def _piece(piece: str, scale: int) -> str:
    if piece == "^":
        return "^"
    if piece == "$":
        return "(?:[,;] )*$"
    if piece[0] == "~":
        return rf"(?:[^ ;R{piece[2:]}]{{1,9}} ){{0,{int(piece[1]) * scale}}}"
    if piece[0] == "=":
        return rf"(?:[^ ;R{piece[2:]}]{{1,9}} ){{0,{piece[1]}}}"
    if piece[0] == "-":
        return rf"(?!(?:[^ ;]{{1,9}} ){{0,{piece[1]}}}[^ ;]{{0,8}}[{piece[2:]}])"
    letters = piece.replace("?", "")
    token = rf"(?<![^ ])[^ ;]{{0,8}}[{letters}][^ ;]{{0,8}} "
    return f"(?:{token})?" if piece.endswith("?") else token
