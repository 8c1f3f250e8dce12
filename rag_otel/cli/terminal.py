"""Output of commands: a progress bar, which is hidden in a pipe, and a table of text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def progress(items: Iterable[T], *, total: int | None = None, description: str = "") -> Iterable[T]:
    """Iterates over `items` and shows a progress bar on standard error if that is a terminal."""
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
