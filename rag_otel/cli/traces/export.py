"""`rag-otel traces export`: writes the worst, most uncertain or hand-corrected answers of a Phoenix project to a
dataset of Phoenix or to JSON Lines that `rag-otel evaluate` reads."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rag_otel.cli.options import phoenix_options, reading_options, reading_pipeline, settings_of
from rag_otel.cli.phoenix_project import phoenix_project
from rag_otel.cli.terminal import CommandResult, progress, write_file
from rag_otel.errors import ConfigurationError
from rag_otel_collectors.stored.answers import Selection, choose, stored_answers
from rag_otel_collectors.stored.project import StoredProject

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


def run(arguments: argparse.Namespace) -> CommandResult:
    """Writes the answers. Exit code 1 if there are none. Raises ConfigurationError and the client's errors."""
    if arguments.dataset and arguments.output:
        raise ConfigurationError("give --dataset or --output, not both")
    if arguments.append and not arguments.dataset:
        raise ConfigurationError("--append adds to a dataset: name it with --dataset")
    selection, count = _selection(arguments)
    settings = settings_of(arguments)
    project = phoenix_project(arguments, settings)
    pipeline = reading_pipeline(settings)
    found = stored_answers(project, arguments.metric, pipeline.rag_traces)
    answers = choose(progress(found, description="reading"), selection, count, arguments.metric)
    if not answers:
        return CommandResult(notes=[f"no such answer in {project.name}: {_hint(arguments)}"], code=1)
    rows = [answer.row() for answer in answers]
    if arguments.dataset:
        return CommandResult(text=_upload(project, arguments, rows))
    return _written(arguments.output or STANDARD_OUTPUT, rows)


def _selection(arguments: argparse.Namespace) -> tuple[Selection, int]:
    names: tuple[Selection, ...] = ("worst", "uncertain", "corrected")
    selection = next(name for name in names if getattr(arguments, name) is not None)
    count: int = getattr(arguments, selection)
    if count < 1:
        raise ConfigurationError(f"--{selection}: must be at least 1, not {count}")
    return selection, count


def _hint(arguments: argparse.Namespace) -> str:
    if arguments.corrected is not None:
        return "nobody has annotated one (annotations of the kind HUMAN, on the answer's span or on the root span)"
    return f"none has a score of {arguments.metric}; `rag-otel traces backfill` evaluates stored answers"


def _written(output: str, rows: Sequence[dict[str, Any]]) -> CommandResult:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    if output == STANDARD_OUTPUT:
        return CommandResult(text="\n".join(lines))
    write_file(Path(output), "\n".join([*lines, ""]), option="output")
    return CommandResult(text=f"{output}: {len(rows)} answers")


def _upload(project: StoredProject, arguments: argparse.Namespace, rows: Sequence[dict[str, Any]]) -> str:
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
    about = f"Answers of {project.name}, exported by rag-otel"
    page = project.client.upload_dataset(arguments.dataset, examples, description=about, append=arguments.append)
    return f"{len(rows)} answers are in the dataset {arguments.dataset}: {page}"
