"""The public API as a type checker sees it: decorating changes no type. Checked by mypy, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

import rag_otel


@rag_otel.observe
def bare(question: str, *, k: int = 3) -> dict[str, list[str]]:
    return {"documents": [question] * k}


@rag_otel.observe(question="request.text", response=lambda result: result.answer, tags={"tenant": "tenant"})
def with_selectors(request: object, tenant: str) -> int:
    return 1


@rag_otel.observe
async def coroutine(question: str) -> str:
    return question


@rag_otel.observe(name="stream")
def generator(question: str) -> Iterator[str]:
    yield question


@rag_otel.observe
async def async_generator(question: str) -> AsyncIterator[str]:
    yield question


class Bot:
    @rag_otel.observe
    def method(self, question: str) -> float:
        return 1.0

    @classmethod
    @rag_otel.observe(capture_content=False)
    def class_method(cls, question: str) -> Bot:
        return cls()


assert_type(bare("why", k=2), dict[str, list[str]])
assert_type(with_selectors(object(), tenant="acme"), int)
assert_type(generator("why"), Iterator[str])
assert_type(async_generator("why"), AsyncIterator[str])
assert_type(Bot().method("why"), float)
assert_type(Bot.class_method("why"), Bot)
bare(42)  # type: ignore[arg-type]
bare("why", top=3)  # type: ignore[call-arg]
rag_otel.observe(questoin="question")  # type: ignore[call-overload]
rag_otel.record_chunks(["a passage"])


async def awaits() -> None:
    assert_type(await coroutine("why"), str)
    async with rag_otel.using(user_id="u-1"):
        assert_type([item async for item in async_generator("why")], list[str])


with rag_otel.using(session_id="s-1", tags={"tenant": "acme"}) as block:
    assert_type(block, rag_otel.using)


def sets_up() -> None:
    set_up = rag_otel.instrument(
        phoenix_endpoint="http://localhost:6006",
        judge=rag_otel.JudgeSettings(model="openai/gpt-4o-mini", strategy="two_step"),
        evaluations_per_minute=60,
        metrics=["faithfulness", "context_relevance"],
        alerts=rag_otel.AlertSettings(slo_target=0.95, email_to=["team@example.com"]),
        drift=False,
        telemetry=rag_otel.TelemetrySettings(exporter="prometheus"),
    )
    assert_type(set_up, rag_otel.Instrumentation)
    rag_otel.instrument(judge="openai/gpt-4o-mini", drift=rag_otel.DriftSettings(baseline_count=50))
    rag_otel.instrument(phoenix_endpont="http://localhost:6006")  # type: ignore[arg-type]
    rag_otel.instrument(sample_ratio="often")  # type: ignore[arg-type]
    rag_otel.AlertSettings(cooldwn=3)  # type: ignore[call-arg]
