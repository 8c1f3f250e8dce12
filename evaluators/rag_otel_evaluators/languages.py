"""What segmentation and the embedded judge must know of languages: data only, one table an idea.

Nothing detects the language: the tables are unions, chosen so that a row of one language does no harm in another.
Complete for English; Spanish, German and French cover what answers of RAG applications usually say.
"""

from __future__ import annotations

import re
from typing import Final

SPACELESS: Final = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")
"""A character of Chinese, Japanese or Korean: scripts whose words no white space separates."""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


ABBREVIATIONS: Final = _words(
    # Written with a full stop that ends no sentence, though a capital follows. Lower case, without the stop.
    "mr mrs ms dr prof rev hon gen col capt lt sgt gov sen rep pres st ste mt ft vs cf al e.g i.e viz incl ed eds dept "
    "univ sr sra srta dña ud uds p.ej avda z.b d.h u.a bzw ggf evtl vgl hr fr frl inkl sog mme mlle mgr p.ex"
)

NUMBER_ABBREVIATIONS: Final = _words(
    "no nos nr núm fig figs eq art sec ch vol vols p pp pág págs approx aprox ca est max min avg tel abs § nº "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
)
"""Abbreviations only where a number follows: "No. 5", but "He said no. Then he left"."""

OPENERS: Final = _words(
    # Words that, capitalised after an abbreviation or an initial, do begin a sentence: "in the U.S. The law ..."
    "the a an it its this that these those he she they we you i in on at as for from to by with if when while after "
    "before since although however also but and or so there here his her their our your one some many most each all "
    "no not what who how why where both other another according based overall additionally moreover "
    "el la los las un una es en por para con si cuando este esta estos estas su sus se lo no también además "
    "der die das ein eine es im in am und aber wenn dies diese dieser sie er wir auch für mit "
    "le les une il elle ils elles ce cette ces dans pour avec si on nous vous mais"
)

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan enero januar janvier jänner",
            "february feb febrero februar février",
            "march mar marzo märz mars",
            "april apr abril avril",
            "may mayo mai",
            "june jun junio juni juin",
            "july jul julio juli juillet",
            "august aug agosto août",
            "september sep sept septiembre septembre",
            "october oct octubre oktober octobre",
            "november nov noviembre novembre",
            "december dec diciembre dezember décembre",
        ),
        start=1,
    )
    for name in names.split()
}

NUMBER_WORDS: Final = {
    word: value
    for value, words in {
        2: "two dos zwei deux",
        3: "three tres drei trois",
        4: "four cuatro vier quatre",
        5: "five cinco fünf cinq",
        6: "six seis sechs",
        7: "seven siete sieben sept",
        8: "eight ocho acht huit",
        9: "nine nueve neun",
        10: "ten diez zehn dix",
        11: "eleven once elf onze",
        12: "twelve doce zwölf douze",
        15: "fifteen quince fünfzehn quinze",
        20: "twenty veinte zwanzig vingt",
        30: "thirty treinta dreißig trente",
        40: "forty cuarenta vierzig quarante",
        50: "fifty cincuenta fünfzig cinquante",
        60: "sixty sesenta sechzig soixante",
        100: "hundred cien hundert cent",
        1000: "thousand mil tausend mille",
    }.items()
    for word in words.split()
    if word not in {"once", "sept", "elf", "mil", "cent", "dos"}  # English words, months and units elsewhere
}

FUNCTION_WORDS: Final = _words(
    # Words that carry no fact of their own: their absence from the evidence says next to nothing. Left out are words
    # that carry one in another language (German "war", "die", French "son"): any text of theirs holds those anyway.
    "a an the this that these those it its he she they them their theirs his her hers him we us our you your i my me "
    "who whom whose which what when where why how there here of in on at to for from by with without into onto over "
    "under between among through during before after above below about against within upon per via as than then "
    "and or but nor so yet if unless because since while although though whether both either neither each every "
    "all any some such other another more most less least many much few several own same only just also too very "
    "quite even still again further once ever is are was were be been being am do does did done doing have has had "
    "having will would shall should can could may might must not no don doesn didn isn aren wasn weren won wouldn "
    "couldn shouldn can't cannot s t ll re ve d up down out off "
    "however therefore thus hence additionally furthermore moreover overall finally instead rather otherwise "
    "el la los las un una unos unas lo le les se su sus y o u e ni que de del al en por para con sobre entre "
    "como más menos muy ya también pero si no es fue fueron ser está están era ha han hay este esta estos estas "
    "ese esa eso cual cuyo donde cuando "
    "der das den dem des ein eine einen einem einer eines und oder aber nicht auch nur noch schon sehr mit von "
    "vom zu zum zur bei aus auf im in an am für über unter nach vor durch um als wie wenn dass weil ist sind "
    "wird werden wurde wurden sein haben hatte er sie es wir ihr ihre sich "
    "le les l un une des du de d et ou mais ne pas plus à au aux en dans sur sous par avec sans que qui quoi "
    "dont où est sont était été être a ont avait il elle ils elles on nous vous leur leurs ce cet cette ces se sa "
    "ses"
)

FRAME_WORDS: Final = _words(
    # Words with which an answer talks about itself and its sources, or that any paraphrase may add.
    "passage passages context contexts document documents text source sources information provided given mentioned "
    "mention mentions according based following follow include includes including included example examples "
    "summary note important essential recommended various different specific specifically certain general generally "
    "typically usually commonly often sometimes overall ensure make makes made making use used uses using help helps "
    "provide provides providing need needs get way ways step steps several known called referred refer refers "
    "hold held take takes taken become becomes became keep remember additional crucial necessary likely possible able "
    "question answer state states stated suggest suggests suggested describe describes described result results "
    "such due allow allows allowing involve involves involving consider "
    "contexto documento documentos información según ejemplo respuesta pregunta "
    "kontext dokument dokumente information laut beispiel antwort frage "
    "contexte document documents selon exemple réponse question"
)

NEGATIONS: Final = _words(
    "not no never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't "
    "weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't nunca ningún ninguna ninguno nada tampoco nicht "
    "kein keine keinen keiner keinem nie niemals ohne pas jamais aucun aucune rien sans "
    "لا ليس ليست لم لن नहीं 不是 不能 不会 不會 不在 不可 没有 沒有 并非 並非 从未 從未 未能 ない せん"
)

LIMITING_WORDS: Final = _words(
    # After a negation they limit or stress what is said and do not deny it: "no more than 20", "not only".
    "more less fewer later earlier longer only just necessarily least sólo solo más mas menos mehr weniger nur "
    "plus moins seulement"
)

NEGATING_WORDS: Final = _words(
    # Words that negate without a negation: a paraphrase may use one for the other.
    "unable avoid avoids avoiding prevent prevents preventing fail fails failed failing lack lacks lacking refuse "
    "refuses refused stop stops impossible unlikely unlike instead except rather hardly rarely seldom barely "
    "few little keep evitar evita impedir falta imposible vermeiden verhindern fehlt unmöglich "
    "éviter empêcher manque"
)
"""Beside `NEGATIONS`."""


def _opposites(listed: str) -> dict[str, frozenset[str]]:
    """ "a/b c/d,e" -> each word with those on the other side of its stroke."""
    found: dict[str, frozenset[str]] = {}
    for pair in listed.split():
        left, right = (frozenset(side.split(",")) for side in pair.split("/"))
        for side, other in ((left, right), (right, left)):
            for word in side:
                found[word] = found.get(word, frozenset()) | other
    return found


ANTONYMS: Final = _opposites(
    "high/low higher/lower highest/lowest large,big/small larger,bigger/smaller largest,biggest/smallest "
    "hot/cold hotter,warmer/colder,cooler increase,raise/decrease,reduce,lower "
    "increases,raises/decreases,reduces,lowers "
    "increased,raised/decreased,reduced increasing/decreasing,reducing "
    "before/after above/below more/less,fewer maximum/minimum longer/shorter "
    "long/short fast,quick/slow faster/slower early/late earlier/later  "
    "always/never open/closed true/false legal/illegal safe/unsafe,dangerous "
    "allowed,permitted/forbidden,prohibited accept/reject accepts/rejects accepted/rejected approved/rejected "
    "included/excluded includes/excludes north/south northern/southern east/west eastern/western "
    "inside/outside indoors/outdoors public/private "
    "old/young,new older/younger,newer oldest/youngest,newest rich/poor strong/weak stronger/weaker hard/soft "
    "easy/difficult cheap/expensive cheaper/costlier light/dark wet/dry "
    "male/female men/women man/woman husband/wife son/daughter father/mother brother/sister king/queen "
    "won/lost win/lose wins/loses buy/sell bought/sold born/died alive/dead success/failure succeeded/failed "
    "rise,grow/fall,shrink rises,grows/falls,shrinks rose,grew/fell,shrank growth/decline grown/fallen "
    "add/remove adds/removes added/removed gain/loss profit/loss acid/alkaline positive/negative healthy/unhealthy "
    "possible/impossible common/rare internal/external domestic/foreign summer/winter morning/evening "
    "employer/employee buyer/seller import/export "
    "alto/bajo grande/pequeño antes/después siempre/nunca abierto/cerrado "
    "hoch/niedrig groß/klein immer/nie offen,geöffnet/geschlossen größer/kleiner "
    "haut/bas grand/petit avant/après toujours/jamais ouvert/fermé"
)
"""word -> words that say the opposite: a claim with one where its evidence has the other says otherwise."""

UNITS: Final = {
    word: unit
    for unit, words in {
        "metre": "metre metres meter meters m metro metros mètre mètres",
        "foot": "foot feet ft pie pies",
        "inch": "inch inches pulgada pulgadas",
        "kilometre": "kilometre kilometres kilometer kilometers km kilómetro kilómetros kilomètre kilomètres",
        "mile": "mile miles milla millas meile meilen",
        "centimetre": "centimetre centimetres centimeter centimeters cm",
        "millimetre": "millimetre millimetres millimeter millimeters mm",
        "milligram": "milligram milligrams mg miligramo miligramos milligramm",
        "microgram": "microgram micrograms mcg",
        "tonne": "tonne tonnes ton tons",
        "millilitre": "millilitre millilitres milliliter milliliters ml",
        "a.m.": "am",
        "p.m.": "pm",
        "megabyte": "megabyte megabytes mb",
        "gigabyte": "gigabyte gigabytes gb",
        "terabyte": "terabyte terabytes tb",
        "kilowatt": "kilowatt kilowatts kw",
        "megawatt": "megawatt megawatts mw",
        "gram": "gram grams g gramo gramos gramm gramme grammes",
        "kilogram": "kilogram kilograms kg kilo kilos",
        "pound": "pound pounds lb lbs libra libras",
        "ounce": "ounce ounces oz",
        "litre": "litre litres liter liters litro litros",
        "gallon": "gallon gallons",
        "second": "second seconds segundo segundos sekunde sekunden seconde secondes",
        "minute": "minute minutes minuto minutos minuten",
        "hour": "hour hours hora horas stunde stunden heure heures",
        "day": "day days día días tag tage tagen jour jours",
        "week": "week weeks semana semanas woche wochen semaine semaines",
        "month": "month months mes meses monat monate monaten mois",
        "year": "year years año años jahr jahre jahren ans année années",
        "percent": "percent % prozent",
        "dollar": "dollar dollars $ dólar dólares",
        "euro": "euro euros €",
        "thousand": "thousand mil tausend mille",
        "million": "million millions millón millones millionen",
        "billion": "billion billions milliarde milliarden milliard milliards",
        "celsius": "celsius",
        "fahrenheit": "fahrenheit",
    }.items()
    for word in words.split()
}
"""word -> its unit: the same number of another unit is another quantity."""


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_SOURCES_EN = r"(?:passages?|contexts?|documents?|texts?|sources?|information|articles?|excerpts?|snippets?|data)"
_UNSAID_EN = r"(?:provide|contain|mention|include|specif(?:y|ies)|state|say|give|offer|discuss|address|cover|have)s?"

ABSTENTIONS: Final = _any_of(
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
    # Spanish
    r"\bno (?:lo )?(?:sé|puedo (?:responder|contestar|determinar)|tengo (?:\w+ ){0,2}información|dispongo)\b",
    r"\b(?:el|los|la) (?:contextos?|documentos?|textos?|pasajes?|información)(?: \w+){0,3} no (?:\w+ ){0,1}"
    r"(?:menciona|contiene|incluye|proporciona|indica|especifica|dice|ofrece)n?\b",
    r"\bno (?:hay|existe|se (?:menciona|encuentra|proporciona|dispone))(?: \w+){0,3} (?:información|datos|mención)\b",
    r"\bno es posible (?:responder|determinar|saber)",
    # German
    r"\b(?:ich weiß (?:es )?nicht|weiß ich nicht|kann ich (?:\w+ ){0,4}nicht (?:beantworten|sagen))\b",
    r"\bkann (?:ich )?(?:\w+ ){0,6}nicht (?:beantwort|bestimm|ermittel)",
    r"\b(?:der|die|den|das|im|in den) (?:\w+ ){0,2}?(?:kontext|texte?n?|dokumente?n?|passagen?|informationen)\b.*"
    r"\b(?:nicht|keine?n?)\b.*\b(?:erwähnt|enthalten|enthält|angegeben|genannt|hervor)",
    r"\bkeine (?:\w+ ){0,3}(?:informationen|angaben)\b",
    # French
    r"\bje ne (?:sais|peux|suis|dispose|trouve)(?: \w+){0,2} (?:pas|aucune?)\b|\bje ne sais pas\b",
    r"\b(?:le|les|la) (?:contextes?|documents?|textes?|passages?|informations?)(?: \w+){0,3} (?:ne|n['’]) ?"
    r"(?:\w+ )?(?:mentionne|contien|inclu|fourni|indique|précise|donne)",
    r"\bil n['’](?:y a|existe)(?: \w+){0,2} (?:aucune?|pas)(?: \w+){0,3} (?:information|mention)",
    r"\b(?:aucune|pas d['’]) ?information",
    # Portuguese, Italian, Chinese, Arabic, Hindi, Japanese
    r"\bnão (?:sei|há informaç|é possível (?:responder|determinar))",
    r"\bnon (?:lo so|ci sono informazioni|è possibile (?:rispondere|determinare))",
    r"我不知道|无法(?:回答|确定)|無法(?:回答|確定)|没有(?:提到|提及|相关信息)|沒有(?:提到|提及|相關資訊)",
    r"لا (?:أعرف|اعرف|أعلم|أدري|يذكر|يمكن(?:ني)? (?:الإجابة|تحديد))|غير مذكور",
    r"(?:मुझे|हमें) (?:यह )?(?:नहीं (?:पता|मालूम)|पता नहीं|मालूम नहीं)|(?:उल्लेख|जानकारी) (?:\S+ ){0,2}?नहीं",
    r"わかりません|分かりません|答えられません|記載(?:されて|が)(?:い)?(?:ません|ない)",
)
"""Says that the answer is not known or not in the sources: no claim, but not silence either."""

ABSTENTION_CUES: Final = _words(
    # One of these stands in every abstention above whose script has spaces: a set lookup spares most sentences the
    # patterns.
    "not t cannot unable impossible sorry afraid no insufficient without none nothing "
    "nicht keine kein keinen weiß aucune aucun ne n pas não non sais لا غير नह"
)

CONTRASTS: Final = re.compile(
    r"(?:[,;:—–]|\s-)\s*(?=(?:but|however|though|although|yet|pero|sin embargo|aunque|aber|jedoch|doch|mais|"
    r"cependant|toutefois)\b)",
    re.IGNORECASE,
)
"""Where a sentence turns from an abstention to a claim: "I don't know the day, | but it was in March"."""

CONCESSIONS: Final = re.compile(
    r"^\W*(?:while|although|though|even though|whereas|aunque|si bien|obwohl|auch wenn|während|bien que|même si)\b",
    re.IGNORECASE,
)
"""A sentence that begins with its abstention: "While the passages do not say when, | he was born in Ulm"."""

COURTESIES: Final = re.compile(
    r"^\W*(?:"
    r"(?:hi|hello|hey|dear)(?: \w+){0,2}|(?:sure|certainly|of course|absolutely)(?: thing)?"
    r"|(?:(?:sure|certainly|of course|absolutely)\W+)?(?:I(?:'|’)(?:d|ll) (?:be |do )?|I (?:can|will|would) )"
    r"(?:gladly |happy to |glad to |my best to )?(?:help|answer|explain|assist)[^.]{0,60}"
    r"|great question[^.]{0,20}|thank(?:s(?! to\b)| you)[^.]{0,40}|you(?:'|’)re welcome"
    r"|I hope (?:this|that|it)[^.]{0,60}|hope (?:this|that) helps[^.]{0,30}"
    r"|(?:please )?(?:let me know|feel free)[^.]{0,120}"
    r"|if you have (?:any )?(?:more|other|further|additional|specific)? ?questions[^.]{0,80}"
    r"|happy to help[^.]{0,60}|that(?:'|’)s (?:it|all)|good luck[^.]{0,40}|yes|no|ok(?:ay)?|here you (?:go|are)"
    r"|sorry(?: about that)?"
    r"|hola(?: \w+){0,2}|claro(?: que sí)?|por supuesto|(?:muchas )?gracias(?: por tu pregunta)?"
    r"|espero que esto[^.]{0,40}|sí"
    r"|hallo(?: \w+){0,2}|natürlich|gerne?|danke(?: \w+){0,3}|ich hoffe,? das[^.]{0,40}|ja|nein"
    r"|bonjour(?: \w+){0,2}|bien sûr|merci(?: \w+){0,3}|j['’]espère que cela[^.]{0,40}|oui|non"
    r"|你好|您好|当然|當然|希望[^。]{0,30}帮[^。]{0,10}|こんにちは|はい|いいえ"
    r")\W*$",
    re.IGNORECASE,
)
"""A whole sentence that is manners, not matter."""

COURTESY_OPENERS: Final = _words(
    # One of these begins every Latin-script courtesy above: a set lookup spares most sentences the pattern.
    "hi hello hey dear sure certainly of absolutely i great thanks thank you hope please let feel if happy that good "
    "yes no ok okay here sorry hola claro por muchas gracias espero sí hallo natürlich gern gerne danke ich ja nein "
    "bonjour bien merci j oui non"
)

SOURCE_LINES: Final = re.compile(
    r"^\W*(?:sources?|references?|citations?|fuentes?|referencias?|quellen?|références?|参考|来源)\s*[:：]",
    re.IGNORECASE,
)
"""A line that lists where things come from."""
