"""`rag-otel COMMAND`: imports the command's module, parses the arguments and runs the command.

The module is imported only when the command is called, so `rag-otel --help` is fast, and a missing extra affects only
the commands that need it. An error that ends the command is one line with its name in front, and exit code 2.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from rag_otel.cli.commands import COMMANDS, Command
from rag_otel.cli.terminal import CommandResult
from rag_otel.errors import ConfigurationError, InputError, PermanentError, RetryableError
from rag_otel.safety.redaction import redact_logs_of_process, redacted_text
from rag_otel.settings.gone import GONE_COMMANDS
from rag_otel.settings.unknown import nearest

_ABOUT = "Faithfulness of RAG answers in production, on OpenTelemetry."


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. Returns its exit code: 0 success, 1 what was asked for does not hold, 2 wrong
    input or configuration, or a server that does not answer."""
    if argv is None:  # the process is ours, not a caller's
        redact_logs_of_process()
    rest = list(sys.argv[1:] if argv is None else argv)
    names, commands = ["rag-otel"], COMMANDS
    command: Command | None = None
    while rest and rest[0] in commands:
        command = commands[rest[0]]
        names.append(rest.pop(0))
        commands = command.commands
    name = " ".join(names)
    if command is None or not command.module:
        return _group(name, _ABOUT if command is None else _sentence(command.help), commands, rest)
    try:
        return _run(name, command, rest)
    except (ConfigurationError, InputError, RetryableError, PermanentError) as error:
        print(f"{name}: {redacted_text(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `rag-otel inspect ... | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _group(name: str, about: str, commands: Mapping[str, Command], rest: list[str]) -> int:
    """What there is below `rag-otel` or a group; an unknown command is an error that says what to write."""
    parser = argparse.ArgumentParser(prog=name, description=about)
    if commands is COMMANDS:
        version = f"rag-otel {importlib.metadata.version('rag-otel')}"
        parser.add_argument("--version", action="version", version=version)
    listed = parser.add_subparsers(metavar="COMMAND", title="commands")
    for each, command in commands.items():
        listed.add_parser(each, help=command.help)
    if rest and not rest[0].startswith("-"):
        print(f"{name}: {_unknown(name, rest[0], commands)}", file=sys.stderr)
        return 2
    parser.parse_args(rest)
    parser.print_help()
    return 0


def _unknown(name: str, word: str, commands: Mapping[str, Command]) -> str:
    instead = GONE_COMMANDS.get(f"{name} {word}".removeprefix("rag-otel "))
    if instead is not None:
        return f"`{name} {word}` is gone: write `rag-otel {instead}`"
    near = nearest(word, commands)
    meant = f"did you mean {near}?" if near is not None else f"there are: {', '.join(commands)}"
    return f"there is no command {word!r}; {meant}"


def _run(name: str, command: Command, rest: list[str]) -> int:
    path, _, action = command.module.partition(":")
    module, suffix = importlib.import_module(f"rag_otel.cli.{path}"), f"_{action}" if action else ""
    parser = argparse.ArgumentParser(prog=name, description=_sentence(command.help))
    getattr(module, f"configure{suffix}")(parser)
    # Intermixed: names may also stand behind options, `dead-letters retry --folder X NAME`.
    arguments, unknown = parser.parse_known_intermixed_args(rest)
    if unknown:
        _refuse(parser, unknown)
    outcome: CommandResult | int = getattr(module, f"run{suffix}")(arguments)
    if isinstance(outcome, int):  # it has printed as it went on
        return outcome
    outcome.show(name, as_json=getattr(arguments, "json", False))
    return outcome.code


def _refuse(parser: argparse.ArgumentParser, unknown: Sequence[str]) -> NoReturn:
    """Ends with the usage of the command itself, and the option that was meant."""
    known = [option for action in parser._actions for option in action.option_strings]
    near = nearest(unknown[0].partition("=")[0], known)
    parser.error(f"unrecognized arguments: {' '.join(unknown)}" + (f" (did you mean {near}?)" if near else ""))


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


if __name__ == "__main__":
    sys.exit(main())
