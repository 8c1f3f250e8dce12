"""Random schedules of evaluations by two processes with one SQLite file.

Judges pay and then answer, fail, hang or are cancelled; processes die, the ledger cannot be reached, the clock jumps.
Whatever is paid is booked once, and an account exceeds its limit by at most what calls under way cost more than they
had reserved.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_otel.budgets.budget_limit import BudgetLimit
from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.ledger import Entry, Line
from rag_otel.budgets.sqlite_ledger import SqliteLedger
from rag_otel.errors import LedgerError, RetryableError
from rag_otel.evaluation.current_evaluation import spend
from rag_otel.model import Evaluation, Usage
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.amount import RatioSampler
from tests.sampling.traces import a_trace

HOUR: Final = 3_600
LIMITS: Final = (20_000, 9_000)
"""Tokens an hour: of all, of each tenant."""
MOST: Final = 6_000
"""Tokens of one call. What is expected at first is a third of it."""
CONCURRENCY: Final = 4
EXPIRES_S: Final = 60.0

Step = tuple[str, int, int]
_BEGIN = st.tuples(
    st.sampled_from(["answers", "fails", "hangs"]),
    st.integers(0, 1),
    st.sampled_from([2_001, 2_001, 2_000, 500, 501, MOST, MOST - 1]),
)
"""What the call does, its process, its tokens. A tenant's calls have odd numbers of tokens."""
STEPS = st.one_of(
    _BEGIN,
    _BEGIN,
    _BEGIN,
    st.tuples(st.sampled_from(["finish", "cancel"]), st.integers(0, 7), st.just(0)),
    st.tuples(st.sampled_from(["die", "outage", "repair"]), st.integers(0, 1), st.just(0)),
    st.tuples(st.just("clock"), st.just(0), st.sampled_from([1, 61, 200, HOUR, -30, -200, -HOUR])),
)


@dataclass
class Call:
    """A call of a judge that was paid for."""

    process: int
    mode: str
    tokens: int
    entries: tuple[Entry, ...]
    latest: float
    """The latest time that the clock has shown since it began."""
    expires_at: float
    began: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[Any] | None = None
    booked: list[list[int]] = field(default_factory=list)
    lost: bool = False
    """The ledger could not be reached when it was to be booked."""


class Ledger(SqliteLedger):
    """A connection that can be cut, and that tells what was booked for which call."""

    def __init__(self, world: World) -> None:
        super().__init__(world.path, clock=lambda: world.now)
        self._world = world
        self.away = False

    def reserve(self, lease: str, lines: Sequence[Line], expires_s: float) -> list[Entry] | int:
        if self.away:
            raise LedgerError("away")
        return super().reserve(lease, lines, expires_s)

    def settle(self, lease: str, entries: Sequence[Entry], spent: Sequence[int]) -> None:
        call = self._world.by_lease.get(lease)  # None: the note of a refusal
        if self.away:
            if call is not None:
                call.lost = True
            raise LedgerError("away")
        super().settle(lease, entries, spent)
        if call is not None:
            call.booked.append(list(spent))


class Judge:
    """Pays first. Then it answers, fails or hangs, as the call says, when it is released."""

    name, version, judge_name = "paid", "1", "openai/m"
    call: Call

    async def evaluate(self, **given: Any) -> Evaluation:
        call = self.call
        usage = Usage(input_tokens=call.tokens, cost_usd=0.0, calls=1)
        spend(usage)
        call.began.set()
        await call.release.wait()
        if call.mode == "hangs":
            await asyncio.Event().wait()
        if call.mode == "fails":
            raise RetryableError("no answer after all")
        return Evaluation(name=self.name, score=1.0, usage=usage)


class World:
    """Two processes, their clock, and what was really paid."""

    def __init__(self, path: Path) -> None:
        self.path, self.now = path, 1_000_000.0 * HOUR
        self.by_lease: dict[str, Call] = {}
        self.under_way: list[Call] = []
        self.allowed: dict[str, int] = {}
        """Account -> the most that may be booked: its limit, and what calls under way cost more than was reserved."""
        self.processes = [self._start(), self._start()]

    def _start(self) -> Pipeline:
        limits = [BudgetLimit.parse(text.format(*LIMITS)) for text in ("{0} tokens/hour", "{1} tokens/hour/tenant")]
        # Nothing is waited for: the steps are taken one after the other, so that nobody would settle meanwhile.
        budgets = Budgets(limits, Ledger(self), paid=["paid"], expires_s=EXPIRES_S, wait_s=0.0)
        judges = (Judge(),)
        return Pipeline(conventions=(), sampler=RatioSampler(1.0), evaluators=judges, budgets=budgets, timeout_s=0.1)

    def ledger(self, process: int) -> Any:
        budgets = self.processes[process].budgets
        assert budgets is not None
        return budgets.ledger

    async def begin(self, mode: str, process: int, tokens: int) -> None:
        if sum(call.process == process for call in self.under_way) >= CONCURRENCY:
            return
        trace, pipeline = a_trace(tags={"tenant": ("acme", "other")[tokens % 2]}), self.processes[process]
        decision, reason = await pipeline.admit(trace, pipeline.decide(trace.target))
        if reason is not None:
            return
        call = Call(process, mode, tokens, decision.lease.entries, self.now, self.now + EXPIRES_S)
        for entry, limit in zip(call.entries, LIMITS, strict=True):
            self.allowed[entry.account] = limit  # the ledger has admitted it, so all before is within the limit
        self.by_lease[decision.lease.name] = call
        (judge,) = pipeline.evaluators
        judge.call = call  # type: ignore[attr-defined]
        call.task = asyncio.create_task(pipeline.evaluate(trace, decision))
        self.under_way.append(call)
        await call.began.wait()

    async def end(self, call: Call, *, cancel: bool = False) -> None:
        self.under_way.remove(call)
        assert call.task is not None
        call.release.set()
        if cancel:
            call.task.cancel()
        await asyncio.gather(call.task, return_exceptions=True)

    async def die(self, process: int) -> None:
        """The process is gone with its calls; another one takes its place."""
        self.ledger(process).away = True
        for call in [each for each in self.under_way if each.process == process]:
            await self.end(call, cancel=True)
        self.ledger(process).close()
        self.processes[process] = self._start()

    async def do(self, step: Step) -> None:
        what, number, amount = step
        if what in ("answers", "fails", "hangs"):
            await self.begin(what, number, amount)
        elif what in ("finish", "cancel") and number < len(self.under_way):
            await self.end(self.under_way[number], cancel=what == "cancel")
        elif what == "die":
            await self.die(number)
        elif what in ("outage", "repair"):
            self.ledger(number).away = what == "outage"
        elif what == "clock":
            self.now += amount
            for call in self.under_way:
                call.latest = max(call.latest, self.now)

    def check(self) -> None:
        """Of every account."""
        booked: Counter[str] = Counter()
        beyond: Counter[str] = Counter()
        for call in self.by_lease.values():
            for number, entry in enumerate(call.entries):
                covered = entry.amount if call.expires_at > call.latest else 0
                booked[entry.account] += sum(spent[number] for spent in call.booked)
                beyond[entry.account] += max(0, call.tokens - covered) if call.booked else 0
        for account, tokens in booked.items():
            assert tokens <= self.allowed[account] + beyond[account], account

    async def close(self) -> None:
        """Everything ends. What was paid and could be booked is in the books, once."""
        for process in (0, 1):
            self.ledger(process).away = False
        for call in list(self.under_way):
            await self.end(call)
        assert all(call.booked == [[call.tokens] * 2] for call in self.by_lease.values() if not call.lost)
        self.check()
        for process in (0, 1):
            self.ledger(process).close()


@settings(max_examples=20)
@example(schedule=[("answers", number % 2, 2_001) for number in range(8)])
@given(schedule=st.lists(STEPS, min_size=10, max_size=40))
async def test_no_overspend_beyond_the_calls_under_way(schedule: list[Step]) -> None:
    """Whatever happens, in whatever order. What a process had paid when it died was under way."""
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "budgets.sqlite")
        for step in schedule:
            await world.do(step)
            world.check()
        await world.close()


async def test_the_schedules_reach_the_limit(tmp_path: Path) -> None:
    """They would prove nothing if nothing was ever refused."""
    world = World(tmp_path / "budgets.sqlite")
    for tokens in (5_001, 5_001, 5_001, 5_000, 5_000, 5_000, 5_001):
        await world.do(("answers", 0, tokens))
        await world.do(("finish", 0, 0))
    assert [call.tokens for call in world.by_lease.values()] == [5_001, 5_000], "one call for each tenant"
    await world.close()
