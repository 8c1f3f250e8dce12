"""Servers that do not say what a call has used, or say zero: the call is estimated, so that every limit holds."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

import pytest
from pydantic import BaseModel

from rag_otel.errors import RetryableError
from rag_otel.evaluation.current_evaluation import evaluating
from rag_otel.safety.guard import counters
from rag_otel_evaluators.judges.openai_model import openai_model
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.rate_limits import RateLimits
from rag_otel_evaluators.llm.structured import Message
from testkit.judge_server import JudgeServer
from testkit.when_used import llm_model

ANSWER = {"good": True, "why": "Because the passage says so. " * 10}
PRICES = {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6}
UNSAID = {
    "nothing": None,
    "zeros": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "nulls": {"prompt_tokens": None, "completion_tokens": None},
}
ODD = {
    "words": {"prompt_tokens": "many", "completion_tokens": []},
    "a number below zero": {"prompt_tokens": -5_000, "completion_tokens": -100},
    "no number": {"prompt_tokens": float("nan"), "completion_tokens": float("inf")},
    "another shape": {"usage": [1, 2]},
}
WAYS = {
    "direct": lambda url, **options: llm_model("openai/counted", api_base=url, api_key="k", **options),
    "litellm": lambda url, **options: llm_model("openai/counted", api_base=url, api_key="k", direct=False, **options),
    "without litellm": lambda url, **options: openai_model("openai/counted", api_base=url, api_key="k", **options),
}
CASES = [
    *((way, usage) for way in WAYS for usage in UNSAID),
    *((way, usage) for way in ("direct", "without litellm") for usage in ODD),
]


class Verdict(BaseModel):
    good: bool
    why: str


def question(number: int = 0) -> list[Message]:
    return [Message(role="user", content=f"Is number {number} so? " + "The tower is 330 metres high. " * 100)]


def model_at(server: JudgeServer, way: str, **options: Any) -> ResilientModel:
    return WAYS[way](server.url, parameters=PRICES, **options)


@pytest.mark.parametrize(("way", "usage"), CASES)
async def test_tokens_and_dollars_are_estimated_from_the_texts(way: str, usage: str) -> None:
    """Near what a server that counts says of the same call, and rather more; never nothing, never below."""
    with JudgeServer(answer=lambda request: ANSWER) as server:
        counted = (await model_at(server, way).complete(question(), Verdict)).usage
        server.usage = {**UNSAID, **ODD}[usage]
        estimated = (await model_at(server, way).complete(question(), Verdict)).usage
    assert counted.input_tokens <= estimated.input_tokens <= 1.5 * counted.input_tokens
    assert counted.output_tokens <= estimated.output_tokens <= 1.5 * counted.output_tokens
    expected = estimated.input_tokens * 1e-6 + estimated.output_tokens * 4e-6
    assert estimated.cost_usd == pytest.approx(expected)
    assert estimated.calls == 1


async def test_what_is_said_of_one_side_is_kept() -> None:
    """A server that counts what it writes and not what it reads."""
    with JudgeServer(answer=lambda request: ANSWER, usage={"completion_tokens": 7}) as server:
        usage = (await model_at(server, "direct").complete(question(), Verdict)).usage
    assert usage.output_tokens == 7
    assert usage.input_tokens > 500


async def test_it_is_told_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning that names the model, for the first of many calls."""
    monkeypatch.setattr(counters, "_counts", Counter())
    with caplog.at_level(logging.WARNING, "rag_otel"), JudgeServer(answer=lambda r: ANSWER, usage=None) as server:
        for number in range(3):
            await model_at(server, "direct").complete(question(number), Verdict)
    (told,) = [
        record.getMessage() for record in caplog.records if "does not say how many tokens" in record.getMessage()
    ]
    assert "openai/counted" in told


@pytest.mark.parametrize("way", WAYS)
async def test_calls_a_minute_are_limited(way: str) -> None:
    """Of twelve calls at most four are made; the others would have to wait for longer than they may."""
    with JudgeServer(answer=lambda request: ANSWER, usage=None) as server:
        model = model_at(server, way, limits=RateLimits(requests_per_minute=3))
        refused = 0
        for number in range(12):
            with evaluating(timeout_s=10):
                try:
                    await model.complete_once(question(number), Verdict, max_output_tokens=100)
                except RetryableError:
                    refused += 1
    assert 1 <= len(server.requests) <= 4
    assert refused == 12 - len(server.requests)


@pytest.mark.parametrize("way", WAYS)
async def test_tokens_a_minute_are_limited(way: str) -> None:
    """Twelve calls of a thousand tokens, 4,000 a second after 8,000 at once: the last one leaves a second late."""
    with JudgeServer(answer=lambda request: ANSWER, usage=None) as server:
        model = model_at(server, way, limits=RateLimits(tokens_per_minute=240_000))
        for number in range(12):
            await model.complete_once(question(number), Verdict, max_output_tokens=100)
    assert server.requests[-1].arrived_s - server.requests[0].arrived_s >= 1.0
