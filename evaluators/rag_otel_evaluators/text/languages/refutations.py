"""How a sentence says that the one before it is not so: "That is wrong", "Ce n'est pas exact", "Eso no es así"."""

from __future__ import annotations

import re
from typing import Final

_READ: Final = 80
"""Characters of a sentence that are looked at."""
_THAT: Final = r"(?:that|this|it|which|das|dies|es|eso|esto|c['’]|cela|ça|ce)"
_WORDS: Final = (
    "\\b(?:no|nein|non)[,.;:!—–]",
    "\\bnot (?:true|so|correct|right)\\b",
    rf"\b{_THAT}(?:['’]s| is| was)(?: simply| just| plainly)? (?:not (?:true|so|correct|right|the case|accurate)|"
    "incorrect|false|wrong|untrue|a myth|a misunderstanding|inaccurate|a mistake)\\b",
    rf"\b{_THAT} (?:isn|wasn)['’]t (?:true|so|correct|right|the case|accurate)\b",
    "on the contrary|\\bdenie[ds]\\b|\\bdenying\\b|\\bcorrected\\b|\\bclarified\\b|\\bdisputed\\b|\\bcontradicted\\b|"
    "\\brejected (?:this|that|the claim)|\\bno truth\\b|\\bunfounded\\b|\\bmistaken\\b",
    "stimmt (?:so )?nicht|stimmt aber nicht|ist (?:aber |schlicht )?(?:falsch|unwahr|unzutreffend)|trifft nicht zu|"
    "nicht der fall|stellte\\w* (?:\\w+ )?(?:klar|richtig)|widersprach\\w*|widerspricht|dementiert\\w*|korrigierte\\w*|"
    "im gegenteil|ein irrtum|wies \\w+ zurück|bestritt\\w*",
    "n['’]est pas (?:vrai|exact|correct|le cas|ainsi)|c['’]est (?:faux|inexact|une erreur|un mythe)|"
    "est (?:faux|inexact)|au contraire|n['’]en est rien|\\bd[ée]ment\\w*|rectifi\\w*|"
    "contredit|\\ba pr[ée]cis[ée]|\\bconteste\\w*",
    "no es (?:así|cierto|verdad|correcto|el caso)|\\bes (?:falso|incorrecto|mentira|inexacto|un mito|un error)|"
    "al contrario|\\bdesm[ie]\\w*|\\baclar(?:ó|an?|aron)\\b|rectific\\w*|contradi\\w*|\\bniega\\b|\\bnegó\\b",
    "不是这样|并非如此|并不是|不是的|不对|不实|不属实|有误|谣言|误会|误解|澄清|否认|辟谣|更正|纠正|事实上|其实",
)
_REFUTES: Final = re.compile("|".join(_WORDS), re.IGNORECASE)


def refutes(sentence: str) -> bool:
    """True where the beginning of a sentence says that what was said before it is not so."""
    return _REFUTES.search(sentence[:_READ]) is not None
