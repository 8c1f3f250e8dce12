"""The summary of a backfill: traces found, traces evaluated, and the cost or its estimate."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rag_otel.budgets.expected_cost import expected_tokens, usd_of
from rag_otel.cli.terminal import table
from rag_otel.pipeline import Pipeline
from rag_otel.writers.annotations import annotator_kind
from rag_otel_collectors.backfill.engine import Tally


def conclude(
    tally: Tally,
    pipeline: Pipeline,
    *,
    seconds: float,
    dry_run: bool = False,
    price: tuple[float, float] | None = None,
) -> str:
    """Returns the summary as lines of text. `price` is dollars per million input and output tokens; None: unknown."""
    rate = f"{tally.traces / seconds:,.0f} a second" if seconds > 0 else ""
    rows = [
        ["traces read", f"{tally.traces:,}", rate],
        ["RAG traces found", f"{tally.rag_traces:,}", ""],
        ["  cannot be evaluated", f"{tally.unevaluable.total():,}", _named(tally.unevaluable)],
        ["  not sampled", f"{tally.not_sampled:,}", ""],
        ["  already have scores", f"{tally.already:,}", ""],
    ]
    if dry_run:
        rows.append(["  would be evaluated", f"{tally.due:,}", _estimate(tally, pipeline, price)])
        return table(rows)
    rows.append(["  evaluated", f"{tally.evaluated:,}", _cost(tally)])
    if tally.failed:
        rows.append(["  failed evaluations", f"{tally.failed.total():,}", _named(tally.failed)])
    lines = [table(rows)]
    lines += [f"  mean {metric}: {total / count:.3f}" for metric, (count, total) in sorted(tally.scores.items())]
    if tally.out_of_budget:
        lines.append("  the budget is spent; run the same command again to continue")
    return "\n".join(lines)


def counts(tally: Tally) -> dict[str, Any]:
    """The summary for a script. `cost_usd` is null where a price is unknown."""
    return {
        "traces": tally.traces,
        "rag_traces": tally.rag_traces,
        "unevaluable": dict(tally.unevaluable),
        "not_sampled": tally.not_sampled,
        "already": tally.already,
        "due": tally.due,
        "evaluated": tally.evaluated,
        "failed": dict(tally.failed),
        "tokens": tally.tokens,
        "cost_usd": tally.cost_usd,
        "means": {metric: total / count for metric, (count, total) in sorted(tally.scores.items())},
        "out_of_budget": tally.out_of_budget,
    }


def _named(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def _cost(tally: Tally) -> str:
    if not tally.tokens:
        return ""
    return f"{tally.tokens:,} tokens, " + ("price unknown" if tally.cost_usd is None else f"${tally.cost_usd:.4f}")


def _estimate(tally: Tally, pipeline: Pipeline, price: tuple[float, float] | None) -> str:
    """A rough estimate of the cost: one call per evaluation by a language model, with the length of its text."""
    asked = [each for each in pipeline.evaluators if annotator_kind(each.judge_name) == "LLM"]
    if not asked:
        return "at no cost: no language model is called"
    share = len(asked) / len(pipeline.evaluators)
    into, out = expected_tokens(tally.characters * share, tally.due * len(asked))
    tokens = f"about {into / 1e6:,.2f} million input and {out / 1e6:,.2f} million output tokens"
    if price is None:
        return f"{tokens}; the judge's price is unknown: give --price IN,OUT"
    return f"{tokens}, about ${usd_of((into, out), price):,.2f}"
