"""The unsupported sentences of an answer: where they are, the answer without them, the answer with notes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from rag_otel.model import ClaimVerdict, Verdict

Range: TypeAlias = tuple[int, int]
Sentences: TypeAlias = Callable[[str], Iterable[Range]]

_MARKERS: Final = re.compile(
    r"(?:\s*+(?:[-*+•‣◦▪●–—>#]++|\(?\d{1,3}[.)]|\(?[a-z]\))(?:\s++|$))++"  # "- ", "2. ", "> ", "## "
)
_BESIDE_WORDS: Final = re.compile(r"\[\^?\d{1,3}\]|【[^】]{1,20}】|(?<!\w)[*_`~\"'“”‘’«»]++|[*_`~\"'“”‘’«»]++(?!\w)")
"""Citations; emphasis and quotation marks around a word."""
_ENDINGS: Final = " .!?…:;,。！？"


class UnsupportedSentences:
    """Finds the unsupported sentences of an answer, which may grow, and their repetitions.

    A judge may name a claim only where it stands first, and a verdict on a longer text may say that little enough of it
    is unsupported. A sentence that was found once is found again all the same.
    """

    def __init__(self, sentences: Sentences) -> None:
        self._sentences = sentences
        self._known: dict[str, Range] = {}
        """The words of each sentence that was found, and where it stands first."""

    def find(self, text: str, claims: Sequence[ClaimVerdict], *, fails: bool, since: int = 0) -> list[Range]:
        """(start, end) of each one in order. `claims`: those of the latest verdict. `fails`: whether the text is
        unsupported by it. Otherwise only repetitions are found. Those are looked for behind `since`."""
        failing = [each for each in claims if fails and each.verdict in (Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO)]
        places = list(self._sentences(text))
        found = {place for place in places if _about(place, failing)}
        for start, end in sorted(found.difference(self._known.values())):
            self._known.setdefault(_words(text[start:end]), (start, end))
        if self._known:
            found.update(place for place in places if place[1] > since and self._repeats(text, place, claims))
        return sorted(found)

    def _repeats(self, text: str, place: Range, claims: Sequence[ClaimVerdict]) -> bool:
        """Whether a sentence says what was found before. Not where one verdict supports it here and not there: the same
        words may mean something else under another heading."""
        first = self._known.get(_words(text[place[0] : place[1]]))
        return first is not None and (_supported(first, claims) or not _supported(place, claims))


def _about(place: Range, claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    return [each for each in claims if each.claim.start < place[1] and place[0] < each.claim.end]


def _supported(place: Range, claims: Sequence[ClaimVerdict]) -> bool:
    here = _about(place, claims)
    return bool(here) and all(each.verdict is Verdict.SUPPORTED for each in here)


def _words(sentence: str) -> str:
    """What a sentence says, without how it is set: case, white space, list markers, emphasis, citations, ending."""
    plain = unicodedata.normalize("NFKC", sentence).casefold()
    marked = _MARKERS.match(plain)
    plain = _BESIDE_WORDS.sub("", plain if marked is None else plain[marked.end() :])
    return " ".join(plain.split()).strip(_ENDINGS)


def without(text: str, ranges: Sequence[Range]) -> str:
    """The text without these sentences and the white space behind them; a line that was nothing else goes too."""
    kept, position = [], 0
    for start, end in ranges:
        kept.append(text[position:start])
        while end < len(text) and text[end] in " \t":
            end += 1
        alone = start == 0 or text[start - 1] == "\n"
        position = end + 1 if alone and text[end : end + 1] == "\n" else end
    kept.append(text[position:])
    left = "".join(kept)
    return left.rstrip() if ranges and position == len(text) else left


def annotated(text: str, ranges: Sequence[Range], note: str) -> str:
    """The text with the note behind each of these sentences; behind the text if there are none."""
    if not ranges:
        return text + note
    kept, position = [], 0
    for _, end in ranges:
        kept += [text[position:end], note]
        position = end
    return "".join(kept) + text[position:]
