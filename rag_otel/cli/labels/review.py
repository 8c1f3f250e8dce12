"""`rag-otel labels review`: puts the answers whose label teaches most into a queue in Phoenix."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any, Final

from rag_otel.cli.options import json_option, phoenix_options, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.terminal import CommandResult, progress
from rag_otel.errors import InputError
from rag_otel_collectors.stored.labels import LABELS, labels_in_phoenix, names_in
from rag_otel_collectors.stored.review_queue import put_into_queue, scored_answers
from rag_otel_evaluators.calibration.agreement import agreement
from rag_otel_evaluators.calibration.queue import COIN, MORE, Candidate, pick, worth

_ENOUGH: Final = 0.01
"""A smaller gain of the interval's half-width is not worth another round of labels."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=30, help="how many answers to pick (default: 30)")
    parser.add_argument("--metric", default="faithfulness", help="the metric whose results are reviewed")
    parser.add_argument(
        "--annotation", default=LABELS, metavar="A,B", help=f"names of people's annotations (default: {LABELS})"
    )
    parser.add_argument(
        "--coin", type=float, default=COIN, help=f"share picked from all answers alike (default: {COIN:g})"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be picked, change nothing")
    json_option(parser, "the picked answers")
    phoenix_options(parser)


def run(arguments: argparse.Namespace) -> CommandResult:
    """Puts answers into the queue. Raises ConfigurationError, InputError and the client's errors."""
    if not 0.0 < arguments.coin <= 1.0:
        raise InputError(f"--coin must be above 0 and at most 1, not {arguments.coin}")
    project, labels = phoenix_project(arguments, settings_of(arguments)), names_in(arguments.annotation)
    found = scored_answers(project, metric=arguments.metric, annotations=labels)
    answers = list(progress(found, description="reading"))
    if not answers:
        raise InputError(f"project {project.name!r} has no answer with a result of {arguments.metric}")
    open_ones = [each for each in answers if not each.labelled and not each.queued]
    candidates = [Candidate(key=each.span_id, risks=each.risks) for each in open_ones]
    picked = pick(candidates, count=arguments.count, coin=arguments.coin)
    if not arguments.dry_run:
        put_into_queue(project.client, [(each.key, each.probability, each.reason) for each in picked])
    reasons = Counter("at random" if each.reason == "coin" else each.reason for each in picked)
    why = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common()) or "none"
    what = "would be put" if arguments.dry_run else "are"
    unlabelled = " and ".join(f"not annotations['{name}']" for name in labels)
    lines = [
        f"{len(picked)} of {len(open_ones)} answers without a label {what} in the queue: {why}",
        f"In Phoenix filter for them: annotations['review'].label == 'queued' and {unlabelled}",
    ]
    if not arguments.json:
        labelled = labels_in_phoenix(project, metric=arguments.metric, annotations=labels)
        lines.append(_advice(list(labelled)))
    data = [{"span_id": each.key, "probability": each.probability, "reason": each.reason} for each in picked]
    return CommandResult(text="\n".join(lines), data=data)


def _advice(labels: list[Any]) -> str:
    """How much another round of labels would tell."""
    found = agreement(labels, threshold=0.5).auroc
    if not labels or found.value != found.value:
        return f"{len(labels)} labels so far: too few to say how well the judge agrees with people."
    now, then = worth(labels=len(labels), low=found.low, high=found.high)
    told = f"{len(labels)} labels so far, AUROC {found}. {MORE} more narrow the interval from ±{now:.2f} to ±{then:.2f}"
    return f"{told}: " + ("enough labels for now." if now - then < _ENOUGH else "worth it.")
