"""A process that evaluates as fast as it can within a shared budget, and says what it has spent: for tests.

    python -m tests.budgets.spending_process STORE SECONDS [hold | bill FILE NOON]

With `hold` it reserves everything that it can and waits to be killed. With `bill` every call is written to the file
when it is paid, and the clock jumps by up to a minute every few calls, around `NOON` (seconds since the epoch).
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time

from rag_otel.budgets.build import build_budgets
from rag_otel.budgets.sqlite_ledger import SqliteLedger
from rag_otel.model import Chunk, Evaluation, RagTrace, SpanRef, Usage
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.amount import RatioSampler
from rag_otel.settings import Settings
from rag_otel.settings.groups import JudgeSettings

CONCURRENCY = 8
MOST_USD = 0.004
LIMIT = "1 usd/day"


class Paid:
    """A judge whose calls cost up to $0.004, not what was expected, and sometimes fail after they were paid for."""

    name = "faithfulness"
    version = "1"
    judge_name = "openai/gpt-4o-mini"

    def __init__(self, seed: int, bill: int | None) -> None:
        """`bill`: a file's descriptor."""
        self.rng = random.Random(seed)
        self.spent = 0.0
        self.bill = bill

    async def evaluate(self, **given: object) -> Evaluation:
        cost = self.rng.uniform(0, MOST_USD)
        if self.bill is not None:
            os.write(self.bill, f"{cost:.9f}\n".encode())  # one line, whole, whenever the process dies
        await asyncio.sleep(0.001)
        self.spent += cost
        return Evaluation(
            name=self.name, score=1.0, usage=Usage(input_tokens=500, output_tokens=50, cost_usd=cost, calls=1)
        )


class JumpingClock:
    """Goes on from noon, and jumps by up to a minute now and then."""

    def __init__(self, noon: float) -> None:
        self.noon, self.began, self.jump, self.asked = noon, time.monotonic(), 0.0, 0

    def __call__(self) -> float:
        self.asked += 1
        if self.asked % 20 == 0:
            self.jump = random.uniform(-60, 60)
        return self.noon + time.monotonic() - self.began + self.jump


async def main(store: str, seconds: float, hold: bool, bill: str | None, noon: float) -> None:
    settings = Settings(judge=JudgeSettings(budgets=(LIMIT,), budget_store=store, timeout=1.0))
    judge = Paid(time.monotonic_ns(), None if bill is None else os.open(bill, os.O_APPEND | os.O_WRONLY))
    budgets = build_budgets(settings, paid=[judge.name])
    assert budgets is not None
    budgets._expires_s = budgets._wait_s = 2.0  # a minute is too long for a test
    if bill is not None:
        assert isinstance(budgets.ledger, SqliteLedger)
        budgets.ledger._clock = JumpingClock(noon)
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
    more = sys.argv[3:]
    bill, noon = (more[1], float(more[2])) if more[:1] == ["bill"] else (None, 0.0)
    asyncio.run(main(sys.argv[1], float(sys.argv[2]), more == ["hold"], bill, noon))
