"""Reserves what an evaluation will probably cost before it begins, and settles what it has cost."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import math
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from typing import Final, ParamSpec, TypeVar

from rag_otel.budgets.budget_limit import BudgetLimit, Unit
from rag_otel.budgets.expected_cost import AskPrice, ExpectedCost
from rag_otel.budgets.ledger import Entry, Ledger, Line
from rag_otel.errors import LedgerError
from rag_otel.evaluation.current_evaluation import add_usage
from rag_otel.model import Evaluation, RagTrace, ReasonCode, SamplingDecision, SamplingReason, Usage
from rag_otel.safety.fork import ForkSafeLock
from rag_otel.safety.guard import counters, logger

P = ParamSpec("P")
T = TypeVar("T")
ALL: Final = "all"
COIN: Final = "coin"
FORCED: Final = "forced"
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
"""How often is looked whether evaluations under way have given back what they did not use."""
_REFUSED: Final = "!refused"
"""End of the name of an account that counts refusals of another one."""
_NOTE_EVERY_S: Final = 60.0
_MAX_NOTED: Final = 1_000
_TENANT: Final = "tenant"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """What an evaluation has reserved."""

    name: str
    limits: tuple[BudgetLimit, ...]
    """One for each entry."""
    entries: tuple[Entry, ...]
    characters: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What was spent of one share of a limit in its present window."""

    limit: BudgetLimit
    scope: str
    tenant: str | None
    share: str
    """`all`, `coin` or `forced`."""
    of: int
    """The share's amount, in the limit's whole units."""
    spent: float
    refused: bool
    """True if a call was refused: what is left was too little for it."""


class Budgets:
    """All limits of a deployment. With a sampling policy each limit is divided: the coin's share, and the rest for
    forced traces, so that forced traces never use what the coin's rate was computed from.

    If the ledger cannot be reached, or a price is unknown under a limit in dollars, nothing that may cost money is
    evaluated, and the span says why: a budget that is not kept is worse than an answer that is not judged.
    """

    def __init__(
        self,
        limits: Sequence[BudgetLimit],
        ledger: Ledger,
        *,
        paid: Collection[str] = (),
        coin_share: float | None = None,
        expires_s: float = 120.0,
        wait_s: float | None = None,
        judge: str = "",
        ask_price: AskPrice | None = None,
    ) -> None:
        """`paid`: names of the metrics whose judge may cost money; the others never reserve dollars or tokens.
        `coin_share`: 0..1, with a policy; None without one. `expires_s`: when a reservation that nobody settled is
        given back; must be longer than any evaluation takes. `wait_s`: how long to wait for what is only reserved by
        others; None: `expires_s`. `ask_price`: the price of `judge`, asked before the first
        reservation in dollars; None: it is known after the first evaluation, which the others wait for."""
        self.limits = tuple(limits)
        self.ledger = ledger
        self._paid = frozenset(paid)
        self._coin_share = coin_share
        self._expires_s = expires_s
        self._wait_s = expires_s if wait_s is None else wait_s
        self._expected = ExpectedCost(ask_price)
        self._lock = ForkSafeLock()
        self._unpriced: str | None = None
        self._judge = judge
        self._noted: dict[str, float] = {}
        """Scope -> when a refusal was last written down, in `time.monotonic` seconds."""
        self._accounts = (ALL,) if coin_share is None else (COIN, FORCED)

    async def admit(
        self, trace: RagTrace, decision: SamplingDecision, metrics: Collection[str]
    ) -> tuple[SamplingDecision, Lease | None]:
        """The decision on a sampled trace, and what was reserved for it. `metrics` are those to evaluate.

        A forced trace that the budget of forced traces refuses is left to the coin. Where only a part of the metrics
        costs money, the others are evaluated all the same. While the coin's share is spent, what is evaluated is no
        part of the sample: forced traces alone do not stand for the others.
        """
        refused: str | None = None
        for candidate, account in self._candidates(decision):
            lease, refused = await self._reserve(trace, account, metrics)
            if lease is not None:
                if account == FORCED and await self._coin_is_spent(trace, metrics):
                    candidate = dataclasses.replace(candidate, reason=SamplingReason.EXTRA)
                return candidate, lease
        counters.add("budget.refused")
        free = tuple(name for name in metrics if name not in self._paid)
        if free and len(free) < len(metrics) and not self._counts_evaluations(refused):
            if self._coin_share is not None and await self._coin_is_spent(trace, metrics):
                decision = dataclasses.replace(decision, reason=SamplingReason.EXTRA)
            return dataclasses.replace(decision, evaluators=free, refused=refused), None
        skipped = dataclasses.replace(decision, sampled=False, reason=SamplingReason.BUDGET, refused=refused)
        return skipped, None

    async def settle(
        self, lease: Lease, evaluations: Sequence[Evaluation] | None, metered: Usage | None = None
    ) -> None:
        """Books what the evaluations have cost; if they did not finish (None), what was `metered` until then. One that
        ran out of time is booked with what was reserved for it, because its call may be on the bill.

        Never raises: what cannot be booked stays reserved until it expires.
        """
        usage = metered if evaluations is None else _total([each.usage for each in evaluations])
        if usage is not None:
            self._expected.learn(lease.characters, usage)
            if usage.calls and usage.cost_usd is None and any(each.unit is Unit.USD for each in lease.limits):
                self._tell_unpriced(", ".join(sorted({each.judge for each in evaluations or ()})))
        self._expected.is_over(lease.name, settled=True)
        if not lease.entries:
            return
        paid = [each for each in evaluations or () if each.name in self._paid]
        silent = sum(each.reason_code == ReasonCode.TIMEOUT and not _calls(each) for each in paid) / max(1, len(paid))
        pairs = zip(lease.limits, lease.entries, strict=True)
        spent = [self._spent(limit, usage or Usage(), entry.amount, silent) for limit, entry in pairs]
        try:
            await self._booked(self.ledger.settle, lease.name, lease.entries, spent)
        except LedgerError as error:
            _tell_unreachable(error)

    def allowance(self, window_s: float) -> float | None:
        """Evaluations that the coin's share can pay for in the next `window_s` seconds, if what is left is spread
        evenly. None: no limit, or none that is known."""
        allowed = math.inf
        for limit in () if self._coin_share is None else self.limits:
            if limit.tenant is not None:
                continue
            try:
                left = self.ledger.balance(f"{limit.scope(None)}/{COIN}", limit.window_s)
            except LedgerError as error:
                _tell_unreachable(error)
                continue
            cost = max(1, limit.units(self._expected.amount(limit.unit, metrics=max(1, len(self._paid)))))
            portions = max(1.0, left.left_s / window_s)
            room = max(0, self._share(limit, COIN) - left.spent - left.reserved)
            allowed = min(allowed, room / cost / portions)
        return None if math.isinf(allowed) else allowed

    def spending(self) -> list[Spending]:
        """What was spent of every limit in its present hour or day, per tenant and share. Raises LedgerError."""
        found = []
        for window_s in sorted({limit.window_s for limit in self.limits}):
            accounts = self.ledger.spending(window_s)
            for scope, spent in accounts.items():
                account, share = scope.rpartition("/")[::2]
                tenant = account.partition("/tenant=")[2] or None
                for limit in self.limits:
                    if limit.window_s == window_s and limit.scope(tenant) == account and share in self._accounts:
                        of = self._share(limit, share)
                        found.append(
                            Spending(
                                limit=limit,
                                scope=scope,
                                tenant=tenant,
                                share=share,
                                of=of,
                                spent=spent,
                                refused=f"{scope}{_REFUSED}" in accounts,
                            )
                        )
        return found

    # --- reserving ---------------------------------------------------------------------------------------------------

    def _candidates(self, decision: SamplingDecision) -> list[tuple[SamplingDecision, str]]:
        """The decision for each account that may pay, the first one that can counts."""
        if self._coin_share is None:
            return [(decision, ALL)]
        if decision.reason != SamplingReason.FORCED:
            return [(decision, COIN)]
        if not decision.coin or decision.rate is None:
            return [(decision, FORCED)]
        # The probability of what follows is the coin's, whatever rule the trace matched: the budget of forced traces
        # was spent before this one came.
        by_coin = dataclasses.replace(
            decision, reason=SamplingReason.RATIO, probability=decision.rate * decision.probability
        )
        return [(decision, FORCED), (by_coin, COIN)]

    async def _reserve(self, trace: RagTrace, account: str, metrics: Collection[str]) -> tuple[Lease | None, str]:
        """What was reserved, or why nothing was. Where only what is reserved for others is in the way, their
        settlements are waited for: most of them cost less than was reserved."""
        name, share = uuid.uuid4().hex, "" if account == ALL else f" (share of {account} traces)"
        in_dollars = next((limit for limit, _ in self._due(trace, account, metrics) if limit.unit is Unit.USD), None)
        until, pause_s = time.monotonic() + self._wait_s, _FIRST_PAUSE_S
        if in_dollars is not None and not await self._expected.know_price():
            self._tell_unpriced(self._judge)
        while True:
            if in_dollars is not None and self._unpriced is not None:
                why = f"the price of judge {self._unpriced!r} is unknown"
                return None, f"the budget of {in_dollars} cannot be kept: {why}"
            refused: BudgetLimit | None = None
            if in_dollars is None or self._expected.may_begin(name, self._expires_s):
                due = self._due(trace, account, metrics)
                limits, lines = tuple(limit for limit, _ in due), [line for _, line in due]
                try:
                    booked = await self._booked(self.ledger.reserve, name, lines, self._expires_s) if lines else []
                    is_spent = isinstance(booked, int) and await self._is_spent(lines[booked])
                except LedgerError as error:
                    self._expected.is_over(name, settled=False)
                    _tell_unreachable(error)
                    return None, f"the budget of {limits[0]} cannot be checked: its ledger cannot be reached"
                if not isinstance(booked, int):
                    return Lease(name=name, limits=limits, entries=tuple(booked), characters=trace.characters), ""
                self._expected.is_over(name, settled=False)
                refused = limits[booked]
                if is_spent:
                    await self._note_refusal(lines[booked])
                    return None, f"the budget of {refused} is spent{share}"
            if time.monotonic() + pause_s >= until:
                return None, f"the budget of {refused or in_dollars} is reserved by evaluations under way{share}"
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _due(self, trace: RagTrace, account: str, metrics: Collection[str]) -> list[tuple[BudgetLimit, Line]]:
        """The limits that the trace needs room in, and what it needs there."""
        paid = [name for name in metrics if name in self._paid]
        due = []
        for limit in self.limits:
            scope = limit.scope(trace.tags.get(_TENANT))
            if scope is None or (limit.unit is not Unit.EVALUATIONS and not paid):
                continue
            amount = limit.units(self._expected.amount(limit.unit, characters=trace.characters, metrics=len(paid)))
            line = Line(
                scope=f"{scope}/{account}",
                window_s=limit.window_s,
                amount=max(1, amount),
                limit=self._share(limit, account),
            )
            due.append((limit, line))
        return due

    async def _is_spent(self, line: Line) -> bool:
        """Whether the line has no room also when all that is reserved is given back. Raises LedgerError."""
        balance = await self._booked(self.ledger.balance, line.scope, line.window_s)
        # Of evaluations nothing is given back: one is reserved, and one will be spent.
        certain = balance.spent + (balance.reserved if line.scope.startswith(Unit.EVALUATIONS) else 0)
        return line.limit <= 0 or certain + min(line.amount, line.limit) > line.limit

    async def _coin_is_spent(self, trace: RagTrace, metrics: Collection[str]) -> bool:
        """Whether the coin's share has no room for a trace like this one now."""
        try:
            return any([await self._is_spent(line) for _, line in self._due(trace, COIN, metrics)])
        except LedgerError as error:
            _tell_unreachable(error)
            return True

    async def _booked(self, book: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Books on another thread, if the ledger may block."""
        return await asyncio.to_thread(book, *args, **kwargs) if self.ledger.blocks else book(*args, **kwargs)

    async def _note_refusal(self, line: Line) -> None:
        """Writes down for all processes that the account refused a call, at most once a minute."""
        with self._lock:
            noted = self._noted.get(line.scope)
            if noted is not None and time.monotonic() - noted < _NOTE_EVERY_S:
                return
            if len(self._noted) >= _MAX_NOTED:
                self._noted.clear()
            self._noted[line.scope] = time.monotonic()
        name = uuid.uuid4().hex
        refusals = Line(scope=f"{line.scope}{_REFUSED}", window_s=line.window_s, amount=1, limit=2**50)
        with contextlib.suppress(LedgerError):
            if isinstance(booked := await self._booked(self.ledger.reserve, name, [refusals], 60.0), list):
                await self._booked(self.ledger.settle, name, booked, [1])

    def _share(self, limit: BudgetLimit, account: str) -> int:
        share = {ALL: 1.0, COIN: self._coin_share or 0.0, FORCED: 1.0 - (self._coin_share or 0.0)}[account]
        return math.ceil(limit.units(limit.amount) * share - 1e-6)

    def _spent(self, limit: BudgetLimit, usage: Usage, reserved: float, silent: float) -> float:
        """What is booked: what was used, or what was reserved, for calls of which nobody knows what they used.

        `silent`: share of the evaluations, 0..1, that ran out of time without an answer.
        """
        if limit.unit is Unit.EVALUATIONS:
            return 1
        tokens = usage.input_tokens + usage.output_tokens
        used = tokens or None if limit.unit is Unit.TOKENS else usage.cost_usd
        known = limit.units(used) if used is not None else reserved if usage.calls else 0
        return min(known + silent * reserved, max(known, reserved)) if silent else known

    def _counts_evaluations(self, refused: str | None) -> bool:
        return any(each.unit is Unit.EVALUATIONS and str(each) in (refused or "") for each in self.limits)

    def _tell_unpriced(self, judge: str) -> None:
        if self._unpriced is None:
            self._unpriced = judge
            logger.warning(
                "rag-otel: nothing more is judged by %r: the budget is in US dollars and the judge's price is unknown; "
                "limit tokens or evaluations, or use a judge whose price is known",
                judge,
            )


def _calls(evaluation: Evaluation) -> int:
    return 0 if evaluation.usage is None else evaluation.usage.calls


def _total(usages: Sequence[Usage | None]) -> Usage:
    return functools.reduce(add_usage, usages, Usage())


def _tell_unreachable(error: LedgerError) -> None:
    if counters.add("budget.ledger_unreachable") == 1:
        logger.warning("rag-otel: what judges have spent cannot be booked: %s", error)
