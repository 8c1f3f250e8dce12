"""What every metric promises, whatever the judge says: a score or a reason, never NaN, and a synchronous twin."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.llm.embedding import HashedNgramEmbedder
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.metrics.answer_correctness import AnswerCorrectness
from rag_otel_evaluators.metrics.context_precision import ContextPrecision
from rag_otel_evaluators.metrics.context_recall import ContextRecall
from rag_otel_evaluators.metrics.context_relevance import ContextRelevance
from rag_otel_evaluators.metrics.factual_correctness import FactualCorrectness
from rag_otel_evaluators.metrics.llm_metric import LlmMetric
from rag_otel_evaluators.metrics.noise_sensitivity import NoiseSensitivity
from rag_otel_evaluators.metrics.response_relevancy import ResponseRelevancy
from rag_otel_evaluators.prompts import Prompt, load_prompt, save_prompt
from rag_otel_evaluators.sync import run_sync
from testkit.judge_server import JudgeServer
from testkit.when_used import llm_model

CASE: dict[str, Any] = {
    "question": "Where is Ulm, and how old is it?",
    "chunks": ["Ulm is on the Danube.", "It was first mentioned in 854."],
    "response": "Ulm is on the Danube. It is more than a thousand years old.",
    "reference": "It is on the Danube. It was first mentioned in 854.",
}
METRICS = [
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ResponseRelevancy,
    FactualCorrectness,
    AnswerCorrectness,
    NoiseSensitivity,
]


def make(metric: type[LlmMetric], model: StructuredModel, **settings: Any) -> LlmMetric:
    """A metric of this class with its defaults."""
    if metric is ResponseRelevancy:
        settings["embedder"] = HashedNgramEmbedder()
    return metric(model=model, **settings)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NUMBER = st.integers(-2, 4)
ITEM = st.fixed_dictionaries(
    {},
    optional={
        "chunk": NUMBER | JSON,
        "claim": NUMBER | JSON,
        "useful": st.booleans() | JSON,
        "attributed": st.booleans() | JSON,
        "stated": st.booleans() | JSON,
        "in_reference": st.booleans() | JSON,
        "rating": NUMBER | JSON,
        "chunks": st.lists(NUMBER, max_size=3) | JSON,
    },
)
ANSWER = st.fixed_dictionaries(
    {},
    optional={
        "verdicts": st.lists(ITEM, max_size=5) | JSON,
        "chunks": st.lists(ITEM, max_size=5) | JSON,
        "rating": NUMBER | JSON,
        "noncommittal": st.booleans() | JSON,
        "questions": st.lists(st.text(max_size=20), max_size=4) | JSON,
    },
)


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=ANSWER)
def test_any_answer_ends_in_a_score_or_a_reason(metric: type[LlmMetric], answer: Any, judge: JudgeServer) -> None:
    """Nothing that a judge says makes NaN, an exception, an invented chunk or a score without ground."""
    judge.answer = lambda request: answer
    model = llm_model("openai/test-judge", api_base=judge.url)  # a new one: nonsense in a row opens its breaker
    result = make(metric, model).evaluate_sync(**CASE)
    assert result.score is not None or result.reason_code is not None
    assert result.score is None or (math.isfinite(result.score) and 0 <= result.score <= 1)
    assert len(result.chunk_scores) in (0, len(CASE["chunks"]))
    assert all(chunk in ("0", "1") for claim in result.claims for chunk in claim.chunk_ids)
    assert result.error_type is None


@pytest.mark.parametrize("metric", METRICS)
async def test_the_twin_works_inside_a_running_loop(
    metric: type[LlmMetric], judge: JudgeServer, model: StructuredModel
) -> None:
    """A notebook's cell runs in a loop: `evaluate_sync` returns there what `await evaluate` does."""
    judge.answer = lambda request: {
        "verdicts": [
            {"chunk": i, "useful": True, "claim": i, "chunks": [0], "attributed": True, "stated": True}
            | {"in_reference": True}
            for i in range(max(2, str(request.body["messages"][-1]["content"]).count(" (re")))
        ],
        "chunks": [],
        "rating": 2,
        "noncommittal": False,
        "questions": ["Where is Ulm?"],
    }
    evaluator = make(metric, model)
    twin = evaluator.evaluate_sync(**CASE)
    assert isinstance(evaluator, Evaluator)
    assert twin.score == (await evaluator.evaluate(**CASE)).score
    assert twin.score is not None


def test_all_sync_calls_share_one_loop() -> None:
    """What a judge binds to its loop outlives the call."""

    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert run_sync(loop()) is run_sync(loop())


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    """The parent's thread does not exist there; waiting for it would never end."""

    async def answer() -> int:
        return 42

    assert run_sync(answer()) == 42
    process = multiprocessing.get_context("fork").Process(target=lambda: exit(run_sync(answer())))
    process.start()
    process.join(timeout=30)
    assert process.exitcode == 42


@pytest.mark.parametrize("metric", METRICS)
def test_the_version_follows_the_prompts(metric: type[LlmMetric], model: StructuredModel, tmp_path: Any) -> None:
    """Another language or another text is another measurement; the same text is the same one."""
    evaluator = make(metric, model)
    changed = {name: p.model_copy(update={"instruction": "Differently."}) for name, p in evaluator.prompts.items()}
    for prompt in changed.values():
        save_prompt(prompt, tmp_path)
    versions = {
        evaluator.version,
        make(metric, model, language="es").version,
        make(metric, model, prompt_folder=tmp_path).version,
    }
    assert len(versions) == 3
    assert make(metric, model).version == evaluator.version


async def test_a_replaced_prompt_is_the_one_that_is_asked(judge: JudgeServer, model: StructuredModel) -> None:
    """And its hash travels with the score."""
    prompt = load_prompt("context_recall").model_copy(update={"instruction": "Judge kindly.", "version": "mine"})
    result = await ContextRecall(model=model, prompt=prompt).evaluate(**CASE)
    assert judge.requests[0].body["messages"][0]["content"].startswith("Judge kindly.")
    assert result.prompts == (f"context_recall/en@mine:{prompt.hash}",)


def test_a_prompt_of_another_metric_is_refused(model: StructuredModel) -> None:
    """A replacement that would never be asked is a mistake."""
    with pytest.raises(ConfigurationError, match="uses the prompts context_recall"):
        ContextRecall(model=model, prompt=Prompt(name="recall", instruction="x"))
