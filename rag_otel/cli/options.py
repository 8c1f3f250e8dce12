"""Options that several commands share: where Phoenix is and which of its traces, who judges and for how much.

`settings_of` makes settings of them, whichever of them a command has.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.chunk_texts import ChunkTexts
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.amount import RatioSampler
from rag_otel.settings import Settings, resolve
from rag_otel.writers.annotations import annotator_kind
from rag_otel_collectors.conventions import default_conventions

if TYPE_CHECKING:
    from rag_otel_evaluators.judges.config import JudgeConfig

_ABOVE_0: Final = ("budget", "budget_usd", "concurrency", "workers", "every", "below", "count")
"""Numbers that make no sense at 0."""
_NOWHERE: Final = "http://127.0.0.1:9/v1"
_SETTINGS: Final = {
    "project": "project_name",
    "phoenix_endpoint": "phoenix_endpoint",
    "metrics": "metrics",
    "judge": "judge",
    "mapping": "attribute_mapping",
    "chunk_resolver": "chunk_resolver",
    "sample_ratio": "sample_ratio",
}
"""Option -> setting."""


def phoenix_options(
    parser: argparse.ArgumentParser, *, times: bool = True, since: str | None = None, until: str | None = None
) -> None:
    """Address, project and, with `times`, the traces' start; `since` and `until` are defaults."""
    phoenix = parser.add_argument_group("Phoenix")
    phoenix.add_argument("--project", metavar="NAME", help="Phoenix project (default: from the settings)")
    phoenix.add_argument("--phoenix-endpoint", metavar="URL", help="Phoenix's address (default: from the settings)")
    if times:
        default = "" if since is None else f" (default: {since})"
        phoenix.add_argument(
            "--since",
            metavar="WHEN",
            default=since,
            help=f"only traces that started since then: 7d, 12h, 2026-05-01T12:00{default}",
        )
        default = "" if until is None else f" (default: {until} ago)"
        phoenix.add_argument("--until", metavar="WHEN", default=until, help=f"only traces that started before{default}")


def reading_options(parser: argparse.ArgumentParser, *, resolver: bool = True) -> None:
    """How spans of one's own are read."""
    parser.add_argument("--mapping", metavar="FILE", help="custom attribute names: a JSON or TOML file, or JSON text")
    if resolver:
        parser.add_argument(
            "--chunk-resolver", metavar="MODULE:FUNCTION", help="function that fetches the texts of chunks by their ids"
        )


def judge_options(
    parser: argparse.ArgumentParser,
    *,
    metrics: bool = True,
    server: bool = False,
    limits: bool = True,
    price: bool = False,
) -> argparse._ArgumentGroup:
    """Who judges what; with `server` where it is and how it is asked; with `limits` for how much; with `price` for how
    much a model asks. Returns the group, for options of one command alone."""
    judge = parser.add_argument_group("judge")
    judge.add_argument("--judge", help="the judge: embedded (the default), openai/gpt-4o-mini, hhem, local/DIR, ...")
    if metrics:
        judge.add_argument("--metrics", help="comma-separated names (default: faithfulness)")
    if server:
        judge.add_argument("--api-base", metavar="URL", help="address of the judge's server (default: the provider's)")
        judge.add_argument(
            "--strategy",
            choices=("single", "two_step", "classifier"),
            help="single (the default): the model judges in one call; two_step: in two calls; classifier: the model "
            "writes statements and a classifier judges them",
        )
    if limits:
        judge.add_argument(
            "--budget", type=int, metavar="N", help="stop after N evaluations (one per metric and answer)"
        )
        judge.add_argument(
            "--concurrency", type=int, default=16, metavar="N", help="answers evaluated at once (default: 16)"
        )
    if limits or server:
        judge.add_argument(
            "--budget-usd", type=float, metavar="DOLLARS", help="stop when the judges have cost this much"
        )
    if price:
        judge.add_argument(
            "--price",
            metavar="IN,OUT",
            type=_price,
            help="the judge's price in dollars per million tokens, for estimates",
        )
    return judge


def json_option(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON, and nothing else")


def settings_of(arguments: argparse.Namespace, **more: Any) -> Settings:
    """The settings with these options and `more` of them, without a cap: a command is limited by its budget.

    Raises ConfigurationError.
    """
    check_numbers(arguments)
    given = {setting: getattr(arguments, option, None) for option, setting in _SETTINGS.items()}
    settings = resolve({**given, **more, "evaluations_per_minute": math.inf}).settings
    if isinstance(settings.spans.chunk_resolver, str):
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` does: the resolver is in a module of the user
    return settings


def reading_pipeline(settings: Settings, texts: ChunkTexts | None = None) -> Pipeline:
    """What reads traces as they are evaluated, and evaluates none."""
    conventions = default_conventions(
        mapping=settings.spans.attribute_mapping,
        recover_chunks=texts is None,
        conversation=settings.spans.conversation_context,
    )
    return Pipeline(conventions=conventions, sampler=RatioSampler(1.0), evaluators=(), texts=texts)


def asking_nobody(settings: Settings) -> Settings:
    """For a command that only counts: the same judge, that needs no key because nothing is sent to it."""
    base = settings.judge.api_base or _NOWHERE
    return dataclasses.replace(settings, judge=dataclasses.replace(settings.judge, api_base=base))


def price_of(settings: Settings, arguments: argparse.Namespace) -> tuple[float, float] | None:
    """Dollars for a million tokens in and out: those of `--price`, else those that are known; None where none are."""
    from rag_otel_evaluators.build import price_of_judge

    given: tuple[float, float] | None = arguments.price
    if given is not None or annotator_kind(settings.judge.model) != "LLM":
        return given
    return price_of_judge(settings.judge.model)


def require_price_of_budget(usd: float | None, judge: JudgeConfig, option: str = "--budget-usd") -> None:
    """A budget in dollars can be kept only where the price is known. Raises ConfigurationError."""
    if usd is not None and annotator_kind(judge.model) == "LLM":
        from rag_otel_evaluators.build import require_price

        require_price(judge, option)


def check_numbers(arguments: argparse.Namespace) -> None:
    """Raises ConfigurationError for a number of 0 or below where one above 0 is meant."""
    for name in _ABOVE_0:
        value = getattr(arguments, name, None)
        if isinstance(value, int | float) and value <= 0:
            raise ConfigurationError(f"--{name.replace('_', '-')} must be above 0, not {value}")


def _price(text: str) -> tuple[float, float]:
    into, _, out = text.partition(",")
    return float(into), float(out)
