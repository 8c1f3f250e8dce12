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
def dependent_openers() -> re.Pattern[str]:
    """How a clause begins that only completes the one beside it: "who signed it, is not stated"."""
    return re.compile(
        r"^\W{0,4}(?:(?:who|whom|whose|what|when|where|why|how|which|whether|if|because|since|as|so|for|in|on|"
        r"at|of|from|"
        r"with|about|based|given|after|before|to|regarding|despite|and therefore|therefore|"
        r"quién|qué|cuándo|cuánto|dónde|cómo|cuál|si|porque|ya que|pues|puesto|para|en|sobre|según|tras|"
        r"después|con|de|a "
        r"partir|respecto|wer|wen|wem|was|wann|wo|warum|weshalb|wie|wieviel|welche[rsnm]?|ob|dass|weil|da|"
        r"denn|nach|auf|"
        r"für|über|zu|zum|zur|im|in|mit|aus|auch nachdem|nachdem|deren|dessen|um|obwohl|an (?:der|dem|denen)|dafür|"
        r"qui|quoi|quand|où|pourquoi|comment|combien|quel\w{0,4}|parce|car|puisque|pour|dans|sur|selon|après|"
        r"avec|d['’]après|"
        r"à partir|concernant)\b|(?:因为|由于|根据|关于|至于|从|在|所以|因此|仔细|经过|对于))",
        re.IGNORECASE,
    )


@cache
def fillers() -> re.Pattern[str]:
    """How a clause begins that is manners beside an abstention: it claims nothing."""
    return re.compile(
        r"^\W{0,4}(?:(?:(?:hmm?|well|ach|tja|oh|pues|eh bien|ben|euh)\W{1,3})?"
        r"(?:(?:I['’]m |I am |we['’]re )?(?:sorry|afraid)|thanks?|apologies|unfortunately|"
        r"regrettably|please|as an "
        r"AI|lo siento|lamentablemente|por desgracia|gracias|disculp\w+|perdón|me temo|es tut mir|leider|danke|"
        r"entschuldig\w+|bedau\w+|tut mir|je suis désolé|désolée?|malheureusement|merci|pardon|je crains|"
        r"je regrette|it is unclear|es ist unklar|no está claro)\b|"
        r"(?:非常|真|很|实在|十分|真是|确实|只好)?(?:抱歉|对不起|不好意思|对不住|很遗憾|遗憾|"
        r"可惜|感谢|谢谢))",
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
