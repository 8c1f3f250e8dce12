"""`rag-otel traces export`: writes the worst, most uncertain or hand-corrected answers of a Phoenix project to a
dataset of Phoenix or to JSON Lines that `rag-otel evaluate` reads."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rag_otel.cli.options import phoenix_options, reading_options, settings_of
from rag_otel.cli.phoenix_access import check_project, phoenix_client, project_name, time_bounds
from rag_otel.cli.terminal import progress
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.settings import Settings

if TYPE_CHECKING:
    from rag_otel_collectors.stored.answers import Selection, StoredAnswer
    from rag_otel_collectors.stored.phoenix_client import PhoenixClient

STANDARD_OUTPUT: Final = "-"
_INPUTS: Final = ("question", "contexts")
_OUTPUTS: Final = ("response", "reference")


def configure(parser: argparse.ArgumentParser) -> None:
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--worst", type=int, metavar="N", help="the N answers with the lowest scores")
    chosen.add_argument("--uncertain", type=int, metavar="N", help="the N answers whose risk is nearest to 0.5")
    chosen.add_argument("--corrected", type=int, metavar="N", help="the N newest answers that people have annotated")
    parser.add_argument("--metric", default="faithfulness", help="whose scores are meant (default: faithfulness)")
    parser.add_argument("--output", metavar="FILE", help="file of JSON Lines; - is standard output (the default)")
    parser.add_argument("--dataset", metavar="NAME", help="a new Phoenix dataset, instead of a file")
    parser.add_argument("--append", action="store_true", help="add to the dataset; an answer in it is updated")
    reading_options(parser, resolver=False)
    phoenix_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the answers. Returns 1 if there are none or Phoenix fails. Raises ConfigurationError."""
    if arguments.dataset and arguments.output:
        raise ConfigurationError("give --dataset or --output, not both")
    if arguments.append and not arguments.dataset:
        raise ConfigurationError("--append adds to a dataset: name it with --dataset")
    settings = settings_of(arguments)
    client, project = phoenix_client(settings), project_name(settings)
    try:
        answers = _chosen(client, project, settings, arguments)
        if not answers:
            print(f"rag-otel traces export: no such answer in {project}: {_hint(arguments)}", file=sys.stderr)
            return 1
        rows = [answer.row() for answer in answers]
        if arguments.dataset:
            print(_upload(client, project, arguments, rows))
        else:
            _write(arguments.output or STANDARD_OUTPUT, rows)
    except (RetryableError, PermanentError) as error:
        print(f"rag-otel traces export: Phoenix at {settings.phoenix_endpoint}: {error}", file=sys.stderr)
        return 1
    return 0


def _chosen(
    client: PhoenixClient, project: str, settings: Settings, arguments: argparse.Namespace
) -> Sequence[StoredAnswer]:
    from rag_otel.pipeline import Pipeline
    from rag_otel.sampling.ratio import RatioSampler
    from rag_otel_collectors.conventions import default_conventions
    from rag_otel_collectors.stored.answers import choose, stored_answers

    counts: dict[Selection, int | None] = {
        "worst": arguments.worst,
        "uncertain": arguments.uncertain,
        "corrected": arguments.corrected,
    }
    selection, count = next((name, count) for name, count in counts.items() if count is not None)
    if count < 1:
        raise ConfigurationError(f"--{selection}: must be at least 1, not {count}")
    check_project(client, project)
    conventions = default_conventions(mapping=settings.spans.attribute_mapping)
    pipeline = Pipeline(conventions=conventions, sampler=RatioSampler(1.0), evaluators=())
    found = stored_answers(client, project, arguments.metric, pipeline.rag_traces, **time_bounds(arguments))
    return choose(progress(found, description="reading"), selection, count, arguments.metric)


def _hint(arguments: argparse.Namespace) -> str:
    if arguments.corrected is not None:
        return "nobody has annotated one (annotations of the kind HUMAN, on the answer's span or on the root span)"
    return f"none has a score of {arguments.metric}; `rag-otel traces backfill` evaluates stored answers"


def _write(output: str, rows: Sequence[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if output == STANDARD_OUTPUT:
        sys.stdout.write(lines)
        return
    try:
        Path(output).write_text(lines, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise ConfigurationError(f"output: {output} cannot be written: {error.strerror}") from error
    print(f"{output}: {len(rows)} answers", file=sys.stderr)


def _upload(client: PhoenixClient, project: str, arguments: argparse.Namespace, rows: Sequence[dict[str, Any]]) -> str:
    """Uploads the rows as examples, each with its span's id. Returns what to tell the user."""
    examples = [
        {
            "input": {name: row[name] for name in _INPUTS},
            "output": {name: row[name] for name in _OUTPUTS},
            "metadata": {name: value for name, value in row.items() if name not in (*_INPUTS, *_OUTPUTS)},
            "span_id": row["id"],
        }
        for row in rows
    ]
    about = f"Answers of {project}, exported by rag-otel"
    page = client.upload_dataset(arguments.dataset, examples, description=about, append=arguments.append)
    return f"{len(rows)} answers are in the dataset {arguments.dataset}: {page}"
