"""Aspects and rubrics in the user's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError
from rag_otel.model import ReasonCode
from rag_otel_evaluators import evaluate
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.critics import Aspect, AspectCritic, Rubric, RubricScore
from testkit.judge_server import JudgeServer
from tests.evaluators.metrics.conftest import fields_of

CASE: dict[str, Any] = {"question": "When?", "chunks": ["It opens at 9."], "response": "At 9, please."}
POLITE = Aspect(name="polite", definition="Is the response polite?")
HELPFUL = Rubric(name="helpful", levels={1: "No use.", 2: "Little.", 3: "Some.", 4: "Much.", 5: "All."})


@pytest.mark.parametrize(("verdict", "score", "label"), [(True, 1.0, "yes"), (False, 0.0, "no")])
async def test_an_aspect(judge: JudgeServer, model: StructuredModel, verdict: bool, score: float, label: str) -> None:
    """Yes or no, with the reason and the parsed answer."""
    judge.answer = lambda request: {"reason": "It says please.", "verdict": verdict}
    result = await AspectCritic(aspect=POLITE, model=model).evaluate(**CASE)
    assert (result.name, result.score, result.label, result.explanation) == ("polite", score, label, "It says please.")
    assert result.answer == {"reason": "It says please.", "verdict": verdict}
    assert fields_of(judge.requests[0])["aspect"] == POLITE.definition


async def test_a_rubric(judge: JudgeServer, model: StructuredModel) -> None:
    """Level 4 of 1 to 5 is 0.75, and the label is Ragas' number."""
    judge.answer = lambda request: {"reason": "Nearly all.", "level": 4}
    result = await RubricScore(rubric=HELPFUL, model=model).evaluate(**CASE)
    assert (result.score, result.label) == (0.75, "4")
    assert fields_of(judge.requests[0])["rubric"].splitlines()[3] == "4: Much."


async def test_a_level_that_does_not_exist(judge: JudgeServer, model: StructuredModel) -> None:
    """Is asked for again once, and is no score."""
    judge.answer = lambda request: {"reason": "Great.", "level": 7}
    result = await RubricScore(rubric=HELPFUL, model=model).evaluate(**CASE)
    assert (result.score, result.reason_code) == (None, ReasonCode.PARSE_ERROR)
    assert len(judge.requests) <= 2


async def test_no_response(judge: JudgeServer, model: StructuredModel) -> None:
    """A reason, and no call."""
    for metric in (AspectCritic(aspect=POLITE, model=model), RubricScore(rubric=HELPFUL, model=model)):
        assert (await metric.evaluate(**{**CASE, "response": ""})).reason_code == ReasonCode.NO_RESPONSE
    assert judge.requests == []


def test_levels_as_ragas_names_them(model: StructuredModel) -> None:
    """In order of their numbers."""
    named = Rubric(name="helpful", levels={"score2_description": "Good.", "score1_description": "Bad."})
    assert RubricScore(rubric=named, model=model).levels == {1: "Bad.", 2: "Good."}
    with pytest.raises(ConfigurationError, match="'best' is not a level"):
        RubricScore(rubric=Rubric(name="r", levels={"best": "a", "1": "b"}), model=model)
    with pytest.raises(ConfigurationError, match="at least two levels"):
        RubricScore(rubric=Rubric(name="r", levels={1: "a"}), model=model)


def test_the_version_follows_the_wording(model: StructuredModel) -> None:
    """Another definition is another measurement."""
    other = Aspect(name="polite", definition="Does it say please?")
    versions = {AspectCritic(aspect=aspect, model=model).version for aspect in (POLITE, other)}
    assert len(versions) == 2


def test_in_a_data_set(judge: JudgeServer) -> None:
    """The judge of the evaluation is theirs too, beside metrics by name."""
    judge.answer = lambda request: {"reason": "r", "verdict": True, "level": 5}
    rows = [{"question": "When?", "contexts": ["It opens at 9."], "answer": "At 9."}]
    settings = {"model": "openai/test-judge", "api_base": judge.url}
    results = evaluate(rows, metrics=[HELPFUL, POLITE], judge=settings)
    assert results.metrics == ("helpful", "polite")
    assert (results.scores("helpful"), results.scores("polite")) == ([1.0], [1.0])
    with pytest.raises(ConfigurationError, match="metric 'polite': needs a language model"):
        evaluate(rows, metrics=[POLITE])


def test_in_a_configuration_file(judge: JudgeServer, tmp_path: Path) -> None:
    """`aspects` and `rubrics`, with a threshold."""
    judge.answer = lambda request: {"reason": "r", "verdict": False, "level": 2}
    row = {"question": "When?", "answer": "It opens at 9.", "reference": "It opens at 9."}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (tmp_path / "config.yaml").write_text(
        f"data: rows.jsonl\noutput: out.jsonl\ncache: false\nmetrics: [semantic_similarity]\n"
        f"judge: {{model: openai/test-judge, api_base: '{judge.url}'}}\n"
        "aspects: {polite: 'Is the response polite?'}\n"
        "rubrics: {helpful: {1: No use., 2: Some use., 3: Solves it.}}\n"
        "fail_under: {polite: 0.5}\n",
        encoding="utf-8",
    )
    assert main(["evaluate", "--config", str(tmp_path / "config.yaml")]) == 1
    row = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert [row[name] for name in ("polite", "helpful", "semantic_similarity")] == [0.0, 0.5, pytest.approx(1.0)]
