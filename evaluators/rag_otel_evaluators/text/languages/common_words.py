"""Words that say little: of grammar, and of talking about sources."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.text.languages import words

FUNCTION_WORDS: Final = words(
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

FRAME_WORDS: Final = words(
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
