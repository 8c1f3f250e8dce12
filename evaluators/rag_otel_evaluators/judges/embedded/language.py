"""Whether an answer speaks the language of its chunks. Where it does not, shared words tell nothing."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from rag_otel_evaluators.judges.answer_language import in_another_language
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.text.terms import WEIGHTS, terms_of

_FUNCTION_TERMS: Final = frozenset(term for term, weight in WEIGHTS.items() if weight == 0.0 and term.isalpha())
_LEAST_OF_ANSWER: Final = 6
_LEAST_OF_CONTEXT: Final = 10
"""With fewer different function words in either text only its script can tell."""
_READ: Final = 4_000
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
    answer, context = set(terms_of(response[:_READ])), index.vocabulary
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
