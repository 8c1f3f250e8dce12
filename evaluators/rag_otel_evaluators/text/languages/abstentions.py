"""How an answer says that it does not know, or that its sources do not say.

One pattern a language, compiled when a sentence first asks for it. Words that stand in everything that a pattern
matches are looked for before: most sentences then need no pattern at all, and nearly all others one.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages import any_of, words
from rag_otel_evaluators.text.languages.scripts import SPACELESS
from rag_otel_evaluators.text.word_memo import WordMemo


@dataclass(frozen=True, slots=True, kw_only=True)
class _Abstentions:
    """What a language, or several, has for it."""

    cues: frozenset[str]
    """One of these stands in each of them, as a word ..."""
    more_cues: frozenset[str] = frozenset()
    """... and one of these; empty for no second condition."""
    patterns: tuple[str, ...]

    def may_match(self, cues: Set[str]) -> bool:
        """False where a sentence with these of the cues cannot be one of them."""
        return not self.cues.isdisjoint(cues) and not (self.more_cues and self.more_cues.isdisjoint(cues))


def find_abstention(sentence: str) -> re.Match[str] | None:
    """Where the sentence says that something is not known or not in the sources; None where it does not."""
    spaceless = not sentence.isascii() and SPACELESS.search(sentence) is not None
    cues = frozenset().union(*map(_cues_in.__getitem__, sentence.lower().split()))
    if not spaceless and _FIRST_CUES.isdisjoint(cues):
        return None
    first: re.Match[str] | None = None
    for abstentions in _LANGUAGES:
        if spaceless or abstentions.may_match(cues) or (abstentions is _OTHERS and not sentence.isascii()):
            found = _pattern_of(abstentions).search(sentence)
            if found is not None and (first is None or found.start() < first.start()):
                first = found
    return first


@cache
def _pattern_of(abstentions: _Abstentions) -> re.Pattern[str]:
    return any_of(*abstentions.patterns)


_SOURCES_EN = r"(?:passages?|contexts?|documents?|texts?|sources?|information|articles?|excerpts?|snippets?|data)"
_UNSAID_EN = r"(?:provide|contain|mention|include|specif(?:y|ies)|state|say|give|offer|discuss|address|cover|have)s?"

_ENGLISH: Final = _Abstentions(
    cues=words("not t cannot unable impossible sorry afraid no insufficient without none nothing"),
    more_cues=words(
        "sorry afraid unable able sure certain impossible possible know have find see answer answered determine "
        "determined tell say do does did don doesn didn information mention mentions detail details mentioned "
        "specified provided stated given covered included"
    ),
    patterns=(
        r"\bI(?: am|'m|’m) (?:sorry|afraid|unable|not (?:able|sure|certain))\b",
        r"\b(?:is|am|are|was|were|it'?s)? ?(?:unable|not possible|impossible) to (?:\w+ ){0,3}?"
        r"(?:answer|determine|say|tell|provide)",
        r"\bI (?:do not|don['’]t|did not|didn['’]t) (?:know|have (?:\w+ ){0,3}(?:information|data|context)|find|see)\b",
        r"\b(?:cannot|can['’]t|can not|could not|couldn['’]t) "
        r"(?:be (?:answered|determined)|answer|determine|tell|say|find)\b",
        _SOURCES_EN + r"(?: \w+){0,4}? (?:do|does|did)(?: not|n['’]t) (?:\w+ ){0,2}?" + _UNSAID_EN,
        r"\b(?:no|not enough|insufficient|without (?:further|additional|more))(?: \w+){0,3} "
        r"(?:information|mention|details?)\b",
        r"\b(?:is|are|was|were)(?: not|n['’]t) (?:\w+ )?(?:mentioned|specified|provided|stated|given|covered|included)"
        r"(?: \w+){0,3} " + _SOURCES_EN,
        r"\b(?:none|nothing|not) (?:\w+ ){0,1}?(?:mentioned|specified|stated|provided)\b"
        r"(?: in the (?:\w+ )?" + _SOURCES_EN + r")?\W*$",
        r"\bno " + _SOURCES_EN + r" mentions?\b",
    ),
)
_SPANISH: Final = _Abstentions(
    cues=words("no"),
    patterns=(
        r"\bno (?:lo )?(?:sé|puedo (?:responder|contestar|determinar)|tengo (?:\w+ ){0,2}información|dispongo)\b",
        r"\b(?:el|los|la) (?:contextos?|documentos?|textos?|pasajes?|información)(?: \w+){0,3} no (?:\w+ ){0,1}"
        r"(?:menciona|contiene|incluye|proporciona|indica|especifica|dice|ofrece)n?\b",
        r"\bno (?:hay|existe|se (?:menciona|encuentra|proporciona|dispone))(?: \w+){0,3} "
        r"(?:información|datos|mención)\b",
        r"\bno es posible (?:responder|determinar|saber)",
    ),
)
_GERMAN: Final = _Abstentions(
    cues=words("nicht kein keine keinen"),
    patterns=(
        r"\b(?:ich weiß (?:es )?nicht|weiß ich nicht|kann ich (?:\w+ ){0,4}nicht (?:beantworten|sagen))\b",
        r"\bkann (?:ich )?(?:\w+ ){0,6}nicht (?:beantwort|bestimm|ermittel)",
        r"\b(?:der|die|den|das|im|in den) (?:\w+ ){0,2}?(?:kontext|texte?n?|dokumente?n?|passagen?|informationen)\b.*"
        r"\b(?:nicht|keine?n?)\b.*\b(?:erwähnt|enthalten|enthält|angegeben|genannt|hervor)",
        r"\bkeine (?:\w+ ){0,3}(?:informationen|angaben)\b",
    ),
)
_FRENCH: Final = _Abstentions(
    cues=words("ne n pas aucun aucune"),
    patterns=(
        r"\bje ne (?:sais|peux|suis|dispose|trouve)(?: \w+){0,2} (?:pas|aucune?)\b|\bje ne sais pas\b",
        r"\b(?:le|les|la) (?:contextes?|documents?|textes?|passages?|informations?)(?: \w+){0,3} (?:ne|n['’]) ?"
        r"(?:\w+ )?(?:mentionne|contien|inclu|fourni|indique|précise|donne)",
        r"\bil n['’](?:y a|existe)(?: \w+){0,2} (?:aucune?|pas)(?: \w+){0,3} (?:information|mention)",
        r"\b(?:aucune|pas d['’]) ?information",
    ),
)
_ITALIAN: Final = _Abstentions(
    cues=words("non"),
    patterns=(r"\bnon (?:lo so|ci sono informazioni|è possibile (?:rispondere|determinare))",),
)
_OTHERS: Final = _Abstentions(  # Portuguese, Chinese, Arabic, Hindi, Japanese: no ASCII, so asked of nothing else
    cues=words("não لا غير नह"),
    patterns=(
        r"\bnão (?:sei|há informaç|é possível (?:responder|determinar))",
        r"我不知道|无法(?:回答|确定)|無法(?:回答|確定)|没有(?:提到|提及|相关信息)|沒有(?:提到|提及|相關資訊)",
        r"لا (?:أعرف|اعرف|أعلم|أدري|يذكر|يمكن(?:ني)? (?:الإجابة|تحديد))|غير مذكور",
        r"(?:मुझे|हमें) (?:यह )?(?:नहीं (?:पता|मालूम)|पता नहीं|मालूम नहीं)|(?:उल्लेख|जानकारी) (?:\S+ ){0,2}?नहीं",
        r"わかりません|分かりません|答えられません|記載(?:されて|が)(?:い)?(?:ません|ない)",
    ),
)
_LANGUAGES: Final = (_ENGLISH, _SPANISH, _GERMAN, _FRENCH, _ITALIAN, _OTHERS)
_FIRST_CUES: Final = frozenset[str]().union(*(abstentions.cues for abstentions in _LANGUAGES))
_CUES: Final = _FIRST_CUES | _ENGLISH.more_cues
_WORD: Final = re.compile(r"[^\W_]+")
_cues_in: Final = WordMemo(lambda piece: _CUES.intersection(_WORD.findall(piece)))
