"""Reads questions, contexts and responses from the rows of a data set, whatever their columns are called.

A row that cannot be read becomes a row with a problem, so the output has every row of the input, in order.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.formats import usual_names
from rag_otel.formats.rows import FileRow
from rag_otel.model import Chunk
from rag_otel_evaluators.offline.dataset_paths import MISSING, begins_in, look_up

Column: TypeAlias = str | Callable[[Mapping[str, Any]], Any]
"""The column of a field: a name, a path into nested objects (`pred.docs[*].text`), or a function of the row."""

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "question": usual_names.QUESTION,
    "contexts": usual_names.CHUNKS,
    "response": tuple(dict.fromkeys(("response", *usual_names.ANSWER))),
    "reference": usual_names.REFERENCE,
    "context_ids": ("context_ids", "retrieved_context_ids"),
    "reference_contexts": ("reference_contexts",),
    "reference_context_ids": ("reference_context_ids",),
}
"""Field -> common names of its column, tried in this order."""

_INSTEAD: Final[Mapping[str, str]] = {"context_ids": "contexts", "reference_context_ids": "reference_contexts"}
"""Field of ids -> the field whose objects may have them."""
_OPTIONAL: Final = frozenset({"context_ids", "reference_contexts", "reference_context_ids"})
"""Fields that are read only for a metric that requires them."""
_REQUIRED: Final = ("contexts", "response", *sorted(_OPTIONAL))
"""Fields that a metric cannot do without. An empty list and an empty text are values."""

BAD_ROW: Final = "bad_row"
"""Reason code of a row that could not be read."""
IDS: Final = ("id", "row_id", "question_id", "sample_id")
"""Columns by which a file names its rows, tried in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: its columns, and the fields to be evaluated."""

    number: int
    """1-based: the line of a text file, else the position in the data set."""
    values: Mapping[str, Any]
    """The row's columns, which are written to the output. Empty if it could not be read."""
    question: str | None = None
    chunks: tuple[Chunk, ...] = ()
    response: str = ""
    reference: str | None = None
    further: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`chunk_ids`, `reference_chunks` (texts) and `reference_chunk_ids`, as far as the row has them: arguments of
    metrics that compare the retrieval with known good chunks."""
    problem: str | None = None
    """Why the row cannot be evaluated: a field has an invalid value. None if it can."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Field (`contexts`, `response`, ...) -> why it is missing. Empty contexts and an empty response can be evaluated,
    missing ones cannot. A missing question or reference is None, and a metric that needs it gives a reason."""

    @property
    def label(self) -> str:
        """What the file calls the row: its id where it has such a column, else its number."""
        named = next((self.values[name] for name in IDS if self.values.get(name) not in (None, "")), None)
        return str(self.number) if named is None else str(named)

    def obstacle(self, needs: Iterable[str]) -> str | None:
        """Why a metric with these needs cannot evaluate this row. None if it can."""
        return self.problem or next((self.missing[name] for name in needs if name in self.missing), None)


def parse_columns(text: str | None) -> dict[str, str]:
    """Parses "question=q,contexts=docs" into field -> column. Raises ConfigurationError if it has another form."""
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
    records: Sequence[FileRow],
    *,
    columns: Mapping[str, Column] | None = None,
    needs: Mapping[str, Iterable[str]] | None = None,
    source: str = "the data set",
    names: Sequence[str] | None = None,
) -> list[Row]:
    """Reads the fields of each record, in order.

    `columns`: field -> column, for columns without a common name. `needs`: metric -> fields that it requires (default:
    `contexts` and `response`). `names`: the columns of the whole data set if the records are a part of it, so that the
    fields of every part are read from the same columns. Raises ConfigurationError for an unknown field, a column that
    no row has, and a required field without a column.
    """
    if needs is None:
        needs = {"faithfulness": ("contexts", "response")}
    chosen = _choose_columns(records, columns or {}, needs, source, names)
    return [_read_row(record, chosen) for record in records]


def _choose_columns(
    records: Sequence[FileRow],
    given: Mapping[str, Column],
    needs: Mapping[str, Iterable[str]],
    source: str,
    names: Sequence[str] | None,
) -> dict[str, Column]:
    """Returns field -> column: the given column, else the first common name that any row has, or that is in `names`."""
    if unknown := given.keys() - ALIASES.keys():
        raise ConfigurationError(
            f"columns: there is no field {', '.join(sorted(unknown))}; the fields are {', '.join(ALIASES)}"
        )
    rows = [record.value for record in records if record.value is not None]
    if not rows and names is None:
        return {}
    known = ", ".join(names or dict.fromkeys(str(column) for row in rows[:100] for column in row))
    chosen: dict[str, Column] = {}
    needed = {name for fields in needs.values() for name in fields}
    needed |= {_INSTEAD[name] for name in needed & _INSTEAD.keys()}
    for name, aliases in ALIASES.items():
        if name in _OPTIONAL and name not in needed and name not in given:
            continue
        candidates = (given[name],) if name in given else aliases
        found = next((column for column in candidates if _is_in(column, rows, names)), None)
        if found is not None:
            chosen[name] = found
        elif name in given:
            raise ConfigurationError(f"{source}: no row has a column {given[name]!r} ({name}); there are: {known}")
        elif _INSTEAD.get(name) in chosen:
            continue
        elif metric_in_need := next((metric for metric, fields in needs.items() if name in fields), None):
            raise ConfigurationError(
                f"{source}: no column for {name}, which {metric_in_need} needs (looked for {', '.join(aliases)}); "
                f"there are: {known}; name it with columns {name}=NAME"
            )
    return chosen


def _is_in(column: Column, rows: Sequence[Mapping[str, Any]], names: Sequence[str] | None) -> bool:
    if callable(column):
        return True
    if names is not None:
        return begins_in(names, column)
    return any(look_up(row, column) is not MISSING for row in rows)


def _read_row(record: FileRow, columns: Mapping[str, Column]) -> Row:
    if record.value is None:
        return Row(number=record.number, values={}, problem=record.problem)
    try:
        found = {name: _field(name, record.value, columns[name]) for name in columns}
    except InputError as error:
        return Row(number=record.number, values=record.value, problem=str(error))
    for ids, contexts in _INSTEAD.items():
        if found.get(ids) is None and found.get(contexts) is not None:
            found[ids] = found[contexts].ids
    chunks, good = found.get("contexts"), found.get("reference_contexts")
    further = {
        "chunk_ids": found.get("context_ids"),
        "reference_chunks": None if good is None else tuple(chunk.text for chunk in good.chunks),
        "reference_chunk_ids": found.get("reference_context_ids"),
    }
    return Row(
        number=record.number,
        values=record.value,
        question=found.get("question"),
        chunks=() if chunks is None else chunks.chunks,
        response=found.get("response") or "",
        reference=found.get("reference"),
        further={name: value for name, value in further.items() if value is not None},
        missing={name: _why_missing(name, columns) for name in _REQUIRED if found.get(name) is None},
    )


def _why_missing(name: str, columns: Mapping[str, Column]) -> str:
    if name in columns:
        return f"no {name}: {_label(columns[name])} is empty"
    if _INSTEAD.get(name) in columns:
        return f"no {name}: the objects in {_label(columns[_INSTEAD[name]])} have no id"
    return f"no {name}: no such column"


def _field(name: str, row: Mapping[str, Any], column: Column) -> Any:
    """The field's value, or None if it is missing. Raises InputError if it has the wrong type."""
    try:
        value = look_up(row, column) if isinstance(column, str) else column(row)
    except Exception as error:
        raise InputError(f"no {name}: {_label(column)} failed: {type(error).__name__}: {error}") from error
    if value is None or value is MISSING or (isinstance(value, float) and value != value):
        return None
    if name in _INSTEAD:
        return _ids(name, value, _label(column))
    if name in _INSTEAD.values():
        return _chunks(value, _label(column))
    if not isinstance(value, str):
        raise InputError(f"{name} must be a text, not {type(value).__name__} ({_label(column)})")
    return value


def _label(column: Column) -> str:
    return f"column {column!r}" if isinstance(column, str) else f"function {getattr(column, '__name__', column)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contexts:
    """The chunks of a cell."""

    chunks: tuple[Chunk, ...]
    ids: tuple[str, ...] | None
    """The ids as they were given, which may repeat. None if a passage has none."""


def _ids(name: str, value: Any, label: str) -> tuple[str, ...]:
    """The ids in a cell: a list of texts or numbers, also as JSON text. A single text is one id."""
    if isinstance(value, str):
        parsed = _parsed_list(value, (str, int))
        value = [value] if parsed is None else parsed
    elif hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or not all(isinstance(each, (str, int)) for each in value):
        raise InputError(f"{name} must be a list of ids, not {type(value).__name__} ({label})")
    return tuple(map(str, value))


def _chunks(value: Any, label: str) -> _Contexts:
    """One chunk per passage. A passage is a text, or an object with a text. A single text is one passage."""
    if isinstance(value, str):
        value = _listed(value)
    elif hasattr(value, "tolist"):  # a numpy array: pandas reads lists from Parquet as such
        value = value.tolist()
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise InputError(f"contexts must be a list of texts, not {type(value).__name__} ({label})")
    chunks: list[Chunk] = []
    ids: set[str] = set()
    given: list[Any] = []
    for position, item in enumerate(value):
        text, known = (item, None) if isinstance(item, str) else _text_and_id(item)
        chunk = _chunk(text, known, position, label, ids)
        chunks.append(chunk)
        ids.add(chunk.id)
        given.append(known)
    return _Contexts(chunks=tuple(chunks), ids=None if None in given else tuple(map(str, given)))


def _chunk(text: str | None, known: Any, position: int, label: str, taken: set[str]) -> Chunk:
    if text is None:
        raise InputError(
            f"context {position} is neither a text nor an object with one of {', '.join(usual_names.TEXT)} ({label})"
        )
    chunk_id = str(position if known is None else known)
    # Evidence refers to chunks by id, so ids must be unique.
    while chunk_id in taken:
        chunk_id += f"#{position}"
    return Chunk(id=chunk_id, text=text, position=position, has_id=known is not None)


def _text_and_id(item: Any) -> tuple[str | None, Any]:
    """The text and the id of a mapping, or of a document object of LangChain or LlamaIndex."""
    values = item if isinstance(item, Mapping) else {key: getattr(item, key, None) for key in (*usual_names.TEXT, "id")}
    return next((values[key] for key in usual_names.TEXT if isinstance(values.get(key), str)), None), values.get("id")


def _listed(text: str) -> list[Any]:
    """The passages in one text: the items if it is a list as JSON or as Python `repr`, else the text itself."""
    value = _parsed_list(text, (str, dict))
    return [text] if value is None else value


def _parsed_list(text: str, kinds: tuple[type, ...]) -> list[Any] | None:
    """The items of a list as JSON or as Python `repr`. None if it is not a list of these kinds."""
    if text.lstrip().startswith("[") and text.rstrip().endswith("]"):
        for read in (json.loads, ast.literal_eval):
            try:
                value = read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(value, list) and all(isinstance(item, kinds) for item in value):
                return value
    return None
