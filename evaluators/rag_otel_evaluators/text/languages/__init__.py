"""What segmentation and the embedded judge must know of languages: data only, one idea a module.

abbreviations  common_words  quantities  negations    tables of words
discourse_markers  asides  scripts                    patterns, compiled when they are first needed
abstentions                                           a package: lexicons and patterns of abstention

Nothing detects the language: the tables are unions, chosen so that a row of one language does no harm in another.
Complete for English; Spanish, German and French cover what answers of RAG applications usually say.
"""

from __future__ import annotations

import re


def words(listed: str) -> frozenset[str]:
    """ "a b c" -> {"a", "b", "c"}."""
    return frozenset(listed.split())


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern of several, in any case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
