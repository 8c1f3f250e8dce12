"""An answer -> its claims, each with its place in the answer: deterministic, offset-preserving, no model.

The answer is cut into lines (list items, headings, table rows, code), lines into sentences, and every sentence gets
a kind. Only claims are judged; the other kinds are kept, so that a reader can see what was left out and why. The
stem of a list ("The side effects are:") is no claim by itself: it is put before the text of each item.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Claim
from rag_otel_evaluators.text.abstaining import is_advice, split_abstention
from rag_otel_evaluators.text.languages.discourse_markers import COURTESY_OPENERS, courtesies, source_lines
from rag_otel_evaluators.text.sentences import CITATIONS, cut_long, line_goes_on, sentence_spans


class SegmentKind(enum.StrEnum):
    """What a stretch of an answer is."""

    CLAIM = "claim"
    """Can be checked against the context."""
    STEM = "stem"
    """A heading, or what ends in a colon and introduces items."""
    ABSTENTION = "abstention"
    """Says that something is not known."""
    NON_CLAIM = "non_claim"
    """A greeting, a question, a link, a citation marker, a rule."""
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of the answer, `answer[start:end]`, of one kind."""

    kind: SegmentKind
    start: int
    end: int
    sentence_index: int
    """0-based; the two halves of a sentence that is part abstention, part claim share it."""
    stem: str = ""
    """What introduces this list item; empty elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segmentation:
    """All segments of an answer in order. Between them stand only white space and list, quote or heading marks."""

    text: str
    segments: tuple[Segment, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is to be judged, in the order of the answer."""
        return tuple(claim_of(self.text, segment) for segment in self.segments if segment.kind is SegmentKind.CLAIM)

    @property
    def abstained(self) -> bool:
        """True where the answer says, somewhere, that it does not know."""
        return any(segment.kind is SegmentKind.ABSTENTION for segment in self.segments)


def claim_of(text: str, segment: Segment) -> Claim:
    """The claim that a segment of `text` makes: its words, after the stem that introduces it."""
    return Claim(
        text=f"{segment.stem} {text[segment.start : segment.end]}".lstrip(),
        sentence_index=segment.sentence_index,
        start=segment.start,
        end=segment.end,
    )


_FENCE: Final = re.compile(r"^[ \t]*+(```|~~~).*?(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL)
_MARKER: Final = re.compile(
    r"(?P<indent>[ \t]*+)(?P<quote>(?:>[ \t]?)*+)(?P<heading>\#{1,6}[ \t]++)?+[ \t]*+"
    r"(?P<bullet>(?:[-*+•‣◦▪●○·–—][ \t]++|\(?\d{1,3}[.)、][ \t]*(?=\D)"
    r"|(?:\(?[a-zA-Z][)]|[a-z][.])[ \t]++)(?:\[[ xX]\][ \t]++)?)?"
)
_BOLD_LINE: Final = re.compile(r"(?:\*\*|__)[^*_]++(?:\*\*|__)\s*+[:：]?$")
_RULE: Final = re.compile(r"[\s|:=_*#~+—–-]*+$")
_TABLE_RULE: Final = re.compile(r"\s*+\|?+\s*+:?--[\s|:-]*+$")
# What opens a reference cannot stand inside it: a character is looked at from one opening only, so the time is linear.
_REFERENCE: Final = re.compile(r"https?://\S++|www\.\S++|\[[^\[\]]*+\]\([^()\[\]]*+\)|<[^<>\s]++>|" + CITATIONS)
_SOURCE_MENTION: Final = re.compile(
    r"[(\[]?\s{0,2}\b(?:source|passage|document|doc|context|chunk|fuente|quelle)s?\s{0,2}:?\s{0,2}#?\d{1,4}"
    r"(?:\s{0,2}(?:,|and|&)\s{0,2}\d{1,4}){0,20}\s{0,2}[)\]]?",
    re.IGNORECASE,
)
_REFERENCE_MARK: Final = re.compile(r"[\d\[<【]|https?://|www\.")
"""What every one of the two before it holds."""
_WORD: Final = re.compile(r"[^\W_]+")
_FILLED: Final = re.compile(r"\S")
_LONGEST_REFERENCE: Final = 8
"""A sentence with more spaces than this is never only links and citation markers."""
_LONGEST_CLAIM: Final = 600
"""Characters; a longer sentence is cut at white space, so that no claim takes long."""
_LONGEST_STEM: Final = 300
"""Characters of a stem, its last ones, that are put before an item: many items must not repeat a page each."""
_MOST_STEMS: Final = 4
"""Levels of a nested list whose stems an item repeats."""
_MOST_WAITING: Final = 6
"""Sentences that may come before the abstention beside which they claim nothing."""
_LONGEST_PARAGRAPH: Final = 4_000
"""Characters that lines may be joined to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line's content without its marks, and what the marks said."""

    start: int
    end: int
    indent: int
    heading: bool = False
    item: bool = False
    code: bool = False
    after_blank: bool = False
    table_head: bool = False


@dataclass(frozen=True, slots=True)
class _Stem:
    text: str
    indent: int
    """Of the item that is a stem itself; -1 for a paragraph or a heading."""
    heading: bool


def segment(text: str) -> Segmentation:
    """Cut an answer into segments. Same text, same segments; no character of content is lost."""
    return Segmentation(text=text, segments=tuple(iter_segments(text)))


def iter_segments(text: str) -> Iterator[Segment]:
    """The segments of `segment(text)` one at a time, for callers that must not compute long in one go.

    What an answer begins with, and claims nothing beside an abstention ("Ask your doctor. The leaflet does not say."),
    waits for the first sentence that claims or abstains.
    """
    waiting: list[Segment] = []
    segments = _segments(text)
    for found in segments:
        if found.kind is SegmentKind.ABSTENTION:
            yield from (replace(each, kind=SegmentKind.NON_CLAIM, stem="") for each in waiting)
        elif len(waiting) < _MOST_WAITING and _may_be_aside(text, found):
            waiting.append(found)
            continue
        else:
            yield from waiting
        yield found
        yield from segments
        return
    yield from waiting


def _may_be_aside(text: str, segment: Segment) -> bool:
    if segment.kind is SegmentKind.CLAIM:
        return not segment.stem and is_advice(text[segment.start : segment.end])
    return segment.kind is SegmentKind.NON_CLAIM


def _segments(text: str) -> Iterator[Segment]:
    stems: list[_Stem] = []
    index = 0
    abstained = False
    for line in _lines(text):
        stem = _stem_of(line, stems)
        spans = iter([(line.start, line.end)]) if line.code else _sentences(text, line)
        for start, end in spans:
            if line.code:
                yield Segment(kind=SegmentKind.CODE, start=start, end=end, sentence_index=index)
            elif _is_stem(text, line, start, end):
                yield Segment(kind=SegmentKind.STEM, start=start, end=end, sentence_index=index)
                indent = line.indent if line.item and not line.heading and not line.table_head else -1
                stems.append(_Stem(_stem_text(text[start:end]), indent, line.heading))
            else:
                for kind, part_start, part_end in _classify(text, start, end, abstained):
                    abstained = abstained or kind is SegmentKind.ABSTENTION
                    own_stem = stem if kind is SegmentKind.CLAIM else ""
                    yield Segment(kind=kind, start=part_start, end=part_end, sentence_index=index, stem=own_stem)
            index += 1


def _sentences(text: str, line: _Line) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(text, line.start, line.end):
        yield from cut_long(text, start, end, _LONGEST_CLAIM)


def _is_stem(text: str, line: _Line, start: int, end: int) -> bool:
    """Whether the sentence introduces what follows. A line in bold that only abstains does not."""
    if line.heading and text[start] in "*_":
        return not all(abstains for abstains, _, _ in split_abstention(text[start:end]) or [(False, 0, 0)])
    return line.heading or line.table_head or (end == line.end and _introduces(text, start, end))


def _introduces(text: str, start: int, end: int) -> bool:
    return text[start:end].rstrip("*_ ").endswith((":", "：")) and _WORD.search(text, start, end) is not None


def _stem_of(line: _Line, stems: list[_Stem]) -> str:
    """What introduces this line; drops from `stems` those whose list is over."""
    if line.heading:
        stems.clear()
    elif line.item:
        while stems and stems[-1].indent >= line.indent:
            stems.pop()
        return _joined(stems)
    else:
        directly_below = bool(stems) and not stems[-1].heading and stems[-1].indent < 0 and not line.after_blank
        if directly_below:
            return _joined(stems)
        stems[:] = [stem for stem in stems if stem.heading]
    return ""


def _joined(stems: list[_Stem]) -> str:
    return " ".join(stem.text for stem in stems[-_MOST_STEMS:])


def _stem_text(raw: str) -> str:
    text = raw.strip("*_# \t|")[-_LONGEST_STEM:]
    return text if text.endswith((":", "：")) else text + ":"


def _lines(text: str) -> Iterator[_Line]:
    """The lines that hold something, code blocks as one; lines that plainly go on are joined."""
    position = 0
    for fence in _FENCE.finditer(text):
        yield from _text_lines(text, position, fence.start())
        yield _Line(
            start=fence.start() + _leading(fence[0]), end=fence.start() + len(fence[0].rstrip()), indent=0, code=True
        )
        position = fence.end()
    yield from _text_lines(text, position, len(text))


def _leading(text: str) -> int:
    return len(text) - len(text.lstrip())


def _text_lines(text: str, start: int, end: int) -> Iterator[_Line]:
    pending: _Line | None = None
    position = start
    while (filled := _FILLED.search(text, position, end)) is not None:
        after_blank_lines = text.rfind("\n", position, filled.start()) + 1
        after_blank = after_blank_lines > 0
        position = after_blank_lines or position
        newline = text.find("\n", position, end)
        line_end = end if newline < 0 else newline
        line = _read_line(text, position, line_end, after_blank)
        if pending is not None and _TABLE_RULE.match(text, position, line_end) and _has_cells(text, pending):
            pending = replace(pending, table_head=True)
        if pending is not None and not after_blank and _continues(text, pending, line):
            pending = replace(pending, end=line.end)
        else:
            if pending is not None:
                yield pending
            pending = line
        position = line_end + 1
    if pending is not None:
        yield pending


def _has_cells(text: str, line: _Line) -> bool:
    return text.find("|", line.start, line.end) >= 0


def _continues(text: str, previous: _Line, line: _Line) -> bool:
    """A hard-wrapped paragraph or item: this line only goes on with the one before it."""
    if line.item or line.heading or previous.heading or previous.table_head:
        return False
    if line.end - previous.start > _LONGEST_PARAGRAPH:
        return False
    return line_goes_on(text, max(previous.start, text.rfind("\n", 0, previous.end) + 1), previous.end, line.start)


def _read_line(text: str, start: int, end: int, after_blank: bool) -> _Line:
    end = start + len(text[start:end].rstrip())
    marks = _MARKER.match(text, start, end)
    assert marks is not None  # every part of the pattern is optional
    if marks.end() >= end or _RULE.match(text, start, end):  # only marks: a rule, a stray bullet
        return _Line(start=start + _leading(text[start:end]), end=end, indent=0, after_blank=after_blank)
    body = text[marks.end() : end]
    is_table_row = body.startswith("|") and body.count("|") > 1
    return _Line(
        start=marks.end(),
        end=end,
        indent=len(marks["indent"].expandtabs(4)),
        heading=marks["heading"] is not None or bool(not marks["bullet"] and _BOLD_LINE.match(body)),
        item=marks["bullet"] is not None or is_table_row,
        after_blank=after_blank,
    )


def _classify(text: str, start: int, end: int, abstained: bool) -> Iterator[tuple[SegmentKind, int, int]]:
    """One sentence as (kind, start, end), or as two such where an abstention stands beside a claim.

    abstained: a sentence before it abstains.
    """
    sentence = text[start:end]
    kind = SegmentKind.CLAIM
    if _only_references(sentence) or source_lines().match(sentence) or _is_courtesy(sentence):
        kind = SegmentKind.NON_CLAIM
    elif clauses := split_abstention(sentence):
        for abstains, part_start, part_end in clauses:
            yield SegmentKind.ABSTENTION if abstains else SegmentKind.CLAIM, start + part_start, start + part_end
        return
    elif sentence.rstrip("\"'”’»)*_ ").endswith(("?", "？", "؟")) or (abstained and is_advice(sentence)):
        kind = SegmentKind.NON_CLAIM
    yield kind, start, end


def _only_references(sentence: str) -> bool:
    if sentence.count(" ") > _LONGEST_REFERENCE:
        return False
    if _REFERENCE_MARK.search(sentence) is not None:
        sentence = _SOURCE_MENTION.sub(" ", _REFERENCE.sub(" ", sentence))
    return _WORD.search(sentence) is None


def _is_courtesy(sentence: str) -> bool:
    first = _WORD.search(sentence)
    if first is not None and first[0].isascii() and first[0].lower() not in COURTESY_OPENERS:
        return False
    return courtesies().match(sentence) is not None
