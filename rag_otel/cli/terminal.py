"""Output of commands: the result, for people or for scripts; a table of text, a file, a progress bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rag_otel.errors import ConfigurationError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """The result of a command, once for people and for scripts. `main` shows it."""

    text: str = ""
    """For people, on standard output."""
    data: Any = None
    """The same for a script, in place of the text where `--json` is given."""
    one_per_line: bool = False
    """`data` is a list, and each of it is a line of JSON."""
    notes: Sequence[str] = ()
    """What is wrong, for standard error."""
    code: int = 0
    """Exit code."""

    def show(self, command: str, *, as_json: bool) -> None:
        """Prints the result; notes have the command's name in front."""
        if as_json:
            for each in self.data if self.one_per_line else [self.data]:
                print(json.dumps(each))
        elif self.text:
            print(self.text)
        sys.stdout.flush()
        for note in self.notes:
            print(f"{command}: {note}", file=sys.stderr)


def write_file(path: Path, text: str, *, option: str) -> None:
    """Writes what an option asks for. Raises ConfigurationError that names the option and the file."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise ConfigurationError(f"{option}: {path} cannot be written: {error.strerror}") from None


def progress(items: Iterable[T], *, total: int | None = None, description: str = "") -> Iterable[T]:
    """Iterates over `items` and shows a progress bar on standard error if that is a terminal."""
    from tqdm import tqdm  # here: `rag-otel --help` does without

    return tqdm(items, total=total, desc=description, file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] | None = None, indent: str = "  ") -> str:
    """Returns aligned columns: numbers to the right, text to the left, without spaces at the end of lines."""
    body = [list(row) for row in rows]
    lines = [list(header), *body] if header else body
    if not lines:
        return ""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    right = [bool(body) and all(_is_number(row[column]) for row in body) for column in range(len(widths))]

    def render(line: Sequence[str]) -> str:
        cells = [cell.rjust(widths[i]) if right[i] else cell.ljust(widths[i]) for i, cell in enumerate(line)]
        return (indent + "  ".join(cells)).rstrip()

    rendered = [render(line) for line in lines]
    if header:
        rendered.insert(1, indent + "  ".join("-" * width for width in widths))
    return "\n".join(rendered)


def _is_number(cell: str) -> bool:
    return cell.strip().rstrip("%").lstrip("+-").replace(".", "", 1).replace(",", "").isdigit()
