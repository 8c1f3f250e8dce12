"""Whether an answer is in another language than everything that was retrieved, told from a single sentence.

Each language has small words that its texts cannot do without and the others do not have. A text that holds at least
two of them, and twice as many as of any other language, is in that language; of any other text nothing is said. Source
of the method: Grefenstette, "Comparing two language identification schemes", JADT 1995 (small-word technique).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from rag_otel_evaluators.text.languages import words

_SMALL_WORDS: Final = {
    "en": words(
        "the of and to is was were are been has have had that this these those with from for by which who they their "
        "it its not but or be can will would should may must at on into than then there your you we our he she his her "
        "an as if when where how what does do did up out about after before"
    ),
    "es": words(
        "el los las y está están es son fue fueron del que por para una unos unas con como más pero sus hay muy "
        "también sin desde hasta cuando donde puede pueden había según entre cada al lo ser tiene tienen ha han usted"
    ),
    "fr": words(
        "le les des et est sont était été du une dans pour par sur avec qui aux au ce cette ces il elle ils elles ne "
        "pas vous nous votre vos leur leurs mais ou où être plus sans chez dont fut peut peuvent afin selon"
    ),
    "de": words(
        "der das und ist sind wurde wurden von mit für auf im dem den ein eine einer einen nicht auch sich als bei "
        "nach aus zum zur wird werden hat haben dass oder aber kann können über durch seit bis sie ihre ihren wie um "
        "nur noch"
    ),
    "it": words(
        "il gli della delle dello nel nella è sono che di per con una più anche non dal dalla degli alla alle ha hanno "
        "era stato stata essere questo questa come ma"
    ),
    "pt": words(
        "o os da das do dos em na nas no nos que é são foi foram uma com não mais para por pelo pela ao também está "
        "seu sua como mas ser tem têm você"
    ),
}
_LANGUAGES_OF: Final = {
    word: tuple(language for language, small in _SMALL_WORDS.items() if word in small)
    for small in _SMALL_WORDS.values()
    for word in small
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_READ: Final = 1_000
"""Characters of a text that are looked at."""
_MOST_TEXTS: Final = 50
_LEAST: Final = 2
_CLEARLY: Final = 2.0


def in_another_language(answer: str, chunks: Sequence[str]) -> bool:
    """True where the answer's language is known, that of the chunks is too, and no chunk is in the answer's."""
    spoken = language_of(answer[:_READ])
    if spoken is None:
        return False
    written = {language_of(chunk[:_READ]) for chunk in chunks[:_MOST_TEXTS] if chunk.strip()}
    return bool(written) and None not in written and spoken not in written


@lru_cache(maxsize=2_048)
def language_of(text: str) -> str | None:
    """`en`, `es`, `fr`, `de`, `it` or `pt`; None where the text does not tell."""
    small = map(_LANGUAGES_OF.get, _WORD.findall(text.lower()))
    counts = Counter(chain.from_iterable(filter(None, small)))
    if not counts:
        return None
    (best, most), *others = counts.most_common()
    return best if most >= _LEAST and most >= _CLEARLY * max((count for _, count in others), default=0) else None
