"""`make demo`: the story is true, Phoenix has all of it, and the terminal says what matters."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime

import pytest

from rag_otel.cli.demo.report import drift_report, report
from rag_otel.cli.demo.story import AFTER, BEFORE, OutOfFoldFaithfulness, examples_folder, week
from rag_otel.cli.main import main
from tests.cli.demo.conftest import Told
from tests.cli.demo.stored_story import failures

pytestmark = pytest.mark.phoenix


def test_phoenix_has_every_span_once_with_scores_claims_and_annotations(told: Told) -> None:
    """And the mean moved when the model did."""
    assert [problem for _, problem in failures(told.reader, told.project, told.outcomes) if problem is not None] == []


def test_the_check_sees_what_is_missing(told: Told) -> None:
    """A span that Phoenix does not have is reported."""
    doubled = [*told.outcomes, *told.outcomes[:1]]
    fewer = list(failures(told.reader, told.project, told.outcomes[1:]))
    assert fewer[0][1] is not None
    assert next(iter(failures(told.reader, told.project, doubled)))[1] is None


def test_the_report_names_the_riskiest_answers_with_their_claims_and_links(told: Told) -> None:
    """The terminal shows both models, agreement with people, and five answers to look at."""
    text = report(told.outcomes, base_url=told.base_url)
    assert all(model in text for model in BEFORE)
    assert AFTER in text
    assert "AUROC of risk" in text
    assert text.count(f"{told.base_url}/redirects/traces/") == 5
    assert "not_enough_info: " in text


def test_the_swap_is_noticed_as_drift(told: Told) -> None:
    """The terminal names the rise of the risk, the model that it came with, and the day on which that began."""
    first_after = min(outcome.asked.at_ns for outcome in told.outcomes if outcome.asked.model == AFTER)
    day = datetime.fromtimestamp(first_after / 1e9, UTC)
    text = drift_report(told.outcomes)
    assert "The hallucination risk rose from .0" in text
    assert f"on {day.day} {day:%B}" in text
    assert f"when model={AFTER} came in" in text
    assert f"model={AFTER}: new -> 0." in text


def test_no_drift_is_noticed_without_a_swap(told: Told) -> None:
    """One model alone does not drift."""
    before = [outcome for outcome in told.outcomes if outcome.asked.model in BEFORE]
    assert drift_report(before).endswith("none noticed")


def test_no_answer_is_judged_by_coefficients_that_saw_its_question() -> None:
    """The judge of a question is that of its fold, and folds differ."""
    evaluator = OutOfFoldFaithfulness(examples_folder())
    coefficients = {repr(judge.judge.coefficients) for judge in evaluator._by_question.values()}
    assert len(coefficients) == 5


def test_the_week_lies_within_what_phoenix_shows_at_first() -> None:
    """Every question was asked within the last seven days, the second model's from a midnight on."""
    now = time.time_ns()
    story = week(examples_folder(), now_ns=now)
    assert all(now - 7 * 86_400 * 10**9 < asked.at_ns < now for asked in story)
    counts = Counter(asked.model for asked in story)
    assert counts.keys() == {*BEFORE, AFTER}
    assert min(counts.values()) >= 55
    assert [asked.model for asked in story] == [model for model in (*BEFORE, AFTER) for _ in range(counts[model])]
    assert min(asked.at_ns for asked in story if asked.model == AFTER) % (86_400 * 10**9) < 2 * 3_600 * 10**9


def test_without_the_examples_the_demo_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installed from a wheel, the demo names the way out and exits with 2."""
    monkeypatch.setattr("rag_otel.cli.demo.story.__file__", "/nowhere/rag_otel/cli/demo/story.py")
    monkeypatch.setattr("rag_otel.cli.demo.command.examples_folder", examples_folder)
    assert main(["demo", "--check"]) == 2
    assert "install rag-otel again" in capsys.readouterr().err
