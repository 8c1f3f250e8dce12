"""Whether a clause speaks of the documents, and whether it tells what they say."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages import any_of

_DOC_EN: Final = (
    r"\b(?:passages?|contexts?|documents?|documentation|texts?|sources?|articles?|excerpts?|extracts?|snippets?|"
    r"materials?|reports?|manuals?|handbooks?|guides?|notes|pages|brochures?|leaflets?|files|knowledge base|chunks?|"
    r"search results?|references|transcripts?|faqs?|"
    r"(?:provided|given|available|retrieved|above|supplied) (?:information|data|content|details)|"
    r"(?:information|data|content) (?:provided|given|available|supplied|at hand|I have|in front of me|above))\b"
)
_DOC_ES: Final = (
    r"\b(?:contextos?|documentos?|documentación|textos?|pasajes?|fragmentos?|extractos?|fuentes?|"
    r"artículos?|manual(?:es)?|"
    r"informes?|guías?|folletos?|notas|páginas|archivos|materiales|material|base de (?:datos|"
    r"conocimientos?)|resultados|"
    r"información (?:proporcionada|facilitada|disponible|dada|recuperada|que (?:tengo|se me))|"
    r"datos (?:proporcionados|facilitados|disponibles|que (?:me|tengo)))\b"
)
_DOC_DE: Final = (
    r"\b(?:kontext\w*|texte?s?n?|textstellen?|dokument(?:e|en|s|ation)?|unterlagen|passagen?|"
    r"abschnitte?n?|auszügen?|auszug|"
    r"quellen?|artikels?|handbuch\w*|berichts?|anleitung|broschüre|notizen|seiten|dateien|material\w*|"
    r"wissensdatenbank|"
    r"stellen|angaben|(?:vorliegend|gegeben|bereitgestellt|verfügbar)\w* (?:informationen|daten))\b"
)
_DOC_FR: Final = (
    r"\b(?:contextes?|documents?|documentation|textes?|passages?|extraits?|sources?|articles?|manuel|"
    r"rapports?|guides?|"
    r"brochures?|notes|pages|fichiers|base de (?:connaissances|données)|éléments|supports?|"
    r"informations? (?:fournies?|données?|disponibles?))\b"
)
_DOC_ZH: Final = (
    r"(?:文档|文件|文中|原文|文本|文章|上下文|资料|材料|段落|片段|摘录|来源|手册|报告|笔记|说明书|知识库|"
    r"内容|检索|信息|几段|"
    r"一段|篇|任何一段|文字|书中|页面|指南|此文|本文|数据库|参考|提供的)"
)

def mentions_documents(clause: str) -> bool:
    """True where the clause speaks of the documents, or of who answers."""
    return _documents().search(clause) is not None


def reports_documents(clause: str) -> bool:
    """True where the clause tells what the documents do say: "they say that the tour lasts two hours"."""
    return _reports().search(clause) is not None


@cache
def _documents() -> re.Pattern[str]:
    return any_of(
        *(_DOC_EN, _DOC_ES, _DOC_DE, _DOC_FR, _DOC_ZH),
        r"\b(?:I|I['’]m|me|my|ich|mir|mich|yo|me|mi|je|moi|mon|ma)\b|\bj['’]|我|您",
    )


@cache
def _reports() -> re.Pattern[str]:
    return any_of(
        r"\b(?:say|state|mention|indicate|describe|suggest|note|explain|show|report|give|list|name)s?\b|"
        r"\baccording to\b",
        r"\b(?:dice|dicen|indican?|señalan?|mencionan?|afirman?|según|explican?)\b",
        r"\b(?:sagt|sagen|laut|steht|nennt|nennen|erwähnt|erwähnen|beschreibt)\b",
        r"\b(?:dit|disent|indiquent?|selon|précisent?|mentionnent?|expliquent?)\b",
        r"(?:说|指出|提到|写|提及|表明|显示|记载|介绍)",
    )
