"""A process that evaluates as fast as it can within a shared budget, and says what it has spent: for tests.

    python -m tests.budgets.spending_process STORE SECONDS [hold]

With `hold` it reserves everything that it can and waits to be killed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time

from rag_otel.budgets.build import build_budgets
from rag_otel.model import Chunk, Evaluation, RagTrace, SpanRef, Usage
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.ratio import RatioSampler
from rag_otel.settings import Settings

CONCURRENCY = 8
MOST_USD = 0.004
LIMIT = "1 usd/day"


class Paid:
    """A judge whose calls cost up to $0.004, not what was expected, and sometimes fail after they were paid for."""

    name = "faithfulness"
    version = "1"
    judge_name = "openai/gpt-4o-mini"

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.spent = 0.0

    async def evaluate(self, **given: object) -> Evaluation:
        cost = self.rng.uniform(0, MOST_USD)
        await asyncio.sleep(0.001)
        self.spent += cost
        return Evaluation(
            name=self.name, score=1.0, usage=Usage(input_tokens=500, output_tokens=50, cost_usd=cost, calls=1)
        )


async def main(store: str, seconds: float, hold: bool) -> None:
    settings = Settings(budgets=(LIMIT,), budget_store=store, evaluation_timeout=1.0)
    judge = Paid(time.monotonic_ns())
    budgets = build_budgets(settings, paid=[judge.name])
    assert budgets is not None
    budgets._expires_s = 2.0  # a minute is too long for a test
    pipeline = Pipeline(conventions=(), sampler=RatioSampler(1.0), evaluators=(judge,), budgets=budgets)
    rng, until, refused = random.Random(), time.monotonic() + seconds, 0

    async def work() -> None:
        nonlocal refused
        while time.monotonic() < until and refused < 200:
            target = SpanRef(trace_id=f"{rng.getrandbits(128):032x}", span_id="1" * 16)
            chunk = Chunk(id="1", text="text " * 100, position=0)
            trace = RagTrace(target=target, question="question", chunks=(chunk,), response="answer")
            decision, reason = await pipeline.admit(trace, pipeline.decide(target))
            if reason is not None:
                refused += 1
                if hold:
                    break
                await asyncio.sleep(0.2)  # 200 refusals last longer than the reservations of a process that was killed
            elif not hold:
                await pipeline.evaluate(trace, decision)

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    print(f"{judge.spent:.6f} {refused}", flush=True)
    if hold:
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), sys.argv[3:] == ["hold"]))
