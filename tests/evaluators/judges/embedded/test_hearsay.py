"""What somebody asks or says is not what the document says."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.close_reading import read_closely
from rag_otel_evaluators.judges.embedded.hearsay import reported, unreliable
from rag_otel_evaluators.judges.embedded.limits import places_of
from rag_otel_evaluators.text.languages.refutations import refutes


def _unreliable(claim: str, evidence: str, question: str, *, refuted: bool = False) -> float:
    return unreliable(read_closely(claim), [read_closely(evidence)], read_closely(question), [refuted])


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("Does the shed block the exit?", "It blocks the exit."),
        ("[14:06] Customer: Unblocking costs £12, I think.", "It costs £12."),
        ("[10:14] Cliente: La app manda los datos a Hacienda.", "Manda los datos a Hacienda."),
        ("Eine Kollegin behauptete, die Zuschläge seien gekürzt worden.", "Die Zuschläge sind gekürzt worden."),
        ("有人说图纸出自林克之手。", "图纸出自林克。"),
    ],
)
def test_a_question_and_hearsay_say_nothing(evidence: str, claim: str) -> None:
    assert _unreliable(claim, evidence, "What about the park?") == 1.0


def test_what_stands_after_a_semicolon_is_said_by_the_document() -> None:
    evidence = read_closely("Un habitant a soutenu que la rue comptait dix accidents ; la police en recense trois.")
    for claim, expected in (("La rue comptait dix accidents.", 1.0), ("La police en recense trois.", 0.0)):
        reading = read_closely(claim)
        assert reported(reading, evidence, places_of(evidence, list(reading.places))) == expected


def test_what_the_next_sentence_denies_is_unreliable() -> None:
    told = ("It sells data.", "The app sells data to banks.", "What about privacy?")
    assert _unreliable(*told, refuted=True) == 1.0
    assert _unreliable(*told) == 0.0


@pytest.mark.parametrize(
    "sentence",
    [
        "That is not true.",
        "Das stimmt nicht.",
        "Eso no es así.",
        "C'est inexact.",
        "档案证明并非如此。",
        "No, we don't.",
    ],
)
def test_a_correction_is_recognised(sentence: str) -> None:
    assert refutes(sentence)


@pytest.mark.parametrize(
    "sentence", ["Rapidement, on ajoute le sel.", "The piano, a gift, is old.", "Nonstop service."]
)
def test_no_correction(sentence: str) -> None:
    assert not refutes(sentence)
