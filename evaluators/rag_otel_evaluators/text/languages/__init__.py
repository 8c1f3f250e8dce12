"""What segmentation and the embedded judge must know of languages: data only, one idea a module.

abbreviations  common_words  number_words  units  opposites    tables of words
discourse_markers                                              patterns

Nothing detects the language: the tables are unions, chosen so that a row of one language does no harm in another.
Complete for English; Spanish, German and French cover what answers of RAG applications usually say.
"""

from __future__ import annotations


def words(listed: str) -> frozenset[str]:
    """ "a b c" -> {"a", "b", "c"}."""
    return frozenset(listed.split())
