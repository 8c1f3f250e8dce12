"""`rag-otel traces sessions`: scores of whole sessions, printed and written beside Phoenix's sessions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from rag_otel.cli.options import json_option, phoenix_options, reading_options, reading_pipeline, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.terminal import CommandResult, progress
from rag_otel.errors import InputError
from rag_otel_collectors.stored.answers import stored_answers
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_collectors.stored.sessions import SessionScore, session_annotations, session_scores

_BATCH: Final = 100
"""Sessions whose annotations are one request."""
_SHOWN: Final = 20
"""Sessions that are printed as text."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--metric", default="faithfulness", help="the metric whose scores are averaged")
    parser.add_argument("--dry-run", action="store_true", help="print the scores, write nothing")
    json_option(parser, "every session, the worst first,")
    reading_options(parser, resolver=False)
    phoenix_options(parser)


def run(arguments: argparse.Namespace) -> CommandResult:
    """Scores the sessions and annotates them. Raises ConfigurationError, InputError and the client's errors."""
    settings = settings_of(arguments)
    project = phoenix_project(arguments, settings)
    pipeline = reading_pipeline(settings)
    answers = stored_answers(project, arguments.metric, pipeline.rag_traces)
    sessions = session_scores(progress(answers, description="reading"), arguments.metric)
    if not sessions:
        raise InputError(
            f"project {project.name!r} has no answer with a session id: set `session.id` on the spans, "
            "or rag_otel.using(session_id=...)"
        )
    written = None if arguments.dry_run else _write(project, sessions)
    return CommandResult(
        text="\n".join(_lines(sessions, arguments.metric, written)), data=[session.row() for session in sessions]
    )


def _write(project: StoredProject, sessions: Sequence[SessionScore]) -> int:
    """Annotates the sessions that Phoenix knows. Returns how many.

    A session that began before `--since` keeps the annotations of an earlier run, which may have seen all of it.
    """
    wanted = {each.session_id: each for each in sessions if each.score is not None}
    rows = project.client.sessions(project.name) if wanted else ()
    known = [
        wanted[row["session_id"]]
        for row in rows
        if row["session_id"] in wanted and (project.since is None or _time(row["start_time"]) >= project.since)
    ]
    for start in range(0, len(known), _BATCH):
        batch = known[start : start + _BATCH]
        written = [row for each in batch for row in session_annotations(each)]
        project.client.annotate("session", written, wait=True)
    return len(known)


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _lines(sessions: Sequence[SessionScore], metric: str, written: int | None) -> Iterator[str]:
    yield f"{'session':<32}  {metric}  worst  evaluated"
    for each in sessions[:_SHOWN]:
        width = len(metric)
        counted = f"{each.evaluated} of {each.answers}"
        yield f"{each.session_id[:32]:<32}  {_number(each.score):>{width}}  {_number(each.worst):>5}  {counted}"
    if len(sessions) > _SHOWN:
        yield f"... and {len(sessions) - _SHOWN} more (--json prints all)"
    if written is not None:
        scored = sum(each.score is not None for each in sessions)
        yield f"{written} of {scored} sessions with a score annotated in Phoenix: {metric}, {metric}_worst"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
