"""The embedded judge first, a decision model for its doubts, a chat model for the band in which that one doubts too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from rag_otel.model import Evaluation, Verdict
from rag_otel.sampling.local_only import is_local
from rag_otel_evaluators.build import build_evaluators
from rag_otel_evaluators.judges.config import EvaluatorsConfig
from testkit.decision_server import DecisionServer, Question, by_words, sure
from testkit.judge_server import JudgeServer
from testkit.word_overlap_judge import answer as word_overlap
from tests.evaluators.judges.decisions.kit import CHUNKS, KEY, QUESTION, SYSTEM_ONE, metric_at

CLEAR = (
    "The lighthouse of Kap Arkona was built of brick on the northern coast of the island. Its keepers lived with their "
    "families in a small house beside the tower until the lamp became electric. Visitors may climb the stairs to the "
    "gallery and look over the cliffs, the harbour and the open sea."
)
"""The embedded judge is sure of it where a passage says so."""
CIRCUS = "In 1999 the tower was sold to a circus in Nevada for 300 dollars."
DOUBTFUL = "Pro costs 20 dollars every month to its subscribers."
OPEN = "Whales sing at night."


async def judged(name: str, address: str, response: str, chunks: Sequence[str] = CHUNKS) -> Evaluation:
    config = EvaluatorsConfig.model_validate({"judge": {"model": name, "api_base": address}})
    with ExitStack() as resources:
        (metric,) = build_evaluators(config, resources)
        return await metric.evaluate(question=QUESTION, chunks=chunks, response=response)


def supported_with(probability: float) -> Any:
    def decide(state: Mapping[str, Any], question: Question) -> Mapping[str, float] | str:
        if "supported" not in question.options:
            return by_words(state, question)
        return {"supported": probability, "contradicted": 0.0, "not_stated": 1 - probability}

    return decide


async def test_only_what_the_embedded_judge_doubts_is_asked_about(server: DecisionServer) -> None:
    """Every verdict names who gave it; an answer without a doubt costs no request."""
    name = f"cascade/{SYSTEM_ONE}"
    result = await judged(name, server.url, f"{CLEAR} {CIRCUS}", [CLEAR])
    (body,) = server.bodies
    assert list(body["questions"]) == ["k0", "end_of_text"]
    assert CIRCUS in body["questions"]["k0"]["instructions"]
    assert [claim.judge for claim in result.claims] == ["embedded"] * 3 + [SYSTEM_ONE]
    assert result.claims[3].verdict is Verdict.CONTRADICTED
    await judged(name, server.url, CLEAR, [CLEAR])
    assert len(server.bodies) == 1
    assert not is_local(result.judge)


@pytest.mark.parametrize(("probability", "asked"), [(0.5, True), (0.2, False), (0.9, False)])
async def test_the_chat_model_decides_the_band_of_doubt(
    server: DecisionServer, monkeypatch: pytest.MonkeyPatch, litellm_is_loaded: None, probability: float, asked: bool
) -> None:
    """And nothing else: the address is the decision server's, the chat model has its own."""
    server.decide = supported_with(probability)
    with JudgeServer(answer=word_overlap) as chat:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
        result = await judged(f"cascade/{SYSTEM_ONE}/openai/judge", server.url, OPEN)
        assert len(server.bodies) == 1
        assert len(chat.requests) == asked
    assert [claim.judge for claim in result.claims] == ["openai/judge" if asked else SYSTEM_ONE]


async def test_a_model_in_two_parts_is_openrouters(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind it is the chat model; a name that is no model of a provider belongs to the first."""
    from rag_otel_evaluators.build import _decisions_and_chat as split

    assert split("decisions/openrouter/typesafe/jev-1.13") == ("decisions/openrouter/typesafe/jev-1.13", None)
    both = ("decisions/openrouter/typesafe/jev-1.13", "anthropic/claude")
    assert split("decisions/openrouter/typesafe/jev-1.13/anthropic/claude") == both
    assert split("decisions/openai/gpt-6-luna/openai/gpt-6") == ("decisions/openai/gpt-6-luna", "openai/gpt-6")
    assert split("decisions/systemone/org/model") == ("decisions/systemone/org/model", None)
    assert split("openai/org/some-model") == ("openai/org/some-model", None)


@pytest.mark.parametrize(
    ("claim", "doubted"),
    [
        ("Pro costs 30 dollars a month.", "The context says 20 dollars, not 30 dollars."),
        ("Pro costs 20 dollars a month.", None),
        (DOUBTFUL, None),
    ],
)
async def test_a_number_that_the_passages_give_otherwise_makes_support_doubtful(
    server: DecisionServer, claim: str, doubted: str | None
) -> None:
    """Decision models are weak at numbers. It is doubt and never a contradiction, and the model's word is told."""
    server.decide = lambda state, question: (
        sure(question.options, "supported") if "supported" in question.options else by_words(state, question)
    )
    (verdict,) = (await metric_at(server.url).evaluate(question=QUESTION, chunks=CHUNKS, response=claim)).claims
    assert verdict.verdict is (Verdict.NOT_ENOUGH_INFO if doubted else Verdict.SUPPORTED)
    assert verdict.support_probability == pytest.approx(0.5 if doubted else 0.94)
    assert (doubted or "supported 0.94") in str(verdict.explanation)


async def test_the_version_that_answered_stands_on_each_claim(server: DecisionServer) -> None:
    """In a cascade the result has one judge, and the claims say who gave them."""
    server.model = "jev-1.14.0"
    result = await judged(f"cascade/{SYSTEM_ONE}", server.url, OPEN)
    assert [claim.judge for claim in result.claims] == ["decisions/systemone/jev-1.14.0"]
