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
    """Where a sentence turns from an abstention to a claim: "I don't know the day, | but it was in March"."""
    return re.compile(
        r"(?:[,;:—–]|\s-)\s*(?=(?:but|however|though|although|yet|pero|sin embargo|aunque|aber|jedoch|doch|mais|"
        r"cependant|toutefois)\b)",
        re.IGNORECASE,
    )


@cache
def concessions() -> re.Pattern[str]:
    """A sentence that begins with its abstention: "While the passages do not say when, | he was born in Ulm"."""
    return re.compile(
        r"^\W*(?:while|although|though|even though|whereas|aunque|si bien|obwohl|auch wenn|während|bien que|même si)\b",
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
