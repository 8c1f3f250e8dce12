"""`rag-otel COMMAND`: finds the command's module, parses, runs, turns our errors into exit code 2.

A command is a line in `COMMANDS` and a module of this package with `configure(parser)` and `run(arguments)`, which
returns the exit code. It is imported only when it is called: `rag-otel --help` stays quick, and a missing extra breaks
one command only.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Final

from rag_otel.errors import ConfigurationError, InputError

COMMANDS: Final = {
    "demo": "run the demo app over real data and show the result in Phoenix",
    "inspect": "print every RAG trace in OTLP/JSON files, one JSON object a line",
    "evaluate": "score a file of questions, contexts and responses",
    "backfill": "evaluate traces that are stored already, in Phoenix or in OTLP files",
    "collect": "stand between applications and any OTLP backend and evaluate RAG traces on their way",
    "drift": "show how scores move: since when, how far, where; replay history",
    "judge": "check how far a judge agrees with the contrast benchmark",
    "prompts": "list, show, save or adapt what the judges are told",
    "alerts": "send a test alert to every configured channel",
    "doctor": "send one trace through the set-up and find it again with its scores",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (0 done, 1 not as expected, 2 bad input or configuration)."""
    argv = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="rag-otel", description="Faithfulness of RAG answers in production, on OpenTelemetry."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, help_line in COMMANDS.items():
        command_parser = commands.add_parser(
            name, help=help_line, description=help_line[0].upper() + help_line[1:] + "."
        )
        if argv[:1] == [name]:
            importlib.import_module(f"rag_otel.cli.{name}").configure(command_parser)
    arguments = parser.parse_args(argv)
    module = importlib.import_module(f"rag_otel.cli.{arguments.command}")
    try:
        return int(module.run(arguments))
    except (ConfigurationError, InputError) as error:
        print(f"rag-otel {arguments.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `rag-otel inspect ... | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
