"""A metric of one's own that is better when it is lower: declared once by its evaluator, followed everywhere."""

from __future__ import annotations

import dataclasses
import random
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from rag_otel.alert import Alert
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.rules import HIGH_SCORE, AlertRules, AnswerQuality, parse_rule
from rag_otel.drift.anchors import Anchor, reading_of
from rag_otel.drift.family import FamilySettings
from rag_otel.drift.monitor import DriftMonitor
from rag_otel.errors import ConfigurationError
from rag_otel.model import EvaluatedTrace
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.amount import RatioSampler
from rag_otel.writers.attributes import evaluation_attributes
from rag_otel_collectors.stored.answers import choose
from rag_otel_collectors.stored.results import StoredResult, stored_result
from rag_otel_collectors.stored.scores import from_files
from rag_otel_evaluators.metrics.functions import function_evaluator
from rag_otel_evaluators.offline.compare import compare
from testkit.drift_scores import result


@function_evaluator(lower_is_better=True)
def toxicity(response: str) -> float:
    """A share of insults."""
    return 0.4 if "fool" in response else 0.1


@pytest.fixture(autouse=True)
def declared() -> None:
    Pipeline(conventions=(), sampler=RatioSampler(1.0), evaluators=(toxicity,))


def scored(index: int, score: float) -> EvaluatedTrace:
    """An answer of that toxicity."""
    plain = result(index, score)
    return dataclasses.replace(plain, evaluations=(dataclasses.replace(plain.evaluations[0], name="toxicity"),))


def watched(first: float, then: float) -> list[Alert]:
    """What drift monitoring says of 400 answers of one mean and 300 of another one."""
    told: list[Alert] = []
    monitor, rng = DriftMonitor(FamilySettings(baseline_count=200), told.append), random.Random(1)
    for index in range(700):
        monitor.write([scored(index, min(1.0, max(0.0, rng.gauss(first if index < 400 else then, 0.12))))])
    return told


def test_drift_tells_a_rise_and_no_fall() -> None:
    (alarm,) = watched(0.1, 0.4)
    assert "Toxicity" in alarm.headline
    assert "rose from .1" in alarm.headline
    assert watched(0.4, 0.1) == []


def test_a_rule_takes_high_scores_as_bad() -> None:
    rule = parse_rule("toxicity.score>0.3 until 0.2")
    assert rule.name == HIGH_SCORE
    (judged,) = AlertRules([rule], Examples()).judge(scored(0, 0.4))
    assert judged.finding is AnswerQuality.BAD
    with pytest.raises(ConfigurationError, match="toxicity"):
        parse_rule("toxicity.score<0.3")
    with pytest.raises(ConfigurationError, match="lower_is_better = True"):
        parse_rule("my_own_metric.score>0.3")
    (low,) = AlertRules([parse_rule("toxicity.score>0.3"), parse_rule("score<0.2")], Examples()).judge(scored(0, 0.1))
    assert low.finding is AnswerQuality.GOOD


def test_a_stored_result_says_it_to_readers_without_the_evaluator(tmp_path: Any) -> None:
    """In the span's attributes and the annotation's metadata; a replay and `export --worst` follow them."""
    bad = dataclasses.replace(scored(0, 0.4), evaluations=(scored(0, 0.4).evaluations[0],))
    attributes = evaluation_attributes(bad)
    assert attributes["rag.evaluation.toxicity.lower_is_better"] is True
    stranger = {key.replace("toxicity", "rudeness"): value for key, value in attributes.items()}
    stored_result(stranger, (), "rudeness")
    answers: list[Any] = [SimpleNamespace(result=StoredResult(score=score), human=()) for score in (0.1, 0.9, 0.5)]
    worst: Literal["worst"] = "worst"
    for metric, expected in (("toxicity", 0.9), ("rudeness", 0.9), ("faithfulness", 0.1)):
        assert [answer.result.score for answer in choose(answers, worst, 1, metric)] == [expected]
    file = tmp_path / "rows.jsonl"
    file.write_text('{"rag.evaluation.insolence.score": 0.9, "rag.evaluation.insolence.lower_is_better": true}')
    (seen,) = from_files([str(file)], ())
    assert dict(seen.values)["insolence.score"] == pytest.approx(0.1)


def test_a_replay_of_noise_sensitivity_is_not_upside_down(tmp_path: Any) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"noise_sensitivity_detail": {"score": 0.2}}')
    (seen,) = from_files([str(file)], ())
    assert dict(seen.values)["noise_sensitivity.score"] == pytest.approx(0.8)


def test_the_anchors_read_goodness() -> None:
    """A judge that became milder on a metric where lower is better has a higher goodness."""
    anchors = [Anchor(id=str(n), question="", contexts=(), response="", faithful=n > 0) for n in range(2)]
    found = {str(n): scored(n, 0.25).evaluations[0] for n in range(2)}
    reading = reading_of(anchors, found, time_s=1.0)
    assert reading is not None
    assert set(reading.scores.values()) == {0.75}


def test_a_comparison_knows_the_better_side() -> None:
    """Without being told again."""
    before, after = ([{"id": n, "toxicity": score} for n in range(20)] for score in (0.1, 0.4))
    (metric,) = compare(before, after, metrics="toxicity").metrics
    assert metric.lower_is_better
