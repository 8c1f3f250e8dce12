"""Questions, contexts and responses in a file: read under whatever names they have there, one case a row.

A row that cannot be judged is a row with a problem, never a missing row: what goes in comes out, in order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.model import Chunk

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "question": ("question", "user_input", "query", "input"),
    "contexts": ("contexts", "retrieved_contexts", "context", "retrieved_context", "documents", "chunks"),
    "response": ("response", "answer", "output"),
    "reference": ("reference", "ground_truth", "expected_output"),
}
"""Field -> the usual names of its column, tried in this order."""

REQUIRED: Final = ("contexts", "response")
"""Fields without which no row of a file can be judged."""

_TEXT_KEYS: Final = ("text", "content", "page_content")
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the file: as it was, and what is judged of it."""

    number: int
    """1-based line number."""
    values: Mapping[str, Any]
    """The line's own columns, to be written back; empty where the line was no JSON object."""
    question: str | None = None
    chunks: tuple[Chunk, ...] = ()
    response: str = ""
    reference: str | None = None
    problem: str | None = None
    """Why this row cannot be judged; None where it can."""


def parse_columns(text: str | None) -> dict[str, str]:
    """ "question=q,contexts=docs" -> field: column. Raises ConfigurationError for what is no such list."""
    columns = {}
    for part in filter(None, (part.strip() for part in (text or "").split(","))):
        field, separator, column = (piece.strip() for piece in part.partition("="))
        if not separator or not column or field not in ALIASES:
            raise ConfigurationError(
                f"columns: {part!r} is not FIELD=COLUMN; the fields are {', '.join(ALIASES)}, "
                "for example question=q,contexts=docs"
            )
        columns[field] = column
    return columns


def read_jsonl(path: Path, columns: Mapping[str, str] | None = None) -> list[Row]:
    """Every line of the file that is not blank, in order.

    `columns`: field -> column, for those that go by no usual name; a column may be a path into objects (`pred.docs`).
    Raises InputError for a file that cannot be read or holds no JSON object, ConfigurationError for a column
    that no row has.
    """
    lines = list(_lines(path))
    objects = [values for _, values, _ in lines if values is not None]
    if lines and not objects:
        raise InputError(f"{path}: no line is a JSON object; expected JSON Lines, one object a line")
    chosen = _choose_columns(path, objects, columns or {}) if objects else {}
    return [
        Row(number=number, values={}, problem=problem) if values is None else _read_row(number, values, chosen)
        for number, values, problem in lines
    ]


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any] | None, str | None]]:
    """(line number, its object or None, why not) of each line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: {error}") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            # NaN and Infinity are no JSON and could not be written back as such.
            values = json.loads(line, parse_constant=lambda constant: None)
        except (json.JSONDecodeError, RecursionError) as error:
            yield number, None, f"line {number} is not JSON: {error}"
            continue
        if isinstance(values, dict):
            yield number, values, None
        else:
            yield number, None, f"line {number} is not a JSON object"


def _choose_columns(path: Path, rows: Sequence[Mapping[str, Any]], given: Mapping[str, str]) -> dict[str, str]:
    """field -> column: the given one, else the first usual name that some row has."""
    known = ", ".join(dict.fromkeys(column for row in rows[:100] for column in row))
    chosen = {}
    for field, aliases in ALIASES.items():
        names = (given[field],) if field in given else aliases
        found = next((name for name in names if any(_look_up(row, name) is not _MISSING for row in rows)), None)
        if found is not None:
            chosen[field] = found
        elif field in given:
            raise ConfigurationError(f"{path}: no row has a column {given[field]!r} ({field}); there are: {known}")
        elif field in REQUIRED:
            raise ConfigurationError(
                f"{path}: no column for {field} (looked for {', '.join(aliases)}); there are: {known}; "
                f"say which with --columns {field}=NAME"
            )
    return chosen


def _look_up(row: Mapping[str, Any], column: str) -> Any:
    """The value of a column, by its name or by a dotted path into nested objects."""
    if column in row:
        return row[column]
    value: Any = row
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value


def _read_row(number: int, values: Mapping[str, Any], columns: Mapping[str, str]) -> Row:
    found = {field: _look_up(values, column) for field, column in columns.items()}
    try:
        return Row(
            number=number,
            values=values,
            question=_optional_text("question", found),
            chunks=_chunks(found["contexts"], columns["contexts"]),
            response=_text("response", found["response"], columns["response"]),
            reference=_optional_text("reference", found),
        )
    except InputError as error:
        return Row(number=number, values=values, problem=str(error))


def _optional_text(field: str, found: Mapping[str, Any]) -> str | None:
    value = found.get(field)
    return None if value is None or value is _MISSING else _text(field, value, field)


def _text(field: str, value: Any, column: str) -> str:
    if value is None or value is _MISSING:
        raise InputError(f"no {field}: column {column!r} is empty")
    if not isinstance(value, str):
        raise InputError(f"{field} must be a text, not {type(value).__name__} (column {column!r})")
    return value


def _chunks(value: Any, column: str) -> tuple[Chunk, ...]:
    """One chunk per passage: texts, or objects that hold one; a single text is one passage."""
    if value is None or value is _MISSING:
        raise InputError(f"no contexts: column {column!r} is empty")
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise InputError(f"contexts must be a list of texts, not {type(value).__name__} (column {column!r})")
    return tuple(_chunk(item, position, column) for position, item in enumerate(value))


def _chunk(item: Any, position: int, column: str) -> Chunk:
    if isinstance(item, str):
        return Chunk(id=str(position), text=item, position=position)
    if isinstance(item, Mapping):
        text = next((item[key] for key in _TEXT_KEYS if isinstance(item.get(key), str)), None)
        if text is not None:
            return Chunk(id=str(item.get("id", position)), text=text, position=position)
    raise InputError(
        f"context {position} is neither a text nor an object with one of {', '.join(_TEXT_KEYS)} (column {column!r})"
    )
