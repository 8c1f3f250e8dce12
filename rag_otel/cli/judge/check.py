"""`rag-otel judge check`: runs the contrast benchmark on a judge, and says whether its verdicts are worth an alarm."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from rag_otel.cli.options import json_option, judge_options, require_price_of_budget
from rag_otel.cli.terminal import CommandResult, progress, table, write_file
from rag_otel.errors import ConfigurationError, InputError
from rag_otel.model import ReasonCode
from rag_otel.protocols import Evaluator
from rag_otel.settings.judge_names import EMBEDDED
from rag_otel_evaluators.build import build_evaluators, rows_at_once
from rag_otel_evaluators.contrast.agreement import (
    Expense,
    Paging,
    PairAgreement,
    Share,
    agreement,
    agreement_by,
    calibration_error,
    expense,
    paging,
)
from rag_otel_evaluators.contrast.pairs import JudgedPair, Pair, choose, judge_pairs, load_pairs
from rag_otel_evaluators.contrast.stress import Steady, steady, stressed
from rag_otel_evaluators.judges.config import EvaluatorsConfig, checked
from rag_otel_evaluators.llm.failures import FailureKind

_FIRST_ANSWER_S: Final = 10.0
"""Enough for several refused connections. A judge that is slower is asked again with the others."""
_ABOUT: Final = """Two answers to one question differ in one point; one is faithful to its passages, the other is not.
The benchmark holds 919 such pairs of 22 phenomena in 5 languages, written for this and frozen. A language model is
asked about two answers a pair and costs what it costs: begin with --limit 100."""

_ABOUT_THE_COLUMNS: Final = (
    "agrees: answers with the right label. told apart: pairs whose unfaithful answer has the higher risk (chance: "
    ".50).\ncaught: unfaithful answers labelled so. false alarms: faithful answers labelled unfaithful.\n"
    "In brackets: 95%, over lists of passages."
)
_STRESSES: Final = {
    "order": "passages in another order",
    "hostile": "a passage that speaks to the judge",
    "end": "behind a long text",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Findings:
    """What was found of one judge."""

    judged: Sequence[JudgedPair]
    unreached: Sequence[JudgedPair]
    """Pairs that could not be put to the judge."""
    all: PairAgreement
    parts: Mapping[str, Sequence[tuple[str, PairAgreement]]]
    """By phenomenon and by language."""
    expense: Expense
    verdict: Paging
    stress: Mapping[str, Steady]
    calibration_error: float | None


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    judge = judge_options(parser, metrics=False, server=True, limits=False)
    judge.add_argument("--reading", choices=["strict", "lenient"], help="what counts as supported; default: strict")
    judge.add_argument("--samples", type=int, metavar="K", help="judge every claim K times; default: 1")
    judge.add_argument("--prompt-language", metavar="CODE", help="language of the prompts; default: en")
    parser.add_argument("--language", action="append", default=[], metavar="CODE", help="these pairs only (repeat it)")
    parser.add_argument("--phenomenon", action="append", default=[], metavar="NAME", help="these only (repeat it)")
    parser.add_argument("--limit", type=int, metavar="PAIRS", help="a sample of so many, of every kind; default: all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample; default: 0")
    judge.add_argument("--concurrency", type=int, default=8, help="calls at once; default: 8")
    judge.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for one call; default: 60")
    parser.add_argument(
        "--prevalence",
        type=float,
        default=0.05,
        metavar="SHARE",
        help="share of unfaithful answers in your traffic, 0..1; default: 0.05",
    )
    parser.add_argument(
        "--stress",
        type=int,
        default=10,
        metavar="PAIRS",
        help="judge so many again with passages in another order, hostile text, a long text before them; default: 10",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="every figure as JSON")
    json_option(parser, "the same")


def run(arguments: argparse.Namespace) -> CommandResult:
    """Checks the judge; exit code 1 where its verdicts are not good enough to page on. Raises ConfigurationError, and
    InputError where no pair could be judged."""
    if not 0 < arguments.prevalence < 1 or (arguments.limit is not None and arguments.limit < 1):
        raise ConfigurationError("prevalence must be between 0 and 1, and limit at least 1")
    config, pairs = _config(arguments), _pairs(arguments)
    require_price_of_budget(arguments.budget_usd, config.judge)
    with ExitStack() as resources:
        (evaluator,) = build_evaluators(config, resources)
        judged = _first_judged(pairs[0], evaluator)
        rest, left_usd = pairs[len(judged) :], _left_usd(arguments, judged)
        running = judge_pairs(rest, evaluator, concurrency=rows_at_once(config), budget_usd=left_usd)
        judged += progress(running, total=len(rest), description="judging")
    spent, unreached = expense(judged), [each for each in judged if each.obstacle is not None]
    left_usd = _left_usd(arguments, judged)
    judged = [each for each in judged if each.obstacle is None]
    if not judged:
        raise InputError(f"no pair could be judged, so there is nothing to measure: {unreached[0].obstacle}")
    found = Findings(
        judged=judged,
        unreached=unreached,
        all=agreement(judged),
        parts={
            "phenomenon": agreement_by(judged, lambda one: one.pair.phenomenon),
            "language": agreement_by(judged, lambda one: one.pair.language),
        },
        expense=spent,
        verdict=paging(agreement(judged), prevalence=arguments.prevalence, not_judged=len(unreached)),
        stress=_under_stress(judged, evaluator, arguments.stress, rows_at_once(config), left_usd),
        calibration_error=calibration_error(judged),
    )
    data = _as_data(found, evaluator)
    if arguments.output is not None:
        text = json.dumps(data, ensure_ascii=False, indent=2)
        write_file(arguments.output, f"{text}\n", option="output")
    return CommandResult(
        text="\n\n".join(_parts(found, evaluator)), data=data, code=0 if found.verdict.good_enough else 1
    )


def _config(arguments: argparse.Namespace) -> EvaluatorsConfig:
    given = {name: getattr(arguments, name) for name in ("api_base", "strategy", "reading", "samples", "timeout")}
    judge = {
        "model": arguments.judge or EMBEDDED,
        **{name: value for name, value in given.items() if value is not None},
    }
    values = {"judge": judge, "concurrency": arguments.concurrency, "language": arguments.prompt_language or "en"}
    return checked(EvaluatorsConfig, values, source="judge check")


def _pairs(arguments: argparse.Namespace) -> Sequence[Pair]:
    chosen = {"languages": arguments.language, "phenomena": arguments.phenomenon}
    pairs = choose(load_pairs(), **chosen, limit=arguments.limit, seed=arguments.seed)
    if not pairs:
        raise ConfigurationError("no pair is of both this language and this phenomenon")
    return pairs


def _left_usd(arguments: argparse.Namespace, judged: Sequence[JudgedPair]) -> float | None:
    if arguments.budget_usd is None:
        return None
    spent = (each.usage for one in judged for each in (one.faithful, one.unfaithful))
    return float(arguments.budget_usd) - sum(usage.cost_usd or 0.0 for usage in spent if usage is not None)


def _first_judged(pair: Pair, evaluator: Evaluator) -> list[JudgedPair]:
    """The first pair, before all others: a server that is not there would else be waited for, again and again.

    Empty where it failed in another way, which may be its own. Raises InputError.
    """
    (tried,) = judge_pairs([pair], evaluator, concurrency=1, timeout_s=_FIRST_ANSWER_S)
    if (tried.obstacle or "").startswith(f"{ReasonCode.JUDGE_ERROR}: {FailureKind.CONNECTION}:"):
        raise InputError(f"{evaluator.judge_name} cannot be reached: {tried.faithful.explanation}")
    return [] if tried.obstacle is not None else [tried]


def _parts(found: Findings, evaluator: Evaluator) -> Iterator[str]:
    """What is printed, with an empty line between each."""
    yield f"{evaluator.judge_name}, version {evaluator.version}, on {len(found.judged)} pairs of answers"
    if found.unreached:
        count = f"{len(found.unreached)} of {len(found.judged) + len(found.unreached)} pairs"
        yield f"{count} were not judged and are not below: {found.unreached[0].obstacle}"
    for name, rows in found.parts.items():
        yield _rows(name, [*rows, ("all", found.all)])
    yield _ABOUT_THE_COLUMNS
    yield "\n".join(_spent(found.expense))
    if steadiness := list(_steadiness(found)):
        yield "\n".join(steadiness)
    yield _conclusion(found.verdict)


def _rows(kind: str, rows: Sequence[tuple[str, PairAgreement]]) -> str:
    body = [
        [name, str(each.pairs), *(_shown(s) for s in (each.labels, each.ordered, each.caught, each.false_alarms))]
        for name, each in rows
    ]
    return table(body, header=[kind, "pairs", "agrees", "told apart", "caught", "false alarms"], indent="")


def _shown(share: Share) -> str:
    return f"{share.value:.2f} ({share.low:.2f}-{share.high:.2f})"


def _spent(spent: Expense) -> Iterator[str]:
    yield f"latency: {spent.median_s:.2f} s in the middle, {spent.slow_s:.2f} s at 95%"
    if spent.calls:
        cost = "of unknown cost" if spent.cost_usd is None else f"{1_000 * spent.cost_usd / spent.answers:.2f} USD"
        yield (
            f"calls: {spent.calls / spent.answers:.2f} an answer, {spent.most_calls} at most; "
            f"{spent.input_tokens / spent.answers:.0f} tokens in and {spent.output_tokens / spent.answers:.0f} out; "
            f"a thousand answers: {cost}"
        )
    reasons = ", ".join(f"{count} {reason}" for reason, count in spent.reasons)
    yield f"answers judged in part or not at all: {reasons or 'none'} (of {spent.answers})"


def _under_stress(
    judged: Sequence[JudgedPair], evaluator: Evaluator, count: int, at_once: int, left_usd: float | None
) -> dict[str, Steady]:
    """Some of the pairs again, under each stress; none where nothing is left to spend."""
    if count < 1 or (left_usd is not None and left_usd <= 0):
        return {}
    chosen = judged[:: max(1, len(judged) // count)][:count]
    made = stressed([one.pair for one in chosen], load_pairs())
    pairs = [pair for of_kind in made.values() for pair in of_kind]
    again = list(judge_pairs(pairs, evaluator, concurrency=at_once, budget_usd=left_usd))
    return {kind: steady(chosen, again[n * len(chosen) : (n + 1) * len(chosen)]) for n, kind in enumerate(made)}


def _steadiness(found: Findings) -> Iterator[str]:
    if found.calibration_error is not None:
        off = f"{found.calibration_error:.2f}"
        yield f"risks: {off} from the share of unfaithful answers, in the mean (ECE)"
    for kind, each in found.stress.items():
        yield (
            f"{_STRESSES[kind]}: {each.changed} of {each.answers} labels change, {each.believed} to believing a false "
            "answer"
        )


def _conclusion(verdict: Paging) -> str:
    low, high = verdict.precision
    expected = (
        f"Where {verdict.prevalence:.0%} of answers are unfaithful, and as hard to tell as these, "
        f"{low:.0%} to {high:.0%} of its alarms would be right."
    )
    if verdict.good_enough:
        return f"Good enough to page on. {expected}"
    return f"Not good enough to page on: {'; '.join(verdict.objections)}. {expected}"


def _as_data(found: Findings, evaluator: Evaluator) -> dict[str, Any]:
    return {
        "judge": found.judged[0].faithful.judge,
        "version": evaluator.version,
        "all": dataclasses.asdict(found.all),
        **{f"by_{name}": {kind: dataclasses.asdict(each) for kind, each in rows} for name, rows in found.parts.items()},
        "calibration_error": found.calibration_error,
        "stress": {kind: dataclasses.asdict(each) for kind, each in found.stress.items()},
        "expense": dataclasses.asdict(found.expense),
        "paging": {**dataclasses.asdict(found.verdict), "good_enough": found.verdict.good_enough},
    }
