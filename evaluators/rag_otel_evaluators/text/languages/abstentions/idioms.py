"""Turns of phrase that abstain by themselves, whatever their words mean elsewhere."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_ENGLISH: Final = (
    r"\b(?:your|my) guess is as good\b|\bbeats me\b|\bsearch me\b|\bI (?:dr[ae]w|have drawn) (?:a )?blank\b",
    r"\b(?:I|we) c(?:a|o)me (?:up|away|back) (?:empty|short|blank|with nothing|dry)",
    r"\bnothing (?:at all )?(?:on|about|regarding|concerning) (?:that|this|it)\W{0,3}$|\bnot a (?:peep|whisper)\b",
    r"\bwish I knew\b|\bhaven['’]t (?:a|the) (?:foggiest|faintest|slightest)|\bI['’]m (?:at a loss|stumped)\b",
)
_SPANISH: Final = (
    r"\bni (?:idea|mu|jota|pío|papa)\b|\bvete a saber\b|\bme (?:quedo|he quedado) (?:igual|en blanco|en ayunas)",
    r"\bquedan? (?:en el (?:aire|tintero)|en suspenso)\b|\bnada (?:al|a este|a ese) respecto\b|^\W*nada,? que no\b",
    r"\bno (?:me|nos) consta\b|\bse (?:sale|escapa) de lo que\b|\bse me escapa\b",
    r"\bno (?:quiero|prefiero) (?:inventar|especular|adivinar)\w*",
    r"\bprefiero no (?:inventar|especular|adivinar|aventurar)\w*",
)
_GERMAN: Final = (
    r"\büberfragt\b|\bmuss ich (?:\w+ )?passen\b|\bsprengt den rahmen\b|\bsteh\w* .{0,20}in den sternen\b",
    r"\bbla(?:ss|ß)\w* (?:schimmer|dunst)\b|\bsterbenswört?\w*|\bhüll\w+ sich .{0,30}schweigen\b",
    r"\b(?:mir|uns) (?:ist|sind)?.{0,60}\bnicht bekannt\b|\bkeinen aufschluss\b|\bnicht fündig\b",
    r"\b(?:will|möchte|mag) (?:\w+ )?nicht?s? (?:erfinden|raten|spekulieren|mutmaßen)\b",
)
_FRENCH: Final = (
    r"\blangue au chat\b|\bmoindre idée\b|\bl['’]impasse sur\b|\brien (?:là-dessus|à ce sujet|à ce propos)\b",
    r"\bque dalle\b|\bm['’](?:est|sont) (?:totalement |complètement )?inconnu\w*|\bpas un (?:traître )?mot\b",
    r"\bne (?:suis|sommes) (?:\w+ )?pas (?:\w+ )?en mesure\b|\bje (?:ne )?veux (?:pas|rien) inventer\b",
    r"\bimpossible (?:de|d['’]) ?(?:trancher|savoir|dire|répondre|déterminer|affirmer)",
    r"\bpréf[èé]re\w* ne (?:pas|rien) (?:inventer|spéculer|deviner|avancer)",
)


@cache
def idioms() -> tuple[re.Pattern[str], ...]:
    """Of English, Spanish, German and French, in this order."""
    return tuple(re.compile("|".join(listed), re.IGNORECASE) for listed in (_ENGLISH, _SPANISH, _GERMAN, _FRENCH))
