"""`rag-otel COMMAND`: imports the command's module, parses the arguments and runs the command.

A command is a line in `COMMANDS` and a module of this package with `configure(parser)` and `run(arguments)`, which
returns the exit code. The module is imported only when the command is called, so `rag-otel --help` is fast, and a
missing extra affects only the commands that need it. ConfigurationError and InputError give exit code 2.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import sys
from collections.abc import Sequence
from typing import Any, Final

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.safety.redaction import redact_logs_of_process, redacted_text

COMMANDS: Final = {
    "demo": "run the demo app over real data and show the result in Phoenix",
    "inspect": "print every RAG trace in OTLP/JSON files, one JSON object per line",
    "evaluate": "score a file of questions, contexts and responses",
    "compare": "compare two evaluations of the same questions, for a build with thresholds",
    "backfill": "evaluate traces that are already stored in Phoenix or in OTLP files",
    "feedback": "evaluate answers that people have rated in Phoenix and that have no result yet",
    "export": "write the worst, most uncertain or hand-corrected answers of Phoenix to a dataset or a file",
    "plan": "estimate what a sampling policy would have evaluated of Phoenix's last week, and its cost",
    "collect": "receive OTLP, evaluate RAG traces, and forward all spans to any OTLP backend",
    "work": "evaluate jobs of a queue, and write their results",
    "dead-letters": "list spans that a backend refused and jobs that workers gave up, and send them again",
    "drift": "show changes of scores: since when, how large, in which slices; replay history",
    "calibrate": "compare a judge with people's labels, and fit its risks to them",
    "review": "put the answers whose label teaches most into a queue in Phoenix",
    "sessions": "score whole sessions from the scores of their answers, and annotate Phoenix's sessions",
    "judge": "check how well a judge agrees with the contrast benchmark",
    "prompts": "list, show, save or adapt the prompts of the judges",
    "alerts": "send a test alert to every configured channel",
    "doctor": "send a test trace with the current settings and check that it arrives with its scores",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. Returns its exit code: 0 success, 1 failure, 2 wrong input or configuration."""
    if argv is None:  # the process is ours, not a caller's
        redact_logs_of_process()
    argv = list(sys.argv[1:] if argv is None else argv)
    command = argv[0] if argv[:1] and argv[0] in COMMANDS else None
    try:
        return _run(argv, command)
    except (ConfigurationError, InputError) as error:
        print(f"rag-otel {command}: {redacted_text(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `rag-otel inspect ... | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _run(argv: list[str], command: str | None) -> int:
    parser = argparse.ArgumentParser(
        prog="rag-otel", description="Faithfulness of RAG answers in production, on OpenTelemetry."
    )
    parser.add_argument("--version", action="version", version=f"rag-otel {importlib.metadata.version('rag-otel')}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, help_line in COMMANDS.items():
        command_parser = commands.add_parser(
            name, help=help_line, description=help_line[0].upper() + help_line[1:] + "."
        )
        if name == command:
            _module(name).configure(command_parser)
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 0
    return int(_module(arguments.command).run(arguments))


def _module(command: str) -> Any:
    return importlib.import_module(f"rag_otel.cli.{command.replace('-', '_')}")


if __name__ == "__main__":
    sys.exit(main())
