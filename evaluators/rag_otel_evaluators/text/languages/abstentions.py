"""How an answer says that it does not know, or that its sources do not say.

An abstention is a statement about the documents ("the passages do not mention it") or about one's own knowledge
("I don't know"), not about the world ("the app collects no data"). So nearly every pattern asks for a word of one of
the two. Every gap has a bound, so a pattern takes linear time. Compiled when a sentence first asks for them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages import any_of, words
from rag_otel_evaluators.text.languages.scripts import SPACELESS
from rag_otel_evaluators.text.word_memo import WordMemo

_DOC_EN: Final = (
    r"\b(?:passages?|contexts?|documents?|documentation|texts?|sources?|articles?|excerpts?|extracts?|snippets?|"
    r"materials?|reports?|manuals?|handbooks?|guides?|notes|pages|brochures?|leaflets?|files|knowledge base|chunks?|"
    r"search results?|references|transcripts?|faqs?|"
    r"(?:provided|given|available|retrieved|above|supplied) (?:information|data|content|details)|"
    r"(?:information|data|content) (?:provided|given|available|supplied|at hand|I have|in front of me|above))\b"
)
_SAY_EN: Final = (
    r"(?:say|state|mention|specif(?:y|ie)|contain|include|provide|indicate|give|offer|discuss|address|cover|name|"
    r"tell|explain|describe|disclose|clarify|detail|list|reveal|answer|go into|have|make|report|note|show|touch|speak|"
    r"help|allow|elaborate|refer|identify|set out|record)(?:s|es)?\b"
)
_SAID_EN: Final = (
    r"(?:mentioned|stated|specified|given|provided|covered|discussed|addressed|included|indicated|named|described|"
    r"disclosed|listed|found|answered|explained|available|recorded|contained|clear|clarified|(?:is|"
    r"are) (?:in|part of)|"
    r"(?:n['’]t|not|nowhere) in)"
)
_NOT_EN: Final = r"(?:\bnot|n['’]t|\bnever|\bnowhere|\bno longer)"
_FACT_EN: Final = r"(?:information|details?|data|mention|evidence|reference|indication|answer|context|figures?|basis)\b"
_ENGLISH: Final = (
    rf"{_DOC_EN}.{{0,50}}\b(?:do|does|did|can|could)(?: ?not|n['’]t)\b.{{0,20}}\b{_SAY_EN}",
    rf"{_DOC_EN}.{{0,50}}\b(?:contain|include|give|offer|make|provide|ha(?:s|ve)|say|tell|show)s?\b.{{0,6}}"
    r"\b(?:no|nothing|neither|insufficient|not enough|too little)\b",
    rf"{_DOC_EN}.{{0,30}}\b(?:silent|unclear|leaves? (?:that|this|it|the \w+) (?:\w+ )?open|lacks?|omits?|"
    r"fails? to|missing|insufficient|not (?:enough|sufficient))\b",
    rf"\b(?:no|none|nothing|neither)\b.{{0,25}}\b(?:of|in|from)\b.{{0,25}}(?:{_DOC_EN}|\b(?:these|them|those|what)\b)"
    rf".{{0,40}}\b(?:{_SAY_EN}|is|are|about|on)",
    rf"\bno {_DOC_EN}.{{0,30}}\b{_SAY_EN}",
    rf"{_NOT_EN}.{{0,25}}\b{_SAID_EN}\b.{{0,40}}{_DOC_EN}",
    rf"\b(?:missing|absent|unclear|unknown|uncertain|ambiguous)\b.{{0,25}}\b(?:from|in|based on|"
    rf"given)\b.{{0,25}}{_DOC_EN}",
    rf"{_DOC_EN}.{{0,60}}\b(?:is|are) (?:missing|absent|not there|unclear)\b",
    rf"(?:\b(?:is|are|was|were|been)? ?{_NOT_EN}|^\W*not)(?: \w+)? "
    r"(?:mentioned|stated|specified|indicated|addressed|discussed|provided|given|known from)"
    r"(?: (?:here|anywhere|there|explicitly|at all|in detail|directly)){0,2}\W*$",
    rf"\b(?:there (?:is|are|was|were)(?: ?not|n['’]t)?|there['’]s)\b.{{0,12}}\b(?:no|not|any|enough|insufficient|"
    rf"sufficient|nothing|little)\b.{{0,25}}(?:\b(?:information|details?|mention|indication)\b|"
    rf"\b{_FACT_EN}.{{0,40}}{_DOC_EN}|{_DOC_EN}|\bto (?:answer|say|determine|tell)\b)",
    r"^\W*(?:unable|impossible|not able|not possible) to (?:answer|say|tell|determine|know)\b",
    rf"^\W*(?:not enough|insufficient) {_FACT_EN}|\b(?:I|we) (?:do not|"
    rf"don['’]t) have (?:any )?access to (?:that|this|any|the) "
    rf"(?:\w+ )?{_FACT_EN}",
    rf"\b(?:I|we)\b(?: \w+){{0,2}} (?:have|lack|possess|see|find|got)\b.{{0,15}}\b(?:no|not|any|enough|insufficient|"
    rf"sufficient|the|access)\b.{{0,15}}(?:{_FACT_EN}|{_DOC_EN})",
    rf"^\W*(?:unfortunately,? |sorry,? )?no (?:\w+ ){{0,3}}{_FACT_EN}.{{0,60}}\b(?:available|provided|given|found|"
    r"mentioned|included|supplied|exists?)\b",
    r"\b(?:I|we)(?: (?:am|was|are|were)|['’](?:m|re)) (?:\w+ )?(?:unable to|not able to|not (?:quite |entirely )?sure|"
    r"not certain|unsure|uncertain|unaware|not aware)\b",
    r"\b(?:I|we)(?: \w+){0,2} (?:cannot|can ?not|can['’]t|could not|couldn['’]t|unable to|(?:was|am) not able to|"
    r"do not|don['’]t|did not|didn['’]t|(?:have|['’]ve) not|haven['’]t)(?: \w+){0,2} "
    r"(?:know|say|tell|find|found|answer|determine|locate|see|identify|establish)\b",
    r"\b(?:I|we) (?:\w+ )?(?:have|['’]ve) (?:absolutely |really )?no (?:idea|clue|knowledge|way of)|"
    r"^\W*no (?:idea|clue)\b|"
    r"\bbeats me\b|\bI wish I knew\b|\bbeyond my knowledge\b",
    r"\b(?:question|answer|this|that|it|which|what)\b.{0,30}(?:cannot|can['’]t|can not|could not|"
    r"couldn['’]t|not|impossible"
    r"|unable)\b.{0,12}\b(?:be (?:answered|determined|said|told|established|inferred|known|deduced)|"
    r"to (?:answer|say|tell|determine|know|establish))\b",
    rf"\b(?:answer|question|request)\b.{{0,30}}\b(?:not|n['’]t|outside|beyond|lies)\b.{{0,25}}{_DOC_EN}",
    r"\b(?:isn['’]t|is not) (?:something|anything)\b.{0,40}\b(?:address|cover|mention|discuss|say)",
    rf"\b(?:not|n['’]t|cannot|impossible)\b.{{0,12}}\b(?:possible|tell|say|answer|determine|conclude|infer)\w*\b"
    rf".{{0,30}}{_DOC_EN}",
)

_DOC_ES: Final = (
    r"\b(?:contextos?|documentos?|documentación|textos?|pasajes?|fragmentos?|extractos?|fuentes?|"
    r"artículos?|manual(?:es)?|"
    r"informes?|guías?|folletos?|notas|páginas|archivos|materiales|material|base de (?:datos|"
    r"conocimientos?)|resultados|"
    r"información (?:proporcionada|facilitada|disponible|dada|recuperada|que (?:tengo|se me))|"
    r"datos (?:proporcionados|facilitados|disponibles|que (?:me|tengo)))\b"
)
_SAY_ES: Final = (
    r"(?:mencion|contien|incluy|proporcion|indic|especific|dic|ofrec|aclar|recog|explic|detall|habl|habla|"
    r"nombr|precis|"
    r"da|dan|cit|abord|trat|hac|permit|revel|señal|aport|consta|figur|aparec|entr|respond|contest|cubr|"
    r"mencionó|describ)\w*"
)
_SPANISH: Final = (
    rf"{_DOC_ES}.{{0,50}}\b(?:no|ni|tampoco)\b.{{0,15}}\b{_SAY_ES}",
    rf"\bno\b.{{0,20}}\b(?:se )?(?:{_SAY_ES}|encuentra|halla|está|queda claro|hay|veo|encuentro)\b.{{0,40}}{_DOC_ES}",
    rf"\b(?:ningun[oa]?|ningún|nada)\b.{{0,15}}\b(?:de|en)\b.{{0,20}}(?:{_DOC_ES}|\bell[oa]s\b).{{0,25}}\b{_SAY_ES}",
    rf"{_DOC_ES}.{{0,30}}\b(?:guardan? silencio|calla|deja\w* sin|contiene\w* nada|nada\b|no bast|no es suficiente|"
    r"son insuficientes|es insuficiente)",
    r"\bfaltan?\b.{0,20}\b(?:datos|información|detalles)\b.{0,30}",
    r"\bno (?:lo |la |le |os |te )?(?:sé|sabría|puedo|podría|podemos|consigo|"
    r"logro)(?: \w+){0,2} ?(?:responder|contestar|"
    r"decir\w*|determinar|saber\w*|encontrar|asegurar|afirmar|precisar)?\b(?<!no puedo)(?<!no podemos)(?<!no podría)",
    r"\bno (?:tengo|dispongo de|disponemos de|tenemos|cuento con)\b.{0,20}\b(?:idea|información|datos|"
    r"conocimiento|detalles)",
    r"\bno (?:he|hemos) (?:podido|encontrado|hallado|logrado|visto)\b|\bno (?:encuentro|hallo)\b|"
    r"\bdesconozco\b|\blo ignoro\b",
    r"\bsin poder (?:decir|responder|determinar)\w*\b|\bno (?:me )?es posible (?:responder|determinar|"
    r"saber|contestar|decir)\w*",
    r"\bno estoy segur[oa]\b|\bni idea\b|\bno sabría\b",
    r"\bno se (?:especifica|menciona|indica|precisa|detalla|dice|aclara|explica|señala|nombra)n?\b",
    r"^\W*no (?:consta|figura|aparece|se sabe por|queda claro)n?\b.{0,40}",
    r"\bno (?:hay|existe|aparece)n?\b.{0,15}\b(?:información|mención|detalles|"
    r"referencia)\b(?! (?:personal|adicional que))",
    r"\b(?:pregunta|respuesta)\b.{0,30}\bno\b.{0,30}\b(?:contest|respond|figura|aparece|está|encuentra|se puede)",
    rf"\b(?:ninguno|ninguna) (?:lo|la|los) {_SAY_ES}",
    rf"{_DOC_ES}.{{0,30}}\bno (?:me |nos )?(?:permite|basta)",
)

_DOC_DE: Final = (
    r"\b(?:kontext\w*|texte?s?n?|textstellen?|dokument(?:e|en|s|ation)?|unterlagen|passagen?|"
    r"abschnitte?n?|auszügen?|auszug|"
    r"quellen?|artikels?|handbuch\w*|berichts?|anleitung|broschüre|notizen|seiten|dateien|material\w*|"
    r"wissensdatenbank|"
    r"stellen|angaben|(?:vorliegend|gegeben|bereitgestellt|verfügbar)\w* (?:informationen|daten))\b"
)
_SAY_DE: Final = (
    r"(?:erwähn\w*|nenn\w*|genannt|enthält|enthalten\w*|sag(?:t|en)|gesagt|angegeben|geben|gibt|mach(?:t|"
    r"en)|steht|stehen|"
    r"beantwort\w*|erklär\w*|hervor\w*|entnehmen|erwähnung|beschreib\w*|beschrieben|aufgeführt|find\w*|"
    r"verrät|verraten|"
    r"liefer\w*|behandel\w*|eingegangen|ein|aus|her|hergeben|zu finden|erlaub\w*|klar|auf|an|mitgeteilt)"
)
_NOT_DE: Final = r"\b(?:nicht|nichts|keine?[nmrs]?|nirgends|nirgendwo|weder)\b"
_GERMAN: Final = (
    rf"{_DOC_DE}.{{0,60}}{_NOT_DE}(?:.{{0,40}}\b{_SAY_DE}\b|\W*$)",
    rf"{_DOC_DE}.{{0,30}}\b(?:sagt|sagen|nennt|nennen|enthält|enthalten|erwähnt|erwähnen|macht|machen|gibt|"
    rf"geben|steht|"
    rf"findet|verrät|beantwortet|beantworten|erklärt|erlaubt|erlauben)\b.{{0,40}}{_NOT_DE}",
    rf"\b(?:sagt|sagen|nennt|nennen|enthält|enthalten|erwähnt|erwähnen|gibt|geben|verrät|steht|stehen|"
    rf"findet|finden|erklärt|"
    rf"beantwortet)\b.{{0,40}}{_DOC_DE}.{{0,50}}{_NOT_DE}",
    rf"\b(?:keine?[rsnm]?|nichts)\b.{{0,8}}\b(?:der|in|im|den|dieser|aus|"
    rf"von)?\b.{{0,10}}{_DOC_DE}.{{0,30}}\b{_SAY_DE}",
    r"\bkeine?r? (?:\w+ )?(?:sagt|erwähnt|nennt|beschreibt)\b",
    rf"{_DOC_DE}.{{0,30}}\b(?:schweig\w*|offen|unklar|reich\w*.{{0,20}}nicht|fehl\w*)",
    rf"\b(?:fehl\w*|unklar)\b.{{0,30}}{_DOC_DE}",
    rf"{_NOT_DE}.{{0,30}}\b(?:in|im|aus|den|dem|anhand|mit)\b.{{0,20}}{_DOC_DE}.{{0,40}}\b(?:{_SAY_DE}|"
    rf"beantworten|sagen)\b",
    rf"\b(?:anhand|mit|aus|auf)\b.{{0,30}}{_DOC_DE}.{{0,20}}{_NOT_DE}.{{0,20}}\b(?:beantwort|sag|bestimm|"
    rf"ermittel|hervor|"
    r"feststell|beurteil|entnehm)\w*",
    r"\bweiß (?:ich |es |das ){0,2}(?:leider )?nicht\b|\bich weiß (?:\w+ ){0,2}nicht\b|\bkeine ahnung\b|"
    r"\bmuss ich passen\b",
    r"\b(?:ich|wir|mir|uns)\b.{0,60}\b(?:nicht|nichts|keine?[nrm]?)\b.{0,40}\b(?:beantworten|sagen|finden|bestimmen|"
    r"ermitteln|sicher|gefunden|bekannt|informationen|angaben|feststellen|beurteilen)\b",
    r"\bkann ich\b.{0,50}\bnicht (?:beantworten|sagen|finden|bestimmen)",
    r"\b(?:liegen|habe|finde|gibt|findet|finden|enthält)\b.{0,40}\bkeine?n?\b.{0,20}\b(?:informationen|"
    r"angaben?|hinweise?|"
    r"information|auskunft|aussage)\b",
    r"\b(?:wird|werden|ist|sind|wurde|wurden)\b.{0,20}\b(?:nicht|nirgends|nirgendwo|"
    r"nirgendwo)\b.{0,12}\b(?:genannt|erwähnt|"
    r"angegeben|spezifiziert|mitgeteilt)\W*$",
    r"^\W*(?:im|in den|in der) .{0,30}\bnicht (?:angegeben|genannt|erwähnt)|^\W*nicht (?:angegeben|genannt|erwähnt)\b",
    r"\blässt sich\b.{0,40}\bnicht (?:beantworten|sagen|bestimmen|feststellen)",
    r"\bsteh(?:t|en) (?:dort|da|hier|darin|dazu|dazu dort)\b.{0,10}\b(?:nichts|nicht)\b",
)

_DOC_FR: Final = (
    r"\b(?:contextes?|documents?|documentation|textes?|passages?|extraits?|sources?|articles?|manuel|"
    r"rapports?|guides?|"
    r"brochures?|notes|pages|fichiers|base de (?:connaissances|données)|éléments|supports?|"
    r"informations? (?:fournies?|données?|disponibles?))\b"
)
_SAY_FR: Final = (
    r"(?:mentionn|contien|contenu|inclu|fourni|indiqu|précis|donn|di[ts]|disent|expliqu|abord|parl|évoqu|cit|figur|"
    r"trouv|permet|nomm|répond|répon|suffi|trait|fait|font|entr|révèl|détaill|comport|décri|appar)\w*"
)
_FRENCH: Final = (
    rf"{_DOC_FR}.{{0,50}}\b(?:ne|n['’])(?:\b|(?=\w)).{{0,12}}\b{_SAY_FR}.{{0,20}}\b(?:pas|rien|aucune?|"
    rf"guère|jamais)\b",
    rf"{_DOC_FR}.{{0,30}}\b(?:ne|n['’]).{{0,8}}(?:sont|est) pas (?:clair|explicite|suffisant|assez)",
    rf"{_DOC_FR}.{{0,20}}\b(?:muette?s?|silencieu\w+|insuffisant\w*|ne (?:le|la|les) \w+ pas)",
    rf"\b(?:ne|n['’])(?:\b|(?=\w)).{{0,25}}\b{_SAY_FR}.{{0,20}}\b(?:dans|par|d['’]après)\b.{{0,20}}{_DOC_FR}",
    rf"\b(?:ne|n['’])(?:\b|(?=\w)).{{0,20}}\bpas\b.{{0,20}}\b{_SAY_FR}.{{0,20}}\b(?:dans|par)\b.{{0,20}}{_DOC_FR}",
    rf"\b(?:aucun|aucune|rien|nulle part)\b.{{0,12}}\b(?:des|de|dans|du)\b.{{0,20}}{_DOC_FR}.{{0,12}}\b(?:ne|n['’])"
    rf"(?:\b|(?=\w)).{{0,8}}{_SAY_FR}",
    rf"\b(?:aucune?) (?:{_DOC_FR} )?(?:ne|n['’]) ?(?:le |la |les |l['’])?{_SAY_FR}",
    r"\bje (?:ne|n['’]) ?.{0,12}(?:sais|peux|suis|dispose|trouve|vois|connais|pas pu|ai|saurais|"
    r"parviens)\b.{0,25}\b(?:pas|"
    r"rien|aucune?)\b(?! (?:d['’]agence))",
    r"\bje ne (?:sais|peux|saurais)\b.{0,12}\b(?:pas|dire|répondre)|\bj['’]ignore\b|\bje l['’]ignore\b",
    r"\b(?:aucune idée|difficile à dire)\b|\bimpossible de (?:répondre|dire|savoir|déterminer)",
    r"\bon (?:ne|n['’])\b.{0,30}\bpas\b.{0,20}\b(?:déterminer|répondre|savoir|dire)\b",
    r"\bil n['’](?:y a|existe)\b.{0,12}\b(?:aucune?|pas d['’e])\b ?.{0,12}\b(?:informations?|mention|"
    r"précision|détails?|indication)",
    r"\b(?:n['’]est|ne sont|n['’]a|n['’]ont)(?: pas| jamais| nulle part)?(?: été)? (?:mentionné|précisé|"
    r"indiqué|spécifié|cité|"
    r"traité|évoqué|abordé)\w*(?: nulle part| ici| clairement)?\W*$",
    rf"\b(?:question|réponse)\b.{{0,30}}\b(?:ne|n['’])(?:\b|(?=\w)).{{0,20}}\bpas\b.{{0,20}}(?:{_SAY_FR}|{_DOC_FR})",
    r"\b(?:aucune?) .{0,25}\b(?:n['’]est|ne sont) (?:cité|mentionné|indiqué|précisé|donné|fourni)\w*",
    rf"\b(?:crains|peur) que\b.{{0,30}}{_DOC_FR}.{{0,10}}\b(?:ne|n['’])",
)
_DOC_ZH: Final = (
    r"(?:文档|文件|文中|原文|文本|文章|上下文|资料|材料|段落|片段|摘录|来源|手册|报告|笔记|说明书|知识库|"
    r"内容|检索|信息|几段|"
    r"一段|篇|任何一段|文字|书中|页面|指南|此文|本文|数据库|参考|提供的)"
)
_SAID_ZH: Final = (
    r"(?:提到|提及|说明|说|写|注明|交代|涉及|给出|列出|包含|找到|解释|回答|答案|细说|谈到|载明|指出|介绍|"
    r"描述|相关|具体说明|告诉|"
    r"透露|明确|记载|写明|指明|讨论)"
)
_CHINESE: Final = (
    rf"{_DOC_ZH}.{{0,15}}(?:没有|没|未|并未|不曾|均未|都没|未能|不能|不|无法).{{0,6}}{_SAID_ZH}",
    rf"{_DOC_ZH}.{{0,12}}(?:看不出|查不到|找不到|没有|不足以|只字未提|不得而知|无法|未见|不够|缺少|之外|"
    rf"不包含|不包括|不在)",
    rf"(?:没有|没|未|无|无法|不能|看不出).{{0,12}}{_DOC_ZH}.{{0,10}}(?:{_SAID_ZH}|中|里)?.{{0,8}}(?:说明|"
    rf"提|谈|内容|答案|作答|判断|找到|范围)",
    r"我.{0,6}(?:不知道|不清楚|不了解|无法|不能|没有找到|没找到|无从|不确定|答不上来|没有.{0,8}信息|查不到|找不到)",
    r"(?:^\W*(?:不知道|不清楚|不好说|无法(?:回答|确定|判断|得知)|无从得知|不得而知|未提及|未说明|没有提到|没有提及))",
    r"(?:无法|不能|难以)(?:根据|从|由).{0,15}(?:回答|作答|判断|确定|得知|推断|看出)",
    r"答不上来|无可奉告",
    r"(?:没有提到|未提及|没有说明|未作说明|没有提及|没有注明|未注明)\W*$",
    rf"(?:根据|从|由|在|就).{{0,10}}{_DOC_ZH}.{{0,10}}(?:无法|不能|看不出|难以|没有)",
    r"(?:问题|答案).{0,8}(?:不在|无法|没有|超出)",
)
_OTHERS: Final = (  # Italian, Portuguese, traditional Chinese, Arabic, Hindi, Japanese
    r"\bnon (?:lo so|ci sono informazioni|è possibile (?:rispondere|determinare))",
    r"\bnão (?:sei|há informaç|é possível (?:responder|determinar))",
    r"無法(?:回答|確定)|沒有(?:提到|提及|相關資訊)",
    r"لا (?:أعرف|اعرف|أعلم|أدري|يذكر|يمكن(?:ني)? (?:الإجابة|تحديد))|غير مذكور",
    r"(?:मुझे|हमें) (?:यह )?(?:नहीं (?:पता|मालूम)|पता नहीं|मालूम नहीं)|(?:उल्लेख|जानकारी) (?:\S{1,30} ){0,2}?नहीं",
    r"わかりません|分かりません|答えられません|記載(?:されて|が)(?:い)?(?:ません|ない)",
)
_LANGUAGES: Final = (
    (
        words(
            "not t cannot unable no none nothing neither impossible unclear unknown uncertain unsure "
            "insufficient silent "
            "missing absent lack lacks fails leaves leave beats unaware nowhere omits ambiguous wish beyond without don"
        ),
        _ENGLISH,
    ),
    (words("no ni tampoco ninguno ninguna ningún nada falta faltan desconozco ignoro silencio sin"), _SPANISH),
    (
        words(
            "nicht nichts kein keine keinen keiner keinem keines nirgends weder unklar offen fehlt fehlen passen "
            "schweigen schweigt"
        ),
        _GERMAN,
    ),
    (
        words("ne n pas aucun aucune rien ignore impossible difficile muette muet muets muettes insuffisants crains"),
        _FRENCH,
    ),
)
"""A language's cues, one of which stands in each of its abstentions as a word, and its patterns."""
_CUES: Final = frozenset[str]().union(*(cues for cues, _ in _LANGUAGES))
_WORD: Final = re.compile(r"[^\W_]+")
_cues_in: Final = WordMemo(lambda piece: _CUES.intersection(_WORD.findall(piece)))


def find_abstention(sentence: str) -> re.Match[str] | None:
    """Where the sentence says that something is not known or not in the sources; None where it does not.

    A sentence about what other people do not know, or what a thing does not do, is none.
    """
    if not sentence.isascii() and (found := _others().search(sentence)):
        return found
    if SPACELESS.search(sentence) is not None:
        return _first(_chinese(), sentence)
    cues = frozenset().union(*map(_cues_in.__getitem__, sentence.lower().split()))
    if not cues:
        return None
    for number, (own, _) in enumerate(_LANGUAGES):
        if not own.isdisjoint(cues) and (found := _first(_patterns_of(number), sentence)) is not None:
            return found
    return None


def mentions_documents(clause: str) -> bool:
    """True where the clause speaks of the documents, or of who answers."""
    return _documents().search(clause) is not None


def reports_documents(clause: str) -> bool:
    """True where the clause tells what the documents do say: "they say that the tour lasts two hours"."""
    return _reports().search(clause) is not None


def _first(patterns: tuple[re.Pattern[str], ...], sentence: str) -> re.Match[str] | None:
    return next((found for pattern in patterns if (found := pattern.search(sentence)) is not None), None)


@cache
def _patterns_of(language: int) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in _LANGUAGES[language][1])


@cache
def _chinese() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in _CHINESE)


@cache
def _others() -> re.Pattern[str]:
    return any_of(*_OTHERS)


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
