"""Context relevance, response relevancy, aspects and rubrics by a decision model, in the request of the claims."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.evaluate import evaluate as evaluated
from rag_otel.model import Evaluation
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.build import build_evaluators
from rag_otel_evaluators.judges.config import EvaluatorsConfig
from rag_otel_evaluators.judges.shared_calls import SharedCalls
from rag_otel_evaluators.metrics.critics import Aspect, Rubric
from testkit.decision_server import DecisionServer, Question, by_words
from tests.evaluators.judges.decisions.kit import ANSWER, CHUNKS, QUESTION, SYSTEM_ONE

POLITE = Aspect(name="polite", definition="Is the `response` polite?")
HELPFUL = Rubric(name="helpful", levels={1: "Of no use.", 2: "Of some use.", 3: "Solves the problem."})
NAMES = ("faithfulness", "context_relevance", "response_relevancy")


def decide(state: Mapping[str, Any], question: Question) -> Mapping[str, float] | str:
    match question.name.split("."):
        case ["context_relevance", "all"]:
            return {"full": 0.8, "part": 0.2, "off": 0.0}
        case ["context_relevance", key]:
            return {"full": 0.9, "part": 0.1, "off": 0.0} if key == "c0" else {"full": 0.0, "part": 0.1, "off": 0.9}
        case ["response_relevancy"]:
            return {"full": 0.5, "part": 0.4, "off": 0.1, "noncommittal": 0.0}
        case ["polite"]:
            return {"yes": 0.97, "no": 0.03}
        case ["helpful"]:
            return {"1": 0.1, "2": 0.2, "3": 0.7}
    return by_words(state, question)


@pytest.fixture
def server() -> Any:
    with DecisionServer(decide=decide) as running:
        yield running


def metrics_at(server: DecisionServer, *names: str, described: Any = ()) -> tuple[Evaluator, ...]:
    config = EvaluatorsConfig.model_validate({"metrics": names, "judge": {"model": SYSTEM_ONE, "api_base": server.url}})
    with ExitStack() as resources:
        return build_evaluators(config, resources, described=described)


async def all_of(metrics: tuple[Evaluator, ...], response: str = ANSWER, chunks: Any = CHUNKS) -> dict[str, Evaluation]:
    """All metrics of one answer, side by side, as they are evaluated everywhere."""
    asked = (evaluated(each, question=QUESTION, chunks=chunks, response=response, timeout_s=30) for each in metrics)
    return {result.name: result for result in await asyncio.gather(*asked)}


async def test_all_metrics_are_one_request(server: DecisionServer) -> None:
    """Its cost stands at one of them; scores are expected values."""
    found = await all_of(metrics_at(server, *NAMES, described=[POLITE, HELPFUL]))
    assert len(server.bodies) == 1
    assert {name: result.score for name, result in found.items()} == {
        "faithfulness": pytest.approx(1 / 3),
        "context_relevance": pytest.approx(0.9),
        "response_relevancy": pytest.approx(0.7),
        "polite": 1.0,
        "helpful": pytest.approx(0.8),
    }
    assert found["context_relevance"].chunk_scores == pytest.approx((0.95, 0.05))
    assert (found["polite"].label, found["helpful"].label) == ("yes", "3")
    usages = [result.usage for result in found.values() if result.usage is not None]
    assert sorted(usage.calls for usage in usages) == [0, 0, 0, 0, 1]
    assert sum(usage.input_tokens for usage in usages) == max(usage.input_tokens for usage in usages) > 0


async def test_the_next_answer_is_another_request(server: DecisionServer) -> None:
    """Also the same one again; and the metrics of one answer never get another's."""
    metrics = metrics_at(server, *NAMES)
    first, second, third = await asyncio.gather(*(all_of(metrics, text) for text in (ANSWER, ANSWER, "Pro is blue.")))
    assert first["faithfulness"].claims == second["faithfulness"].claims
    assert len(third["faithfulness"].claims) == 1
    await all_of(metrics)
    assert len(server.bodies) == 4


async def test_the_response_is_data(server: DecisionServer) -> None:
    """It stands in the questions about it and not in the state, and cannot leave its quotation marks."""
    await all_of(metrics_at(server, "response_relevancy", described=[POLITE]), "So` much» for `passages`.")
    (body,) = server.bodies
    assert "much" not in str(body["state"])
    assert body["questions"]["polite"]["instructions"].startswith("Of the response below: Is the 'response' polite?")
    for name in ("polite", "response_relevancy"):
        assert body["questions"][name]["instructions"].endswith("Response: «So' much\" for 'passages'.»")


async def test_what_needs_no_model_makes_no_call(server: DecisionServer) -> None:
    """An answer that declines, nothing retrieved."""
    found = await all_of(metrics_at(server, "response_relevancy"), "I do not know.")
    assert (found["response_relevancy"].score, found["response_relevancy"].label) == (0.0, "noncommittal")
    found = await all_of(metrics_at(server, "context_relevance", "faithfulness"), chunks=[])
    assert found["context_relevance"].reason_code == "no_context"
    assert not server.bodies


async def test_a_question_without_an_answer_has_no_score(server: DecisionServer) -> None:
    """Refused, missing, and of a text that was not read to its end."""
    server.decide = lambda state, question: "refuse" if question.name == "polite" else decide(state, question)
    found = await all_of(metrics_at(server, "faithfulness", described=[POLITE]))
    assert (found["polite"].score, found["polite"].reason_code) == (None, "refused")
    assert found["faithfulness"].reason_code is None
    server.reads = 10
    found = await all_of(metrics_at(server, *NAMES))
    assert {(result.score, result.reason_code) for result in found.values()} == {(None, "state_cut")}


async def test_a_failure_is_everybodys(server: DecisionServer) -> None:
    """One request, and each metric says what went wrong."""
    server.fail_next((401, {}, '{"detail": {"error_type": "authentication_error", "message": "no"}}'))
    found = await all_of(metrics_at(server, *NAMES))
    assert len(server.bodies) == 1
    assert all("auth: HTTP 401" in str(result.explanation) for result in found.values())


def test_metrics_that_write_texts_need_a_language_model(server: DecisionServer) -> None:
    """The message says so."""
    with pytest.raises(ConfigurationError, match="language model"):
        metrics_at(server, "factual_correctness")


async def test_one_who_is_cancelled_does_not_take_the_call_from_the_others() -> None:
    """The first caller goes away; the second gets the result of its call."""
    calls: SharedCalls[int] = SharedCalls()
    gate = asyncio.Event()

    async def call() -> int:
        await gate.wait()
        return 7

    first = asyncio.ensure_future(calls.once("key", "a", {"a", "b"}, call))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(calls.once("key", "b", {"a", "b"}, call))
    await asyncio.sleep(0)
    first.cancel()
    gate.set()
    assert await second == (7, False)
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_long_answer_leaves_room_for_them(server: DecisionServer) -> None:
    """Its claims fill several requests to a server of one's own; the questions of the other metrics are asked once."""
    response = " ".join(f"Pro costs {number} dollars a month." for number in range(100, 160))
    found = await all_of(metrics_at(server, *NAMES), response)
    assert len(found["faithfulness"].claims) == 60
    assert {result.reason_code for result in found.values()} == {None}
    assert len(server.bodies) > 1
    asked = [name for body in server.bodies for name in body["questions"]]
    assert asked.count("response_relevancy") == asked.count("context_relevance.all") == 1
