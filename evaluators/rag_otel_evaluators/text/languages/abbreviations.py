"""Where a full stop ends no sentence, and which words begin one all the same."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

ABBREVIATIONS: Final = words(
    # Written with a full stop that ends no sentence, though a capital follows. Lower case, without the stop.
    "mr mrs ms dr prof rev hon gen col capt lt sgt gov sen rep pres st ste mt ft vs cf al e.g i.e viz incl ed eds dept "
    "univ sr sra srta dña ud uds p.ej avda z.b d.h u.a bzw ggf evtl vgl hr fr frl inkl sog mme mlle mgr p.ex"
)

NUMBER_ABBREVIATIONS: Final = words(
    "no nos nr núm fig figs eq art sec ch vol vols p pp pág págs approx aprox ca est max min avg tel abs § nº "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
)
"""Abbreviations only where a number follows: "No. 5", but "He said no. Then he left"."""

OPENERS: Final = words(
    # Words that, capitalised after an abbreviation or an initial, do begin a sentence: "in the U.S. The law ..."
    "the a an it its this that these those he she they we you i in on at as for from to by with if when while after "
    "before since although however also but and or so there here his her their our your one some many most each all "
    "no not what who how why where both other another according based overall additionally moreover "
    "el la los las un una es en por para con si cuando este esta estos estas su sus se lo no también además "
    "der die das ein eine es im in am und aber wenn dies diese dieser sie er wir auch für mit "
    "le les une il elle ils elles ce cette ces dans pour avec si on nous vous mais"
)
