"""What the documentation says of the embedded judge's answers to its examples."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rag_otel.model import Evaluation, Verdict
from rag_otel_evaluators import assert_faithful
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

DOCS = Path(__file__).parents[4] / "docs"


def judged(context: str, response: str) -> Evaluation:
    return Faithfulness().evaluate_sync(question=None, chunks=[context], response=response)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_event_of_the_proposal_is_what_the_judge_says() -> None:
    """Score, label, verdicts, probabilities and quotes of the example."""
    text = page("attributes.md")
    (block,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    shown = json.loads(block)["attributes"]
    claims = shown["gen_ai.evaluation.claims"]
    context = " ".join(each["quote"] for each in claims)
    result = judged(context, " ".join(each["text"] for each in claims))
    assert (result.score, result.label) == (
        shown["gen_ai.evaluation.score.value"],
        shown["gen_ai.evaluation.score.label"],
    )
    found = [
        {
            "text": each.claim.text,
            "start": each.claim.start,
            "end": each.claim.end,
            "verdict": each.verdict,
            "support_probability": round(each.support_probability or 0.0, 3),
            "document_ids": ["wiki-7"],
            "quote": each.quotes[0].text,
        }
        for each in result.claims
    ]
    assert found == claims


def test_the_date_of_the_metric_s_page() -> None:
    """The chunk has another day: it contradicts the claim, and the score falls."""
    text = page("metrics.md")
    (response,) = re.findall(r'the response says "([^"]+)"', text)
    (day,) = re.findall(r"the chunk says (\d+ \w+ \d+)", text)
    result = judged(f"Einstein was born in Germany on {day}.", response)
    assert (result.score, result.label, result.claims[0].verdict) == (0.0, "unfaithful", Verdict.CONTRADICTED)


def test_the_first_application() -> None:
    """Of its two answers the second has a low score, and the claim and the sentence that the page names."""
    text = page("tutorials/first_app.md")
    shelf = dict(re.findall(r'"(tower|bridge)": "([^"]+)"', text))
    right, wrong = re.findall(r'"(It was [^"]+\.)"', text)
    assert judged(shelf["tower"], right).label == "faithful"
    result = judged(shelf["bridge"], wrong)
    (claim,) = result.claims
    assert (result.score, claim.verdict) == (0.0, Verdict.CONTRADICTED)
    assert f"*{claim.claim.text.rstrip('.')}*" in text
    assert "the sentence that says 1932" in text
    assert "1932" in claim.quotes[0].text


def test_the_gate_passes_its_row() -> None:
    """The row of the tutorial has a mean above the limit that it sets."""
    text = page("tutorials/ci_gate.md")
    (context,) = re.findall(r'"contexts": \["([^"]+)"\]', text)
    (response,) = re.findall(r'"answer": "([^"]+)"', text)
    (limit,) = set(re.findall(r"--fail-under faithfulness=([\d.]+)", text))
    assert (judged(context, response).score or 0.0) >= float(limit)


def test_the_failed_test_reads_as_printed() -> None:
    """Of `docs/files.md`: the sentence, the question, the claim and the passage."""
    text = page("files.md")
    printed = re.findall(r"^    E   (.*)$", text, re.MULTILINE)
    (context,) = re.findall(r"chunk 0: '([^']+)'", text)
    (wrong,) = re.findall(r"contradicted: '([^']+)'", text)
    (question,) = re.findall(r"  question: (.+)", text)
    with pytest.raises(AssertionError) as raised:
        assert_faithful(question, [context], f"The tower is 330 metres high. {wrong}", threshold=0.8)
    said = f"AssertionError: {raised.value}".splitlines()
    assert [line for line in said if line in printed] == printed


@pytest.mark.parametrize(
    ("context", "response"),
    [
        ("Visitors under 4 enter free.", "Everyone enters free."),
        (
            "Jonas Weber leads the Porto office. Ana Silva leads the Lisbon office.",
            "Jonas Weber leads the Lisbon office.",
        ),
        ("Return postage is paid by the customer.", "The shop pays the return postage."),
    ],
)
def test_what_it_lets_pass(context: str, response: str) -> None:
    """The page on judges says so: whoever mends one of these takes it off the list there."""
    assert judged(context, response).label == "faithful"
    assert "What it lets pass" in page("judges.md")
