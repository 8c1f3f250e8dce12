"""The summary of a backfill: what was found, what was evaluated, what it cost or would cost."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rag_otel.cli.terminal import table
from rag_otel.pipeline import Pipeline
from rag_otel.writers.feedback import annotator_kind
from rag_otel_collectors.backfill.engine import Tally

CHARACTERS_PER_TOKEN: Final = 4.0
"""Of English text, approximately."""
PROMPT_TOKENS: Final = 900
"""Input tokens of a call of a language model, without the text that is judged."""
ANSWER_TOKENS: Final = 220
"""Output tokens for one answer. Both: faithfulness over examples/data, measured by benchmarks/judge_tokens.py."""


def conclude(
    tally: Tally,
    pipeline: Pipeline,
    *,
    seconds: float,
    dry_run: bool = False,
    price: tuple[float, float] | None = None,
) -> str:
    """The summary as lines of text. `price`: dollars per million tokens in and out; None: the known prices."""
    rate = f"{tally.traces / seconds:,.0f} a second" if seconds > 0 else ""
    rows = [
        ["traces read", f"{tally.traces:,}", rate],
        ["questions with a retrieval in them", f"{tally.rag_traces:,}", ""],
        ["  cannot be evaluated", f"{tally.unevaluable.total():,}", _named(tally.unevaluable)],
        ["  left out by sampling", f"{tally.not_sampled:,}", ""],
        ["  have their scores already", f"{tally.already:,}", ""],
    ]
    if dry_run:
        rows.append(["  would be evaluated", f"{tally.due:,}", _estimate(tally, pipeline, price)])
        return table(rows)
    rows.append(["  evaluated", f"{tally.evaluated:,}", _cost(tally)])
    if tally.failed:
        rows.append(["  evaluations that failed", f"{tally.failed.total():,}", _named(tally.failed)])
    lines = [table(rows)]
    lines += [f"  mean {metric}: {total / count:.3f}" for metric, (count, total) in sorted(tally.scores.items())]
    if tally.out_of_budget:
        lines.append("  the budget is spent; the same command goes on from here")
    return "\n".join(lines)


def _named(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def _cost(tally: Tally) -> str:
    if not tally.tokens:
        return ""
    return f"{tally.tokens:,} tokens, " + ("price unknown" if tally.cost_usd is None else f"${tally.cost_usd:.4f}")


def _estimate(tally: Tally, pipeline: Pipeline, price: tuple[float, float] | None) -> str:
    """A rough estimate: one call for each evaluation by a language model, at the length of its text."""
    asked = [each for each in pipeline.evaluators if annotator_kind(each.judge_name) == "LLM"]
    if not asked:
        return "at no cost: no language model is asked"
    share = len(asked) / len(pipeline.evaluators)
    calls = tally.due * len(asked)
    into = tally.characters * share / CHARACTERS_PER_TOKEN + calls * PROMPT_TOKENS
    out = calls * ANSWER_TOKENS
    tokens = f"about {into / 1e6:,.2f} million tokens in and {out / 1e6:,.2f} million out"
    prices = price or _known_price(asked[0].judge_name)
    if prices is None:
        return f"{tokens}; the judge's price is unknown, give --price IN,OUT"
    return f"{tokens}, about ${(into * prices[0] + out * prices[1]) / 1e6:,.2f}"


def _known_price(model: str) -> tuple[float, float] | None:
    from rag_otel_evaluators.judges.llm import token_prices

    return token_prices(model)
