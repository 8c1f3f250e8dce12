"""`rag-otel traces sessions`: scores of whole sessions, printed and written beside Phoenix's sessions."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from rag_otel.cli.options import json_option, phoenix_options, reading_options, settings_of
from rag_otel.cli.phoenix_access import phoenix_client, phoenix_errors, project_name, time_bounds
from rag_otel.cli.terminal import progress
from rag_otel.errors import InputError
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.ratio import RatioSampler
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.stored.answers import stored_answers
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
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


def run(arguments: argparse.Namespace) -> int:
    """Returns 0. Raises ConfigurationError or InputError (exit code 2)."""
    settings = settings_of(arguments)
    client, project = phoenix_client(settings), project_name(settings)
    conventions = default_conventions(mapping=settings.spans.attribute_mapping)
    pipeline = Pipeline(conventions=conventions, sampler=RatioSampler(1.0), evaluators=())
    bounds = time_bounds(arguments)
    with phoenix_errors(settings):
        answers = stored_answers(client, project, arguments.metric, pipeline.rag_traces, **bounds)
        sessions = session_scores(progress(answers, description="reading"), arguments.metric)
        if not sessions:
            raise InputError(
                f"project {project!r} has no answer with a session id: set `session.id` on the spans, "
                "or rag_otel.using(session_id=...)"
            )
        written = None if arguments.dry_run else _write(client, project, sessions, since=bounds.get("since"))
    if arguments.json:
        print(json.dumps([session.row() for session in sessions]))
    else:
        _print(sessions, arguments.metric, written)
    return 0


def _write(client: PhoenixClient, project: str, sessions: Sequence[SessionScore], *, since: datetime | None) -> int:
    """Annotates the sessions that Phoenix knows. Returns how many.

    A session that began before `since` keeps the annotations of an earlier run, which may have seen all of it.
    """
    wanted = {each.session_id: each for each in sessions if each.score is not None}
    rows = client.sessions(project) if wanted else ()
    known = [
        wanted[row["session_id"]]
        for row in rows
        if row["session_id"] in wanted and (since is None or _time(row["start_time"]) >= since)
    ]
    for start in range(0, len(known), _BATCH):
        batch = known[start : start + _BATCH]
        written = [row for each in batch for row in session_annotations(each)]
        client.annotate("session", written, wait=True)
    return len(known)


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _print(sessions: Sequence[SessionScore], metric: str, written: int | None) -> None:
    print(f"{'session':<32}  {metric}  worst  evaluated")
    for each in sessions[:_SHOWN]:
        width = len(metric)
        counted = f"{each.evaluated} of {each.answers}"
        print(f"{each.session_id[:32]:<32}  {_number(each.score):>{width}}  {_number(each.worst):>5}  {counted}")
    if len(sessions) > _SHOWN:
        print(f"... and {len(sessions) - _SHOWN} more (--json prints all)")
    if written is not None:
        scored = sum(each.score is not None for each in sessions)
        print(f"{written} of {scored} sessions with a score annotated in Phoenix: {metric}, {metric}_worst")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
