"""Another language than the chunks': found in one sentence, and never held against the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_otel_evaluators.judges.embedded.language import in_another_language
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from rag_otel_evaluators.prompts import list_prompts

DATA = Path(__file__).parents[4] / "examples" / "data" / "ragtruth_qa_dev.jsonl"
TOWER = "The tower is 330 metres tall and located in Paris, France. It was completed in 1889."


@pytest.mark.parametrize(
    ("chunk", "answer"),
    [
        (TOWER, "La torre mide 500 metros. Fue terminada en 1889 y la visitan millones de personas cada año."),
        (TOWER, "Der Turm ist 330 Meter hoch und wurde 1889 fertiggestellt."),
        ("La torre mide 330 metros y está en París.", "The tower is 330 metres tall and was completed in 1889."),
        ("La torre mide 330 metros y está en París.", "The tower is 330 metres tall."),
        (
            "Pour annuler votre abonnement, ouvrez les paramètres et cliquez sur Résilier.",
            "To cancel your subscription, open the settings and click Cancel.",
        ),
        ("埃菲尔铁塔高330米。", "The Eiffel Tower is 330 metres tall."),
    ],
)
def test_an_answer_in_another_language_is_never_unfaithful_for_that(chunk: str, answer: str) -> None:
    """The embedded judge cannot compare the two, and says so; the score is null and nobody is paged."""
    result = Faithfulness().evaluate_sync(question="q", chunks=[chunk], response=answer)
    assert (result.score, result.label, result.reason_code) == (None, None, "language_mismatch")


def texts(language: str) -> Iterator[tuple[str, list[str]]]:
    """(claim, chunks) of the prompts' examples, which are native in every language."""
    for prompt in list_prompts(language=language):
        for example in prompt.examples:
            chunks = example.input.get("chunks")  # a prompt that compares claims with a reference has none
            for claim in example.input.get("claims", ()) if chunks else ():
                yield claim, [chunk if isinstance(chunk, str) else " ".join(chunk) for chunk in chunks]


@pytest.mark.parametrize("language", ["en", "es", "fr", "de"])
def test_a_sentence_is_never_taken_for_another_language(language: str) -> None:
    """Nothing is said of a sentence that does not tell; and with its own chunks it is always judged."""
    _, foreign = next(texts("de" if language == "en" else "en"))
    found = [in_another_language(claim, foreign) for claim, _ in texts(language)]
    assert False not in found
    assert found.count(True) >= 0.25 * len(found)
    assert not any(in_another_language(claim, chunks) for claim, chunks in texts(language))


@pytest.mark.parametrize(
    ("chunk", "answer"),
    [
        ("La visita dura dos horas. Los niños no pagan hasta los 12 años.", "No, porque no pagan los menores."),
        ("Las obras empezarán en mayo, si no llueve.", "Comenzarán en mayo con toda seguridad, llueva o no."),
        ("Schäden melden Sie bitte per App oder Telefon.", "Alle Schäden lassen sich per App melden."),
        (
            "Les travaux commencent en avril si le bailleur est d'accord.",
            "En principe en avril, pourvu que le bailleur cède.",
        ),
        ("一年期存款的利率为2.5%，三年期为3.1%。", "2.5%。"),
        ("最大的供应商是西门子公司（Siemens AG），总部在慕尼黑。", "Siemens AG"),
    ],
)
def test_a_short_answer_in_the_language_of_its_chunk_is_judged(chunk: str, answer: str) -> None:
    """Also where its small words are those of other languages too, or it has none."""
    result = Faithfulness().evaluate_sync(question="?", chunks=[chunk], response=answer)
    assert result.reason_code != "language_mismatch"


def test_no_real_answer_is_left_unjudged() -> None:
    """335 answers over web pages in one language, with names and quotes of others."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    assert not [row["id"] for row in rows if in_another_language(row["response"], row["contexts"])]


def test_one_chunk_in_the_answer_s_language_is_enough() -> None:
    """Mixed collections are judged."""
    assert not in_another_language("The tower is 330 metres tall.", ["La torre está en París y mide 330 m.", TOWER])
    assert not in_another_language("The tower is tall.", ["330 m, Paris", "La torre está en París y mide 330 m."])


def test_small_words_of_two_languages_do_not_tell() -> None:
    """A French "y" is no Spanish one; a Spanish text that might be French is not English for that."""
    french = "Les heures supplémentaires sont majorées de moitié, et le chef les demande par écrit."
    assert not in_another_language("Trente euros, parce que la majoration y atteint la moitié.", [french])
    assert in_another_language("The tower is 330 metres tall.", ["La torre mide 330 metros y está en París."])
