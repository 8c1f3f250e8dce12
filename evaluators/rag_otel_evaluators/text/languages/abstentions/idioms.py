"""Turns of phrase that abstain by themselves, whatever their words mean elsewhere."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_ENGLISH: Final = (
    r"\b(?:your|my) guess is as good\b|\bbeats me\b|\bsearch me\b|\b(?:dr[ae]w\w*|drawn) (?:a )?blank\b"
    r"|\bc(?:a|o)m(?:e|es|ing) (?:up|away|back) (?:empty|short|blank|with nothing|dry)",
    r"\bkeeps? (?:\w+ )?to (?:itself|themselves)\b|\b(?:is|remains|are) any(?:one"
    r"|body)['’]s guess\b|\bnone the wiser\b",
    r"\bnothing (?:at all )?(?:on|about|regarding|concerning) (?:that|this|it)\W{0,3}$"
    r"|\bnot a (?:word|peep|whisper|hint)\b"
    r"|\bwish I knew\b|\bhaven['’]t (?:a|the) (?:foggiest|faintest|slightest)|\bI['’]m (?:at a loss|stumped|stuck)\b",
    r"\b(?:got|have|has|found|find|see) nothing (?:on|about|regarding|to say)\b"
    r"|\b(?:not|n['’]t|nothing) (?:actually )?in there\W*$|\bmaking (?:it|that"
    r"|this|things|something) up\b"
    r"|\b(?:stops|ends|cuts off|breaks off|finishes) (?:\w+ ){0,2}(?:before|short)\b|\brun(?:s|ning)? dry\b",
    r"\b(?:trail|scent) (?:goes|runs|went) (?:cold|dry)\b|\bleaves? (?:me|us|you|one|the reader) guessing\b"
    r"|\bno such (?:luck|information|detail|entry|mention)\b",
)
_SPANISH: Final = (
    r"\bni (?:idea|mu|jota|pío|papa|media palabra|una (?:sola )?palabra|rastro|flores)\b|\bvete a saber\b"
    r"|\bme (?:quedo|he quedado) (?:igual|como|en blanco|en ayunas)|\bbrillan? por su ausencia\b",
    r"\bquedan? (?:en el (?:aire|tintero)|en suspenso)\b|\bnada (?:al|a este|a ese) respecto\b"
    r"|\bnada de (?:eso|ello)\W*$"
    r"|^\W*nada,? que no\b|\bno (?:me|nos) consta\b|\bse (?:sale|escapa) de lo que\b"
    r"|\bse me escapa\b|\bse (?:corta|interrumpe|acaba|detiene) (?:justo )?antes\b"
    r"|\bno ha habido suerte\b|\bsin (?:éxito|obtener)\b.{0,12}$",
    r"\bno (?:quiero|prefiero) (?:inventar|especular|adivinar)\w*|\bprefiero no (?:inventar"
    r"|especular|adivinar|aventurar)\w*",
)
_GERMAN: Final = (
    r"\büberfragt\b|\bmuss ich (?:\w+ )?passen\b|\bsprengt .{0,20}rahmen\b|\bim dunkeln\b|\bin den sternen\b"
    r"|\bbla(?:ss|ß)\w* (?:schimmer|dunst)\b|\bsterbenswört?\w*|\bfehlanzeige\b",
    r"\bhüll\w+ sich .{0,30}schweigen\b|\bnicht fündig\b|\bsucht man .{0,60}(?:vergebens|vergeblich|umsonst)\b"
    r"|\b(?:mir|uns) (?:ist|sind)?.{0,60}\bnicht bekannt\b|\bkeinen aufschluss\b"
    r"|\b(?:nicht|nichts|nix) (?:drin|darin|dabei)\W*$|\bim unklaren\b|\bbricht (?:vorher"
    r"|davor|zuvor) ab\b|\bnichts (?:zu finden|gefunden)\b",
    r"\b(?:will|möchte|mag) (?:\w+ )?nicht?s? (?:erfinden|raten|spekulieren|mutmaßen)\b"
    r"|\b(?:bleib\w+|blieb) .{0,60}\bschuldig\b|\bsuche\b.{0,80}\b(?:ergebnislos"
    r"|erfolglos|vergeblich)\b|\bohne (?:erfolg|ergebnis|treffer)\W*$",
)
_FRENCH: Final = (
    r"\blangue au chat\b|\bmoindre idée\b|\bl['’]impasse sur\b|\b(?:souffle|dit"
    r"|disent|soufflent) mot\b|\bchou blanc\b"
    r"|\bbredouille\b|\bje sèche\b|\bpas dedans\b|\brien (?:là-dessus|à ce sujet"
    r"|à ce propos)\b|\bs['’]arrêtent? (?:juste )?avant\b|\bpassent? (?:rapidement"
    r"|vite|à côté)\b|\bque dalle\b|\bm['’](?:est|sont) (?:totalement |complètement )?inconnu\w*"
    r"|\bpas un (?:traître )?mot\b",
    r"\ben suspens\b|\bn['’]a rien donné\b|\bimpossible (?:de|d['’]) ?(?:trancher"
    r"|savoir|dire|répondre|déterminer|affirmer)"
    r"|\bpréf[èé]re\w* ne (?:pas|rien) (?:inventer|spéculer|deviner|avancer)|\bje (?:ne )?veux (?:pas"
    r"|rien) inventer\b",
    r"\bne (?:les |le |la )?confirment? ni (?:ne |n['’])infirment?\b",
)


@cache
def idioms() -> tuple[re.Pattern[str], ...]:
    """Of English, Spanish, German and French, in this order."""
    return tuple(re.compile("|".join(listed), re.IGNORECASE) for listed in (_ENGLISH, _SPANISH, _GERMAN, _FRENCH))
