"""Chunks cut into numbered sentences, and the way back from what a model names to a verbatim quote.

A language model is shown `[c0.s3] ...` and answers with ids. What it copies is never used: the quote is cut out of the
chunk by our code, so that it is always there to be found.

Asked for `["c0.s3"]`, models answer `"c0.s0, c0.s1"`, `"(c0.s1)"`, `"c0s1"`, `"chunk 0"`, `0`, `"c0.s0-s2"`,
`"c0.s0: The tower is"` or the sentence itself. All of these say which evidence is meant; the form must not decide a
verdict.
"""

from __future__ import annotations

import difflib
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rag_otel.model import Chunk, Quote
from rag_otel_evaluators.text.sentences import sentence_spans

Place: TypeAlias = tuple[int, int | None]
"""(chunk, sentence), from 0; None stands for the whole chunk."""
_LEAST_SENTENCE: Final = 25
"""Characters from which a text that begins like an id may be a copied sentence."""
_SHOWN: Final = 60
"""Characters shown of an id that means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedEvidence:
    """What a model's ids point to."""

    chunk_ids: tuple[str, ...]
    """Chunks, in the order of the ids, each once."""
    quotes: tuple[Quote, ...]
    """One per sentence id; an id of a whole chunk (`c2`) names it and quotes nothing."""
    unknown: tuple[str, ...]
    """Ids that point to nothing."""


@dataclass(frozen=True, kw_only=True)
class NumberedEvidence:
    """The sentences of all chunks: `[c<chunk>.s<sentence>]`, both counted from 0."""

    chunks: tuple[Chunk, ...]
    spans: tuple[tuple[tuple[int, int], ...], ...]
    """By chunk: (start, end) of each sentence in its text."""

    @functools.cached_property
    def texts(self) -> list[list[str]]:
        """By chunk: its sentences on one line each, as a prompt shows them."""
        return [
            [" ".join(chunk.text[start:end].split()) for start, end in spans]
            for chunk, spans in zip(self.chunks, self.spans, strict=True)
        ]

    def find(self, ids: Sequence[str]) -> CitedEvidence:
        """What a judge means by its ids, in whatever form: lists in one string, brackets, `chunk 0`, copied quotes.

        What does not exist is named.
        """
        chunk_ids: dict[str, None] = {}
        quotes: dict[tuple[int, int], Quote] = {}
        unknown: list[str] = []
        for text in ids:
            places, unclear = self._places(text)
            unknown += unclear
            for chunk_index, sentence in places:
                chunk = self.chunks[chunk_index]
                chunk_ids[chunk.id] = None
                if sentence is not None:
                    start, end = self.spans[chunk_index][sentence]
                    quotes[chunk_index, sentence] = Quote(
                        chunk_id=chunk.id, start=start, end=end, text=chunk.text[start:end]
                    )
        return CitedEvidence(chunk_ids=tuple(chunk_ids), quotes=tuple(quotes.values()), unknown=tuple(unknown))

    def is_counted_from_one(self, ids: Sequence[str]) -> bool:
        """Whether chunks or sentences are numbered from 1 in these ids: never by 0, and somewhere one past the last.

        Then also those of the ids that exist mean the sentence, or the chunk, before.
        """
        places = [place for text in ids for place in read_ids(text, chunks=len(self.chunks)) or []]
        chunks = {chunk for chunk, _ in places}
        sentences = [(chunk, sentence) for chunk, sentence in places if sentence is not None]
        past_a_chunk = any(0 <= c < len(self.spans) and s == len(self.spans[c]) for c, s in sentences)
        return (0 not in chunks and len(self.chunks) in chunks) or (all(s for _, s in sentences) and past_a_chunk)

    @property
    def ids(self) -> list[str]:
        """Every sentence id that exists, in order."""
        return [f"c{chunk}.s{n}" for chunk, spans in enumerate(self.spans) for n in range(len(spans))]

    def _places(self, text: str) -> tuple[list[Place], list[str]]:
        """The places that `text` means, and those it names that do not exist."""
        named = read_ids(text, chunks=len(self.chunks)) or []
        exist = [place for place in named if self._exists(*place)]
        missing = [_as_id(place) for place in named if place not in exist]
        if exist and len(text) < _LEAST_SENTENCE:
            return exist, missing
        quoted = find_quote(text, self.texts)  # a chunk may itself speak of "chunk 9" or "C4"
        if quoted or exist:
            return (list(quoted), []) if quoted else (exist, missing)
        return [], [" ".join(text.split())[:_SHOWN]]

    def _exists(self, chunk: int, sentence: int | None) -> bool:
        """A chunk without a sentence holds no evidence: it cannot be named either."""
        if not 0 <= chunk < len(self.chunks) or not self.spans[chunk]:
            return False
        return sentence is None or sentence < len(self.spans[chunk])


def number_evidence(chunks: Sequence[Chunk]) -> Generator[None, None, NumberedEvidence]:
    """Cut all chunks into sentences; yields after each sentence, for `cooperative`."""
    spans: list[tuple[tuple[int, int], ...]] = []
    for chunk in chunks:
        of_chunk: list[tuple[int, int]] = []
        for span in sentence_spans(chunk.text):
            of_chunk.append(span)
            yield
        spans.append(tuple(of_chunk))
    return NumberedEvidence(chunks=tuple(chunks), spans=tuple(spans))


def _as_id(place: Place) -> str:
    chunk, sentence = place
    return f"c{chunk}" if sentence is None else f"c{chunk}.s{sentence}"


# --- what a judge means by an id, or by a quote that it copied --------------------------------------------------------

_LONGEST: Final = 1_000
"""Characters looked at of what stands for one piece of evidence."""
_N: Final = r"(\d{1,6})"
_CHUNK: Final = r"(?:chunk|passage|document|doc|context|fragmento|pasaje|abschnitt|passage|段落|文档|c)"
_SENTENCE: Final = r"(?:sentence|sent|oraci[oó]n|frase|satz|phrase|句子?|s)"
_ID: Final = re.compile(
    rf"{_CHUNK}\s?[#_]?{_N}(?:\s?[.,:/_-]?\s?{_SENTENCE}\s?[#_]?{_N}"
    rf"(?:\s?(?:-|–|—|\.\.|to|bis|a|à|至)\s?(?:{_CHUNK}\s?{_N}\s?[.:_]?\s?)?{_SENTENCE}?\s?{_N}(?!\d))?)?",
    re.IGNORECASE,
)
_BESIDES: Final = re.compile(r"(?:and|und|et|y|or|ids?|evidence|[\s\[\](){}<>,;:/|&+*.#\"'`‘’“”-])+", re.IGNORECASE)
_LONE_SENTENCE: Final = re.compile(rf"[\s\[(]*{_SENTENCE}\s?{_N}[\s\])]*", re.IGNORECASE)
_LONE_NUMBER: Final = re.compile(rf"[\s\[(]*{_N}(?:\s?[.:]\s?{_N})?[\s\])]*")
_LEADING: Final = re.compile(r"[\s\[({\"'`]*")
_LONGEST_RANGE: Final = 50
_WORD: Final = re.compile(r"[^\W_]+")
_LEAST_QUOTE: Final = 8
"""Characters below which a copied text could stand anywhere."""
_NEAR: Final = 0.85
"""Likeness in words, 0..1, from which a text is a sentence copied with small slips."""
_CANDIDATES: Final = 5


def read_ids(text: str, *, chunks: int) -> list[Place] | None:
    """The places that `text` names, whether they exist or not; None where it is no id.

    A text is ids where nothing else stands in it, or where it begins with one (`c0.s0: The tower is`). A lone number
    is a chunk; a lone sentence (`s1`) is one of the only chunk.
    """
    text = unicodedata.normalize("NFKC", text[:_LONGEST])
    if (lone := _LONE_NUMBER.fullmatch(text)) is not None:
        return [(int(lone[1]), int(lone[2]) if lone[2] else None)]
    if chunks == 1 and (lone := _LONE_SENTENCE.fullmatch(text)) is not None:
        return [(0, int(lone[1]))]
    matches = list(_ID.finditer(text))
    if not matches:
        return None
    begins = matches[0].start() == _end_of(_LEADING, text)
    if not begins and _BESIDES.sub("", _ID.sub("", text)):
        return None
    if begins and _BESIDES.sub("", _ID.sub("", text)):
        matches = matches[:1]  # an id and its sentence: what looks like another id there is the sentence's
    return list(dict.fromkeys(place for match in matches for place in _places(match)))


def find_quote(text: str, sentences: Sequence[Sequence[str]]) -> tuple[Place, ...]:
    """Where a copied text stands among the sentences of the chunks: within one, over several, or nearly so.

    Nearly: at least 85% of the words in the same order, and the same numbers. Nothing for a text too short to tell.
    """
    wanted = _plain(text[:_LONGEST])
    if len(wanted.replace(" ", "")) < _LEAST_QUOTE:
        return ()
    plain = [[_plain(sentence) for sentence in chunk] for chunk in sentences]
    for index, chunk in enumerate(plain):
        for position, sentence in enumerate(chunk):
            if wanted in sentence:
                return ((index, position),)
        spread = [n for n, sentence in enumerate(chunk) if len(sentence) >= _LEAST_QUOTE and sentence in wanted]
        if sum(len(chunk[n]) for n in spread) >= _NEAR * len(wanted.replace(" ", "")):
            return tuple((index, n) for n in spread)
    return _nearest(wanted, plain)


def _nearest(wanted: str, plain: Sequence[Sequence[str]]) -> tuple[Place, ...]:
    words = wanted.split()
    bag = Counter(words)
    shared = [
        (sum((bag & Counter(sentence.split())).values()), -index, -position)
        for index, chunk in enumerate(plain)
        for position, sentence in enumerate(chunk)
    ]
    for count, index, position in sorted(shared, reverse=True)[:_CANDIDATES]:
        other = plain[-index][-position].split()
        if count < _NEAR * len(words) or _numbers(words) - _numbers(other):
            continue
        matching = difflib.SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks()
        if sum(block.size for block in matching) >= _NEAR * len(words):
            return ((-index, -position),)
    return ()


def _places(match: re.Match[str]) -> list[Place]:
    chunk, first, other_chunk, last = match.groups()
    if first is None:
        return [(int(chunk), None)]
    if last is None or (other_chunk is not None and other_chunk != chunk):
        ends: list[Place] = [(int(chunk), int(first))]
        return ends if last is None else [*ends, (int(other_chunk), int(last))]
    span = range(int(first), min(int(last), int(first) + _LONGEST_RANGE) + 1)
    return [(int(chunk), sentence) for sentence in span] or [(int(chunk), int(first))]


def _plain(text: str) -> str:
    """Words alone, one space apart: case, punctuation and line breaks are copied loosely."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _numbers(words: Sequence[str]) -> set[str]:
    return {word for word in words if any(character.isdigit() for character in word)}


def _end_of(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found is not None else 0
