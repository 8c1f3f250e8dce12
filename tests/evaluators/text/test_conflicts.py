"""Plain conflicts between a claim and its evidence are told, and paraphrases are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel_evaluators.text.conflicts import Conflict, conflicts_among
from rag_otel_evaluators.text.sentences import sentence_spans
from rag_otel_evaluators.text.statement import AnalysedStatement

TOWER = "The Eiffel Tower is 330 metres tall. It was completed in 1889. It is repainted every seven years."
OFFICES = "The Lisbon office opened in March 2021 and has 85 employees. The Berlin office has 120 employees."


def conflicts_between(claim: str, evidence: str) -> list[Conflict]:
    return conflicts_among(claim, [AnalysedStatement(evidence[start:end]) for start, end in sentence_spans(evidence)])


@pytest.mark.parametrize(
    ("claim", "evidence", "said"),
    [
        ("It is 300 metres tall.", TOWER, "The context says 330 metres, not 300 metres."),
        ("It is 330 feet tall.", TOWER, "The context says 330 metres, not 330 feet."),
        ("It is repainted every seven months.", TOWER, "The context says seven years, not seven months."),
        ("It was completed in 1898.", TOWER, "The context says 1889, not 1898."),
        ("It was not completed in 1889.", TOWER, 'The claim denies "completed", the context does not.'),
        (
            "It has 5 million inhabitants.",
            "Paris is in France. It has 2.1 million inhabitants.",
            "The context says 2.1 million inhabitants, not 5 million inhabitants.",
        ),
        ("The Lisbon office has 120 employees.", OFFICES, "The context says 85 employees, not 120 employees."),
        ("The Lisbon office opened in March 2012.", OFFICES, "The context says March 2021, not March 2012."),
        ("Dogs are allowed.", "Dogs are not allowed.", 'The context denies "allowed", the claim does not.'),
        ("The shop is closed on Monday.", "The shop is open on Monday.", 'The context says "open", not "closed".'),
        ("It was designed by Gehry.", "It was designed by Eiffel.", 'The context says "Eiffel", not "Gehry".'),
        ("La entrada cuesta 20 euros.", "La entrada cuesta 12 euros.", "The context says 12 euros, not 20 euros."),
        ("Der Zug fährt um 15:35 Uhr.", "Der Zug fährt um 14:35 Uhr.", "The context says 14:35 Uhr, not 15:35 Uhr."),
        ("Le parking est gratuit.", "Le parking coûte 15 euros.", "The context says 15 euros, not gratuit."),
        ("办卡费用为50元。", "办卡费用为20元。", "The context says 20元, not 50元."),
    ],
)
def test_a_plain_conflict(claim: str, evidence: str, said: str) -> None:
    """Each kind, told in a sentence."""
    assert said in [str(conflict) for conflict in conflicts_between(claim, evidence)]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The tower is 330 m tall and was finished in 1889.", TOWER),
        ("The Berlin office has 120 employees.", OFFICES),
        ("The Lisbon office opened in 2021.", OFFICES),
        ("2,100,000 people live in Paris.", "Paris has 2.1 million inhabitants."),
        ("It takes 90 minutes.", "It takes one and a half hours, or 1.5 hours."),
        ("No more than four tablets in 24 hours.", "Do not exceed four tablets in 24 hours."),
        ("You cannot bring your dog.", "Dogs are not allowed inside."),
        ("If you do not pay, it is removed.", "It is removed unless you pay."),
        ("Die Fahrkarte kostet 9 Euro.", "Das Ticket kostet 9 Euro."),
        ("The cat sat on the mat.", "A dog lay on the rug."),
    ],
)
def test_a_paraphrase_is_no_conflict(claim: str, evidence: str) -> None:
    """What is said in another way, or of something else, is let pass."""
    assert conflicts_between(claim, evidence) == []


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_read(claim: str, evidence: str) -> None:
    """No text makes it fail, and a text does not contradict itself."""
    conflicts_between(claim, evidence)
    assert conflicts_between("The bridge is 40 m long.", "The bridge is 40 m long.") == []
