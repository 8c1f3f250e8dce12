"""Manners, turns of phrase and other sentences that are told by how they are made, not by what they say.

The patterns are compiled when they are first asked for.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages import words


@cache
def contrasts() -> re.Pattern[str]:
    """Where a sentence may turn from an abstention to a claim: "I don't know the day, | but it was in March"."""
    return re.compile(
        r"[;；。]\s{0,3}|[.!?]\s{1,3}(?=[^\W\d_])|[:：—–](?!\d)\s{0,3}|\s-\s"
        r"|\s(?=but\b)|[,，]\s{0,3}(?=(?:but|however|though|although|yet|pero|sin embargo|aunque|aber|jedoch|doch|mais|"
        r"cependant|toutefois|bien que)\b)|[,，]\s{0,3}(?=但|不过|然而|可是|却|只是)",
        re.IGNORECASE,
    )


@cache
def fillers() -> re.Pattern[str]:
    """How a part begins that is manners beside an abstention, or only says what was read: it claims nothing."""
    return re.compile(
        r"^\W{0,4}(?:(?:hmm?|well|ach|tja|oh|pues|eh bien|ben|euh)\W{1,3})?(?:(?:I['’]m |I am "
        r"|we['’]re )?(?:sorry(?! to say"
        r"| that)|afraid)|thanks?|apologies|I apologi[sz]e|please (?:note|ask|check|contact|see|consult|refer)|as an AI"
        r"|I (?:have )?(?:looked|read|checked|searched|went)"
        r"|lo siento|lamento|gracias|disculp\w+|perdón|me temo|he (?:revisado|leído|buscado|consultado)"
        r"|(?:es |das )?tut mir|danke|entschuldig\w+|bedau\w+|ich habe (?:alle|die|den|das|mir)"
        r"|(?:je suis )?désolée?|merci|pardon|je crains|je regrette|veuillez|je vous prie|j['’]ai (?:lu|cherché"
        r"|consulté|relu)"
        r")\b"
        r"|^\W{0,4}(?:非常|真|很|实在|十分|真是|确实)?(?:抱歉|对不起|不好意思|对不住|很遗憾|遗憾|可惜|感谢|谢谢|我(?:看|查|读|翻)了)",
        re.IGNORECASE,
    )


@cache
def advice() -> re.Pattern[str]:
    """How a part begins that says where to ask, or offers help: beside an abstention it claims nothing."""
    return re.compile(
        r"^\W{0,4}(?:(?:you|we|I) (?:may|might|could|can|would|should|['’]d)\b.{0,30}\b(?:want|contact|check"
        r"|consult|ask"
        r"|recommend|suggest|need to|try|look|help|visit|reach)|(?:please )?(?:contact|consult|check|ask|refer"
        r"|visit|reach out"
        r"|try|see|let me know|feel free|call|look (?:at|up|in))\b|if you (?:can|could|have|need|share|tell|would"
        r"|want|send"
        r"|let|provide|give|like)|I(?:['’]d| would|['’]ll| will) (?:be )?(?:recommend|suggest|happy|glad|gladly"
        r"|need|have to)"
        r"|I (?:recommend|suggest|hope)|it (?:may|might|would) be (?:best|worth|better)|for (?:that|this|more"
        r"|further|details)"
        r"|(?:our|the) support|is there anything|would you|how else|feel free"
        r"|(?:le |te |les )?(?:recomiendo|recomendamos|sugiero|aconsejo|conviene)|(?:por favor|consult[ea]|contacte"
        r"|pregunte"
        r"|póngase|visite|revise|puede[ns]? (?:consultar|preguntar|contactar|llamar|escribir|ponerse|encontrar"
        r"|revisar)|si (?:me|lo|quiere|desea|necesita|tiene|puede"
        r"|quieres|tienes)|habría que|lo mejor|quizá|estaré|con gusto)\b"
        r"|(?:bitte|wenden sie|fragen sie|kontaktieren|am besten|sie (?:können|könnten|sollten)|falls sie"
        r"|wenn (?:sie|du)|gerne?"
        r"|unser support|ich (?:empfehle|rate|helfe|schlage|würde)|es (?:empfiehlt|wäre)|dafür|hierfür|schauen sie"
        r"|frag)\b"
        r"|(?:veuillez|consultez|contactez|demandez|adressez|vérifiez|je vous (?:conseille|recommande|suggère"
        r"|invite)|vous"
        r" (?:pouvez|pourriez|devriez)|si vous|n['’]hésitez|il (?:faudrait|vaut|serait)|mieux vaut|le mieux"
        r"|pour (?:cela"
        r"|plus|en savoir))\b"
        r"|(?:请|您可以|你可以|建议|如果(?:您|你|能|需要|有)|如需|若|可以(?:联系|咨询|询问|查)|欢迎|最好|不妨|或许|希望))",
        re.IGNORECASE,
    )


@cache
def consequences() -> re.Pattern[str]:
    """What follows from an omission: "the rules do not mention cyclists, so the fine was cancelled" is of the world."""
    return re.compile(
        r"[,;，；] ?(?:(?:and |und |y |et )?(?:so|therefore|hence|thus|which is why|así que|por lo que|por eso"
        r"|deshalb|daher"
        r"|weshalb|donc|c['’]est pourquoi|si bien que)\b(?! (?:I|we|ich|wir|je|no puedo|kann)\b)"
        r"|所以(?!我|无法)|因此(?!我"
        r"|无法))",
        re.IGNORECASE,
    )


@cache
def courtesies() -> re.Pattern[str]:
    """A whole sentence that is manners, not matter."""
    return re.compile(
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


COURTESY_OPENERS: Final = words(
    # One of these begins every Latin-script cooperative above: a set lookup spares most sentences the pattern.
    "hi hello hey dear sure certainly of absolutely i great thanks thank you hope please let feel if happy that good "
    "yes no ok okay here sorry hola claro por muchas gracias espero sí hallo natürlich gern gerne danke ich ja nein "
    "bonjour bien merci j oui non"
)


@cache
def source_lines() -> re.Pattern[str]:
    """A line that lists where things come from."""
    return re.compile(
        r"^\W*(?:sources?|references?|citations?|fuentes?|referencias?|quellen?|références?|参考|来源)\s*[:：]",
        re.IGNORECASE,
    )
