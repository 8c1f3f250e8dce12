"""What answers a question of yes or no before, or without, a sentence: "Yes", "Not at all", "Leider nein", "可以"."""

from __future__ import annotations

import re
from typing import Final

_YES: Final = (
    "yes|yeah|yep|yup|aye|correct|right|true|indeed|certainly|definitely|absolutely|sure|surely|of course|exactly|"
    "affirmative|that is (?:right|correct|true)|that's (?:right|correct|true)|"
    "sí|si|claro|claro que sí|desde luego|por supuesto|efectivamente|en efecto|así es|exacto|correcto|cierto|"
    "por supuesto que sí|ja|jawohl|doch|genau|richtig|stimmt|natürlich|selbstverständlich|sicher|klar|allerdings|"
    "oui|bien sûr|bien sûr que oui|tout à fait|effectivement|absolument|exact|exactement|c'est exact|"
    "certainement|évidemment|mais oui|sim"
)
_NO: Final = (
    "no|nope|nah|never|incorrect|wrong|false|not at all|not really|not quite|not any more|not anymore|not yet|"
    "absolutely not|certainly not|definitely not|of course not|probably not|better not|unfortunately not|by no means|"
    "on no account|far from it|not exactly|not necessarily|hardly|no way|sorry, no|"
    "claro que no|en absoluto|de ninguna manera|de ningún modo|para nada|todavía no|aún no|ya no|nunca|jamás|mejor no|"
    "desde luego que no|por supuesto que no|tampoco|qué va|ni hablar|"
    "nein|nö|nicht wirklich|keineswegs|keinesfalls|auf keinen fall|mitnichten|leider nein|leider nicht|noch nicht|"
    "nicht mehr|natürlich nicht|lieber nicht|besser nicht|überhaupt nicht|gar nicht|nie|niemals|falsch|"
    "ganz und gar nicht|"
    "non|pas du tout|absolument pas|certainement pas|nullement|aucunement|bien sûr que non|pas encore|plus maintenant|"
    "jamais|pas vraiment|hélas non|malheureusement non|malheureusement pas|mieux vaut pas|pas question"
)
_SHORT: Final = (
    "(?:it|they|he|she|you|we|i|that|this|there|those|these|one) "
    "(?:is|are|does|do|can|will|has|have|was|were|may|must|should|would|could|did|am)"
)
"""Answers without their verb: "It doesn't", "They are"."""
_CHINESE_YES: Final = "是的|对的|没错|当然可以|当然|可以的?|能|会的?|有的?|是|对|行|要的?|需要|好的|确实|正确|允许|必须"
_CHINESE_NO: Final = (
    "不是的?|不对|没有|不可以|不能|不会|不用|不需要|不必|不行|不|否|无需|并不是?|并非|并没有|还没有?|尚未|没|当然不|不要|"
    "不允许|千万别|别|错|错误|从不|从未|恐怕不行|不再"
)
_ENDS: Final = r"(?:\s{0,2}[,;:.!–—，；：。！]|\s{1,2}-\s|$)"
_SHORT_NO: Final = rf"(?:{_SHORT}|(?:it|they|he|she|you|we|i) (?:ca|wo))(?:n['’]t| not)"
_REPLY: Final = re.compile(
    rf"\W{{0,3}}(?:(?P<yes>(?:{_YES}|{_SHORT})(?!\w)|(?:{_CHINESE_YES}))"
    rf"|(?P<no>(?:{_NO}|{_SHORT_NO})(?!\w)|(?:{_CHINESE_NO}))){_ENDS}",
    re.IGNORECASE,
)


_PLAIN: Final = re.compile(
    r"\W{0,3}(?:(?:yes|yep|no|nope|oui|non|si|sí|ja|nein|doch)\b|是的|不是|不对|没有|不可以|不能|不会|不用|不需要|可以|不行|能|会|有|是|对|不)"
    r"\s{0,2}[,;:.!–—，；：。！]\s{0,2}(?=\S)",
    re.IGNORECASE,
)


def plain_reply_end(text: str) -> int:
    """Where the "Yes," or "No," ends that a text begins with before it says something; 0 where there is none."""
    found = _PLAIN.match(text)
    return 0 if found is None else found.end()


def reply_of(text: str) -> int:
    """1 where a text begins with a yes, -1 where it begins with a no, 0 where it does neither."""
    found = _REPLY.match(text)
    if found is None:
        return 0
    return 1 if found["yes"] else -1
