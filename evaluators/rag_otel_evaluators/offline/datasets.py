"""Questions, contexts and responses in a data set: read under whatever names they have there, one case a row.

A row that cannot be judged is a row with a problem, never a missing row: what goes in comes out, in order.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.model import Chunk
from rag_otel_evaluators.offline.dataset_paths import MISSING, look_up

Column: TypeAlias = str | Callable[[Mapping[str, Any]], Any]
"""Where a field stands: a column's name, a path into nested objects (`pred.docs[*].text`), or a function of the row."""

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "question": ("question", "user_input", "query", "input"),
    "contexts": ("contexts", "retrieved_contexts", "context", "retrieved_context", "documents", "chunks"),
    "response": ("response", "answer", "output"),
    "reference": ("reference", "ground_truth", "expected_output"),
}
"""Field -> the usual names of its column, tried in this order."""

_IDS: Final = ("id", "row_id", "question_id", "sample_id")
"""Columns by which a file names its rows, tried in this order."""
_TEXT_KEYS: Final = ("text", "content", "page_content")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One row as it was read."""

    number: int
    """1-based: the line of a text file, else the position in the data set."""
    values: Mapping[str, Any] | None
    """Its columns, None where it could not be read."""
    problem: str | None = None
    """Why it could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: as it was, and what is judged of it."""

    number: int
    """1-based, see `Record`."""
    values: Mapping[str, Any]
    """The row's own columns, to be written back; empty where it could not be read."""
    question: str | None = None
    chunks: tuple[Chunk, ...] = ()
    response: str = ""
    reference: str | None = None
    problem: str | None = None
    """Why nothing of this row can be judged: a field is not what it should be. None where something can."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """`contexts` or `response` -> where it was looked for in vain. Not to be taken for empty ones, which can be judged;
    question and reference are None then, and a metric that needs them says so itself."""

    @property
    def label(self) -> str:
        """What the file calls the row: its id where it has such a column, else its number."""
        named = next((self.values[name] for name in _IDS if self.values.get(name) not in (None, "")), None)
        return str(self.number) if named is None else str(named)


    def obstacle(self, needs: Iterable[str]) -> str | None:
        """Why a metric with these needs cannot judge this row; None where it can."""
        return self.problem or next((self.missing[name] for name in needs if name in self.missing), None)


def parse_columns(text: str | None) -> dict[str, str]:
    """ "question=q,contexts=docs" -> field: column. Raises ConfigurationError for what is no such list."""
    columns = {}
    for part in filter(None, (part.strip() for part in (text or "").split(","))):
        name, separator, column = (piece.strip() for piece in part.partition("="))
        if not separator or not column:
            raise ConfigurationError(
                f"columns: {part!r} is not FIELD=COLUMN; the fields are {', '.join(ALIASES)}, "
                "for example question=q,contexts=docs"
            )
        columns[name] = column
    return columns


def read_rows(
    records: Sequence[Record],
    *,
    columns: Mapping[str, Column] | None = None,
    needs: Mapping[str, Iterable[str]] | None = None,
    source: str = "the data set",
) -> list[Row]:
    """What is to be judged of each record, in order.

    `columns`: field -> column, for those that go by no usual name. `needs`: metric -> fields that it cannot do
    without (`contexts` and `response` where not given). Raises ConfigurationError for a field that does not exist, a
    column that no row has, and a needed field without a column.
    """
    if needs is None:
        needs = {"faithfulness": ("contexts", "response")}
    chosen = _choose_columns(records, columns or {}, needs, source)
    return [_read_row(record, chosen) for record in records]


def _choose_columns(
    records: Sequence[Record],
    given: Mapping[str, Column],
    needs: Mapping[str, Iterable[str]],
    source: str,
) -> dict[str, Column]:
    """field -> column: the given one, else the first usual name that some row has."""
    if unknown := given.keys() - ALIASES.keys():
        raise ConfigurationError(
            f"columns: there is no field {', '.join(sorted(unknown))}; the fields are {', '.join(ALIASES)}"
        )
    rows = [record.values for record in records if record.values is not None]
    if not rows:
        return {}
    known = ", ".join(dict.fromkeys(str(column) for row in rows[:100] for column in row))
    chosen: dict[str, Column] = {}
    for name, aliases in ALIASES.items():
        candidates = (given[name],) if name in given else aliases
        found = next((column for column in candidates if _is_in(column, rows)), None)
        if found is not None:
            chosen[name] = found
        elif name in given:
            raise ConfigurationError(f"{source}: no row has a column {given[name]!r} ({name}); there are: {known}")
        elif needy := next((metric for metric, fields in needs.items() if name in fields), None):
            raise ConfigurationError(
                f"{source}: no column for {name}, which {needy} needs (looked for {', '.join(aliases)}); "
                f"there are: {known}; say which it is, as columns {name}=NAME"
            )
    return chosen


def _is_in(column: Column, rows: Sequence[Mapping[str, Any]]) -> bool:
    return callable(column) or any(look_up(row, column) is not MISSING for row in rows)


def _read_row(record: Record, columns: Mapping[str, Column]) -> Row:
    if record.values is None:
        return Row(number=record.number, values={}, problem=record.problem)
    try:
        found = {name: _field(name, record.values, columns[name]) for name in columns}
    except InputError as error:
        return Row(number=record.number, values=record.values, problem=str(error))
    return Row(
        number=record.number,
        values=record.values,
        question=found.get("question"),
        chunks=found.get("contexts") or (),
        response=found.get("response") or "",
        reference=found.get("reference"),
        missing={
            name: f"no {name}: {_label(columns[name])} is empty" if name in columns else f"no {name}: no such column"
            for name in ("contexts", "response")
            if found.get(name) is None
        },
    )


def _field(name: str, row: Mapping[str, Any], column: Column) -> Any:
    """The field's value in its type, None where there is none. Raises InputError where it is something else."""
    try:
        value = look_up(row, column) if isinstance(column, str) else column(row)
    except Exception as error:
        raise InputError(f"no {name}: {_label(column)} failed: {type(error).__name__}: {error}") from error
    if value is None or value is MISSING or (isinstance(value, float) and value != value):
        return None
    if name == "contexts":
        return _chunks(value, _label(column))
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, not {type(value).__name__} ({_label(column)})")
    return value


def _label(column: Column) -> str:
    return f"column {column!r}" if isinstance(column, str) else f"function {getattr(column, '__name__', column)}"


def _chunks(value: Any, label: str) -> tuple[Chunk, ...]:
    """One chunk per passage: texts, or objects that hold one; a single text is one passage."""
    if isinstance(value, str):
        value = _listed(value)
    elif hasattr(value, "tolist"):  # an array of numpy's, as pandas reads lists from Parquet
        value = value.tolist()
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise InputError(f"contexts must be a list of texts, not {type(value).__name__} ({label})")
    chunks: list[Chunk] = []
    ids: set[str] = set()
    for position, item in enumerate(value):
        chunk = _chunk(item, position, label, ids)
        chunks.append(chunk)
        ids.add(chunk.id)
    return tuple(chunks)


def _chunk(item: Any, position: int, label: str, taken: set[str]) -> Chunk:
    text, known = (item, None) if isinstance(item, str) else _text_and_id(item)
    if text is None:
        raise InputError(
            f"context {position} is neither a text nor an object with one of {', '.join(_TEXT_KEYS)} ({label})"
        )
    chunk_id = str(position if known is None else known)
    # Evidence is named by id, so two passages of one document need two.
    while chunk_id in taken:
        chunk_id += f"#{position}"
    return Chunk(id=chunk_id, text=text, position=position)


def _text_and_id(item: Any) -> tuple[str | None, Any]:
    """Of a mapping, or of an object like LangChain's and LlamaIndex's documents."""
    values = item if isinstance(item, Mapping) else {key: getattr(item, key, None) for key in (*_TEXT_KEYS, "id")}
    return next((values[key] for key in _TEXT_KEYS if isinstance(values.get(key), str)), None), values.get("id")


def _listed(text: str) -> list[Any]:
    """The passages in one text: a list that was written into a cell as JSON, or as Python shows lists; else itself."""
    if text.lstrip().startswith("[") and text.rstrip().endswith("]"):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(value, list) and all(isinstance(item, (str, dict)) for item in value):
                return value
    return [text]
