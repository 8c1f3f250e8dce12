"""The figures of `rag-otel traces plan`, and how they are shown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from rag_otel.budgets.expected_cost import expected_tokens, usd_of
from rag_otel.cli.terminal import table
from rag_otel.model import RagTrace, SamplingDecision, SamplingReason, Usage
from rag_otel.settings import Settings

_DAY_S: Final = 86_400.0
_HOUR_NS: Final = 3_600 * 10**9
_SHOWN: Final = 10


@dataclass(kw_only=True)
class BackfillPlan:
    """The counts of a plan so far."""

    paid: int
    """Metrics whose judge is a language model."""
    price: tuple[float, float]
    """Dollars for a million tokens in and out."""
    seconds: float
    """Length of the time that the traces come from."""
    traces: int = 0
    rag_traces: int = 0
    unevaluable: int = 0
    by_reason: Counter[str] = field(default_factory=Counter)
    by_rule: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    by_route: dict[str, list[float]] = field(default_factory=dict)
    """Route -> [traces, evaluated, dollars]."""
    by_hour: Counter[int] = field(default_factory=Counter)
    """Hour since the epoch -> billionths of a dollar."""
    evaluated: int = 0
    tokens: int = 0
    usd: float = 0.0

    def count(self, trace: RagTrace, decision: SamplingDecision, reason: str | None) -> Usage:
        """Adds a trace that was decided. Returns what its evaluation is expected to use."""
        self.rag_traces += 1
        if trace.unevaluable_reason is not None:
            self.unevaluable += 1
            return Usage()
        if decision.refused is not None:
            self.refused[decision.refused] += 1
        self.by_reason[decision.reason] += 1
        if decision.rule is not None and decision.reason in (SamplingReason.FORCED, SamplingReason.DROPPED):
            self.by_rule[decision.rule] += 1
        calls = 0 if reason is not None or decision.refused is not None else self.paid
        usage = self._usage(trace, calls)
        row = self.by_route.setdefault(trace.route or "-", [0, 0, 0.0])
        row[0] += 1
        if reason is None:
            self.evaluated += 1
            row[1] += 1
        row[2] += usage.cost_usd or 0.0
        self.usd += usage.cost_usd or 0.0
        self.tokens += usage.input_tokens + usage.output_tokens
        self.by_hour[trace.start_ns // _HOUR_NS] += round((usage.cost_usd or 0.0) * 1e9)
        return usage

    def _usage(self, trace: RagTrace, calls: int) -> Usage:
        """One call for each metric, with the whole text."""
        tokens = expected_tokens(calls * trace.characters, calls)
        cost = usd_of(tokens, self.price)
        return Usage(input_tokens=round(tokens[0]), output_tokens=round(tokens[1]), cost_usd=cost, calls=calls)


def figures(plan: BackfillPlan) -> dict[str, Any]:
    """The plan for a script. Money in dollars, over the whole time and for its busiest hour."""
    return {
        "seconds": plan.seconds,
        "traces": plan.traces,
        "rag_traces": plan.rag_traces,
        "unevaluable": plan.unevaluable,
        "by_reason": dict(plan.by_reason),
        "by_rule": dict(plan.by_rule),
        "refused": dict(plan.refused),
        "evaluated": plan.evaluated,
        "tokens": plan.tokens,
        "usd": plan.usd,
        "busiest_hour_usd": max(plan.by_hour.values(), default=0) / 1e9,
    }


def report(plan: BackfillPlan, settings: Settings) -> str:
    """The plan as lines of text."""
    days = plan.seconds / _DAY_S
    busiest = max(plan.by_hour.values(), default=0) / 1e9
    rows = [
        ["traces read", f"{plan.traces:,}", f"{days:.1f} days"],
        ["RAG traces", f"{plan.rag_traces:,}", ""],
        ["  cannot be evaluated", f"{plan.unevaluable:,}", ""],
        *(
            [f"  {reason}", f"{count:,}", _rules(plan) if reason == SamplingReason.FORCED else ""]
            for reason, count in plan.by_reason.most_common()
        ),
        ["would be evaluated", f"{plan.evaluated:,}", _share(plan.evaluated, plan.rag_traces)],
        ["tokens", f"{plan.tokens:,}", f"{plan.tokens / days:,.0f} a day" if days else ""],
        [
            "cost",
            f"${plan.usd:,.2f}",
            f"${plan.usd / days:,.2f} a day, ${30 * plan.usd / days:,.2f} a month" if days else "",
        ],
        ["busiest hour", f"${busiest:,.2f}", ""],
    ]
    lines = [table(rows)]
    lines += [f"  {count:,} refused: {why}" for why, count in plan.refused.most_common(_SHOWN)]
    routes = sorted(plan.by_route.items(), key=lambda each: -each[1][0])[:_SHOWN]
    shown = [[route, f"{row[0]:,.0f}", f"{row[1]:,.0f}", f"${row[2]:,.2f}"] for route, row in routes]
    lines.append(table([["route", "traces", "evaluated", "cost"], *shown]))
    if settings.judge.budgets:
        lines.append(f"budgets: {', '.join(settings.judge.budgets)}")
    lines.append("an estimate: one call for each metric, 4 characters to a token; real calls are counted in `Usage`")
    return "\n".join(lines)


def _rules(plan: BackfillPlan) -> str:
    return ", ".join(f"{count:,} {rule}" for rule, count in plan.by_rule.most_common(_SHOWN))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%} of all RAG traces" if whole else ""
