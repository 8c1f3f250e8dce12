"""The report as a reader sees it, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, Claim, ClaimVerdict, Evaluation, Verdict
from rag_otel_evaluators import evaluate
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.report.worst_rows import worst_rows
from rag_otel_evaluators.offline.results import Result, Results
from tests.support.browser import chromium_page
from tests.support.results import CHUNK, QUESTION, RESPONSE, an_evaluation

ATTACK = '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">'


def results_of(*rows: tuple[dict[str, Any], Evaluation]) -> Results:
    """Rows about the moon, varied, each with its evaluation."""
    fields: dict[str, Any] = {
        "values": {},
        "question": QUESTION,
        "response": RESPONSE,
        "chunks": (
            Chunk(id="moon-1", text=CHUNK, position=0),
            Chunk(id="moon-2", text="Cheese is a food.", position=1),
        ),
    }
    results = [
        Result(row=Row(**{**fields, "number": number, **changes}), evaluations=(evaluation,))
        for number, (changes, evaluation) in enumerate(rows, 1)
    ]
    return Results(results=tuple(results), metrics=(rows[0][1].name,))


def test_worst_rows_first() -> None:
    """By score, the riskier first among equals; a row without a score is not the worst, it is unknown."""
    results = results_of(
        ({}, an_evaluation(score=0.5, risk=0.2)),
        ({}, an_evaluation(score=None, risk=None, reason_code="timeout")),
        ({}, an_evaluation(score=0.0, risk=0.6)),
        ({}, an_evaluation(score=0.0, risk=0.9)),
    )
    rows, evaluations = [result.row for result in results], results.evaluations("faithfulness")
    assert [row.number for row, _ in worst_rows(rows, evaluations)] == [4, 3, 1]
    assert len(worst_rows(rows, evaluations, count=2)) == 2


def test_the_page_fetches_and_runs_nothing(tmp_path: Path) -> None:
    """No address, no script, whatever the rows hold."""
    page = results_of(({"question": ATTACK, "response": ATTACK}, an_evaluation(claims=()))).report(
        tmp_path, title=ATTACK
    )
    html = page.read_text(encoding="utf-8")
    assert "<script" not in html
    assert "<img" not in html
    assert "src=" not in html.replace("&lt;img src=", "")
    assert "http" not in html.replace("http-equiv", "")


def test_claims_of_the_reference_are_marked_there(tmp_path: Path) -> None:
    """Context recall's claims are the reference's, not the response's."""
    reference = "The moon has a far side."
    claim = Claim(text=reference, sentence_index=0, start=0, end=len(reference))
    evaluation = an_evaluation(claims=(ClaimVerdict(claim=claim, verdict=Verdict.SUPPORTED),), name="context_recall")
    html = results_of(({"reference": reference}, evaluation)).report(tmp_path).read_text(encoding="utf-8")
    assert f'<mark class="supported">{reference}</mark>' in html
    assert RESPONSE in html


def test_every_figure_of_an_empty_report(tmp_path: Path) -> None:
    """Without rows, and without any score, there is a page that says so."""
    assert "No row has a score." in evaluate([], metrics=["faithfulness"]).report(tmp_path / "a").read_text()
    nothing = results_of(({}, Evaluation(name="m", reason_code="timeout", explanation="too slow")))
    html = nothing.report(tmp_path / "b").read_text()
    assert "No row has a score." in html
    assert "too slow" in html


def test_half_a_surrogate_pair_does_not_cost_the_report(tmp_path: Path) -> None:
    """It is shown as what it is."""
    page = results_of(({"response": "\ud83d"}, an_evaluation(claims=()))).report(tmp_path)
    assert "&#55357;" in page.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match=r"report: .*file"):
        results_of(({}, an_evaluation())).report(tmp_path / "file")


@pytest.mark.browser
def test_in_a_browser(tmp_path: Path) -> None:
    """Charts, figures, the worst row with its claims in the answer and its quotes in the chunk; no script runs."""
    results = results_of(
        ({}, an_evaluation(score=1.0, risk=0.1, claims=())),
        ({}, an_evaluation()),
        ({"question": ATTACK}, an_evaluation(score=0.5, risk=0.5, claims=())),
        ({}, an_evaluation(score=None, risk=None, label=None, claims=(), reason_code="timeout")),
    )
    path = results.report(tmp_path, title="Moon")
    with chromium_page() as page:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        page.goto(path.as_uri())
        assert page.title() == "Moon"
        assert requests == [path.as_uri()]
        assert problems == []
        cells = page.locator("table.summary tbody tr").first.locator("th, td").all_inner_texts()
        assert cells == [
            "faithfulness",
            "4",
            "3",
            "0.611",
            *cells[4:5],
            "0.500",
            "0.347",
            "0.333",
            "1.000",
            "1 timeout",
        ]
        assert page.locator("svg").count() == 2
        assert page.locator("svg .bar").count() == 3
        for chart in page.locator("svg").all():
            box = chart.bounding_box()
            assert box is not None
            assert box["width"] > 300
        worst = page.locator("details.row").first
        assert worst.locator("mark").all_inner_texts() == [
            "The moon orbits the earth.",
            "It is made of cheese.",
            "Nobody has seen its far side.",
            CHUNK[:25],
        ]
        assert worst.locator(".chunk mark").is_visible()
        colours = worst.locator("p:not(.chunk) > mark").evaluate_all(
            "marks => marks.map(mark => getComputedStyle(mark).backgroundColor)"
        )
        assert len(set(colours)) == 3
