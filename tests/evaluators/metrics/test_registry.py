"""Metrics by name, the built-in ones and those of other packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.registry import build, metric_names
from rag_otel_evaluators.metrics.response_relevancy import ResponseRelevancy
from rag_otel_evaluators.metrics.setup import MetricSetup

BUILT_IN = [
    "faithfulness",
    "context_precision",
    "context_precision_with_reference",
    "context_recall",
    "context_relevance",
    "response_relevancy",
    "factual_correctness",
    "answer_correctness",
    "semantic_similarity",
    "noise_sensitivity",
    "noise_sensitivity_irrelevant",
    "id_based_context_precision",
    "id_based_context_recall",
    "non_llm_context_precision_with_reference",
    "non_llm_context_recall",
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package that adds metrics by entry points, as pip leaves it on the path."""
    (tmp_path / "their_metrics.py").write_text(
        "from rag_otel_evaluators.metrics.functions import function_evaluator\n"
        "from rag_otel_evaluators.metrics.custom import llm_evaluator\n"
        "from pydantic import BaseModel\n"
        "class Answer(BaseModel):\n"
        "    polite: bool\n"
        "@function_evaluator\n"
        "def brevity(response): return 0.5\n"
        "def politeness(setup):\n"
        "    return llm_evaluator(name='politeness', model=setup.model, prompt='Polite?', response_model=Answer,\n"
        "                         score='polite')\n"
        "nonsense = 3\n"
    )
    metadata = tmp_path / "their_metrics-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: their-metrics\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[rag_otel.metrics]\n"
        "brevity = their_metrics:brevity\n"
        "politeness = their_metrics:politeness\n"
        "nonsense = their_metrics:nonsense\n"
        "missing = their_metrics:missing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "their_metrics", raising=False)
    return tmp_path


def test_every_built_in_metric_is_found_by_its_name(model: StructuredModel) -> None:
    """In the order asked for, each an evaluator of that name, all with one judge."""
    evaluators = build(BUILT_IN[1:], MetricSetup(judge=model))
    assert [evaluator.name for evaluator in evaluators] == BUILT_IN[1:]
    assert all(isinstance(evaluator, Evaluator) for evaluator in evaluators)
    assert metric_names()[: len(BUILT_IN)] == BUILT_IN


def test_a_metric_named_twice_is_one(model: StructuredModel) -> None:
    """Nothing is paid for twice."""
    assert len(build(["context_recall", "context_recall"], MetricSetup(judge=model))) == 1


def test_faithfulness_needs_no_model() -> None:
    """The default judge is the embedded one."""
    (faithfulness,) = build(["faithfulness"])
    assert faithfulness.judge_name == "embedded"


def test_language_and_embedder_reach_the_metric(model: StructuredModel) -> None:
    """Spanish prompts, and the embedder that needs no key where none is named."""
    (metric,) = build(["response_relevancy"], MetricSetup(judge=model, language="es"))
    assert isinstance(metric, ResponseRelevancy)
    assert metric.prompts["response_relevancy"].language == "es"
    assert metric.embedder.name.startswith("hashed-ngrams")


def test_names_become_models() -> None:
    """A judge and an embedder by litellm's names, one model for all metrics, so that its limits count for them all."""
    recall, relevancy = build(
        ["context_recall", "response_relevancy"],
        MetricSetup(judge="openai/some-judge", embedder="openai/some-embedder"),
    )
    assert recall.judge_name == "openai/some-judge"
    assert relevancy.judge_name == "openai/some-judge+openai/some-embedder"
    assert recall.model is relevancy.model  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("context_recal", "not known; there are: faithfulness, context_precision"),
        ("context_recall", "needs a language model"),
        ("status", "not known"),
    ],
)
def test_what_cannot_be_built_says_why(metric: str, message: str) -> None:
    """The error names the metric and the way out."""
    with pytest.raises(ConfigurationError, match=message) as error:
        build([metric])
    assert repr(metric) in str(error.value)


async def test_packages_add_metrics(package: Path, model: StructuredModel) -> None:
    """An evaluator as it is, or made from the set-up; listed after the built-in ones."""
    brevity, politeness = build(["brevity", "politeness"], MetricSetup(judge=model))
    assert (await brevity.evaluate(question="q", chunks=[], response="r")).score == 0.5
    assert politeness.judge_name == model.name
    assert metric_names() == [*BUILT_IN, "brevity", "missing", "nonsense", "politeness"]


@pytest.mark.parametrize("name", ["nonsense", "missing"])
def test_a_broken_package_breaks_its_own_metric_alone(package: Path, name: str, model: StructuredModel) -> None:
    """And the error names the entry point."""
    with pytest.raises(ConfigurationError, match=f"their_metrics:{name}"):
        build([name], MetricSetup(judge=model))
    assert build(["brevity"])
