"""How far a claim holds beside its evidence: all, most, only, except, perhaps."""

from __future__ import annotations

import pytest

from rag_otel_evaluators.judges.embedded.close_reading import Reading, read_closely
from rag_otel_evaluators.judges.embedded.limits import limits_kept, too_sure, too_wide


def _anchors(claim: Reading) -> list[str]:
    return list(claim.places)


def _wide(claim: str, evidence: str) -> float:
    reading = read_closely(claim)
    return too_wide(reading, [read_closely(evidence)], _anchors(reading), ())


def test_all_of_another_clause_is_not_all_of_this_one() -> None:
    evidence = "Die meisten Schäden lassen sich per App melden, Brandschäden immer telefonisch."
    assert _wide("Alle Schäden lassen sich per App melden.", evidence) > 0.0
    assert _wide("Die meisten Schäden lassen sich per App melden.", evidence) == 0.0


@pytest.mark.parametrize(
    ("evidence", "claim", "kept"),
    [
        (
            "Toutes les salles sont accessibles, à l'exception du grenier.",
            "Toutes les salles sont accessibles.",
            "Hormis le grenier, toutes les salles sont accessibles.",
        ),
        (
            "All rooms are open, apart from the attic.",
            "All rooms are open.",
            "All rooms are open except the attic.",
        ),
        ("除周一外，所有展厅开放。", "所有展厅开放。", "除了周一，所有展厅开放。"),
    ],
)
def test_all_passes_over_an_exception(evidence: str, claim: str, kept: str) -> None:
    assert _wide(claim, evidence) > _wide(kept, evidence) == 0.0


def test_a_yes_says_what_the_question_says() -> None:
    evidence, question = read_closely("Most breeds are insured."), read_closely("Are all breeds insured?")
    reading = read_closely("They are insured.")
    assert too_wide(reading, [evidence], _anchors(reading), question.marks) > 0.0


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("The oven does not start unless the door is shut.", "The oven starts only with the door shut."),
        ("Der Hof ist außer sonntags geöffnet.", "Der Hof ist nur werktags geöffnet."),
    ],
)
def test_only_agrees_with_what_excepts(evidence: str, claim: str) -> None:
    assert too_sure(read_closely(claim), [read_closely(evidence)]) == 0.0
    assert too_sure(read_closely(claim), [read_closely("The oven starts. Der Hof ist geöffnet.")]) == 1.0


def test_what_is_not_certain_is_not_sure() -> None:
    assert too_sure(read_closely("It is not certain."), [read_closely("It may rain.")]) == 0.0
    assert too_sure(read_closely("It is certain."), [read_closely("It may rain.")]) == 1.0


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("Le jardin ouvrirait en avril.", "Le jardin ouvre peut-être en avril."),
        ("El parque abriría en mayo.", "El parque abre quizás en mayo."),
        ("Der Laden öffnet voraussichtlich im Mai.", "Der Laden öffnet wohl im Mai."),
        ("The shop is due to be opened in May.", "The shop may be opened in May."),
    ],
)
def test_a_hedge_of_the_evidence_is_kept(evidence: str, claim: str) -> None:
    reading = read_closely(claim)
    assert limits_kept(reading, [read_closely(evidence)], _anchors(reading)) == 1.0


def test_words_that_are_read_together() -> None:
    """ "Without exception" says all; "lacks any" and "every 20 minutes" do not."""
    evidence = "Pensioners pay half, except on ten-trip cards, and buses leave often."
    assert _wide("Pensioners pay half without exception.", evidence) > 0.0
    assert _wide("Pensioners lack any reduction.", evidence) == 0.0
    assert _wide("Buses leave every 20 minutes.", evidence) == 0.0
    assert "except" not in read_closely("Pensioners pay half without exception.").marks
