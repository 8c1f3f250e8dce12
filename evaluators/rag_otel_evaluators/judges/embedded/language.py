"""Whether an answer is in another language than everything that was retrieved, told from a sentence.

Each language has small words that its texts cannot do without. A text that holds at least one and a half of a
language, and twice as many as of any other, is in that language; of any other text nothing is said. A word that several
languages have ("no", "en") counts as a part of one for each of them. Source of the method: Grefenstette, "Comparing two
language identification schemes", JADT 1995 (small-word technique).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.terms import WEIGHTS, terms_of

_SMALL_WORDS: Final = {
    "en": words(
        "the of and to is was were are been has have had that this these those with from for by which who they their "
        "it its not but or be can will would should may must at on into than then there your you we our he she his her "
        "an as if when where how what does do did up out about after before no in a so also am me per man s i any all "
        "only more most some does don't"
    ),
    "es": words(
        "el los las y está están es son fue fueron del que por para una unos unas con como más pero sus hay muy "
        "también sin desde hasta cuando donde puede pueden había según entre cada al lo ser tiene tienen ha han usted "
        "no de la en se su un uno le a o ni si sí e mi tu me te nos sobre contra este esta estos estas ese esa eso "
        "porque quien nada todo toda todos todas solo sólo ya era da siempre otro otra"
    ),
    "fr": words(
        "le les des et est sont était été du une dans pour par sur avec qui aux au ce cette ces il elle ils elles ne "
        "pas vous nous votre vos leur leurs mais ou où être plus sans chez dont fut peut peuvent afin selon "
        "de la en que se un non l d qu c n s j à a on si ni son sa ses tu me te lui tout tous toute entre sous "
        "y parce donc puisque lorsque chaque très cela ça jusqu moins après avant depuis dès quand comme aussi"
    ),
    "de": words(
        "der das und ist sind wurde wurden von mit für auf im dem den ein eine einer einen nicht auch sich als bei "
        "nach aus zum zur wird werden hat haben dass oder aber kann können über durch seit bis sie ihre ihren wie um "
        "nur noch die in an am des es so war was also per da man alle zu er ich wir vor wenn kein keine einem eines"
    ),
    "it": words(
        "il gli della delle dello nel nella è sono che di per con una più anche non dal dalla degli alla alle ha hanno "
        "era stato stata essere questo questa come ma la le lo un uno no se su si a o e in i al da del sul sulla mi ti "
        "ci l d solo fra tra"
    ),
    "pt": words(
        "o os da das do dos em na nas no nos que é são foi foram uma com não mais para por pelo pela ao também está "
        "seu sua como mas ser tem têm você de se um a as e ou à dos este esta sobre contra entre era todo toda todos "
        "porque só já nada me te"
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
_WHOLE: Final = 60
"""What a small word counts that only one language has: it can be divided by the number of languages."""
_LEAST: Final = 3 * _WHOLE // 2
_CLEARLY: Final = 2.0
_FUNCTION_TERMS: Final = frozenset(term for term, weight in WEIGHTS.items() if weight == 0.0 and term.isalpha())
_LEAST_OF_ANSWER: Final = 6
_LEAST_OF_CONTEXT: Final = 10
"""With fewer different function words in either text only its script can tell."""
_ANSWER_READ: Final = 4_000
"""Characters of the answer that are looked at."""
_SHARED: Final = 0.2
"""On the development data at least 0.35 of an answer's function words stand in its context; an English answer over
German or Spanish chunks shares below 0.1. Related languages (Spanish, French) are not told apart."""
_OTHER_SCRIPT: Final = 0.8
"""Difference of the shares of words in a script other than Latin from which two texts cannot be compared."""
_LEAST_WORDS: Final = 2


def speaks_another_language(index: EvidenceIndex, response: str) -> bool:
    """True where answer and chunks are plainly in different languages; False also where nobody can tell."""
    another = in_another_language(response, [chunk.text for chunk in index.chunks])
    if another is not None:
        return another
    answer, context = set(terms_of(response[:_ANSWER_READ])), index.vocabulary
    spoken, written = _FUNCTION_TERMS & answer, _FUNCTION_TERMS & context
    if len(spoken) >= _LEAST_OF_ANSWER and len(written) >= _LEAST_OF_CONTEXT:
        return len(spoken & written) < _SHARED * len(spoken)
    spoken_beyond, written_beyond = _share_beyond_latin(answer - context), _share_beyond_latin(context)
    if spoken_beyond is None or written_beyond is None:
        return False
    return abs(spoken_beyond - written_beyond) > _OTHER_SCRIPT


def _share_beyond_latin(terms: Collection[str]) -> float | None:
    """None where there are hardly any words: "2.5 %" is of any language, and a name that the chunks have too."""
    words = [term for term in terms if term[0].isalpha()]
    return sum(word[0] > "\u024f" for word in words) / len(words) if len(words) >= _LEAST_WORDS else None


def in_another_language(answer: str, chunks: Sequence[str]) -> bool | None:
    """True where no chunk is in the answer's language, False where one is, None where the texts do not tell."""
    spoken = _small_words_of(answer[:_READ])
    written = [_may_be_in(chunk[:_READ]) for chunk in chunks[:_MOST_TEXTS] if chunk.strip()]
    most = max(spoken.values(), default=0)
    in_theirs = max((spoken[language] for languages in written for language in languages), default=0)
    if most < _LEAST or not written:
        return None
    if in_theirs == most:
        return False
    return True if all(written) and most >= _CLEARLY * in_theirs else None


@lru_cache(maxsize=2_048)
def _may_be_in(text: str) -> frozenset[str]:
    """The languages that a text may be in: Spanish, and perhaps French. None of them where it does not tell."""
    counts = _small_words_of(text)
    most = max(counts.values(), default=0)
    return frozenset(language for language, count in counts.items() if most >= _LEAST and _CLEARLY * count > most)


def _small_words_of(text: str) -> Counter[str]:
    """By language, how many different small words of it stand in the text; a word of two languages is half a one."""
    counts: Counter[str] = Counter()
    for word in dict.fromkeys(_WORD.findall(text.lower())):
        languages = _LANGUAGES_OF.get(word, ())
        for language in languages:
            counts[language] += _WHOLE // len(languages)
    return counts
