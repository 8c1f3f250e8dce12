"""Tables of settings: how a row is declared, how a table is filled, how its values are shown.

A table is a frozen dataclass whose fields are `row()`s. Its values come from arguments, the environment and a file, in
this order; a secret may stand in a file of its own.
"""

from __future__ import annotations

import dataclasses
import os
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_type_hints

from rag_otel.errors import ConfigurationError
from rag_otel.safety.redaction import MASK, redacted_text
from rag_otel.settings.coercion import ODD, plain_value
from rag_otel.settings.unknown import nearest

_FILE: Final = "file:"
"""Before a path, in place of a secret."""


def row(default: Any, meaning: str, *env: str, secret: bool = False) -> Any:
    """A field of a table: its default, what it means, its environment names, whether it is masked when shown.

    A secret may stand in a file: `file:/run/secrets/name` as its value, or its environment name with `_FILE` behind.
    """
    metadata = {"meaning": meaning, "env": env, "secret": secret}
    return dataclasses.field(default=default, repr=not secret, metadata=metadata)


def shown(value: object, secret: bool) -> str:
    """A value as it may be printed."""
    if value is None or value == ():
        return "-"
    if secret:
        return MASK
    return redacted_text(", ".join(map(str, value)) if isinstance(value, tuple) else str(value))


def resolve_table(
    table: type[Any],
    arguments: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    file: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of any table of `row()`s that are not the default, and the origin of every value.

    Raises ConfigurationError that names the setting, the value and where it came from.
    """
    arguments = {name: value for name, value in (arguments or {}).items() if value is not None}
    environ = os.environ if environ is None else environ
    file = file or {}
    rows = {each.name: each for each in dataclasses.fields(table)}
    unknown = sorted((set(arguments) | set(file)) - set(rows))
    if unknown:
        raise ConfigurationError(f"unknown setting {', '.join(_guess(name, rows) for name in unknown)}")
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    types = get_type_hints(table)
    for name, each in rows.items():
        secret = each.metadata["secret"]
        env = next((key for key in each.metadata["env"] if environ.get(key)), None)
        env_file = next((f"{key}_FILE" for key in each.metadata["env"] if secret and environ.get(f"{key}_FILE")), None)
        if name in arguments:
            given, origins[name] = arguments[name], "argument"
        elif env is not None:
            given, origins[name] = environ[env], f"environment {env}"
        elif env_file is not None:
            given, origins[name] = _FILE + environ[env_file], f"environment {env_file}"
        elif name in file:
            given, origins[name] = file[name], "file"
        else:
            origins[name] = "default"
            continue
        values[name] = _convert(name, given, types[name], origins[name], secret=secret)
    return values, origins


def variables_of(table: type[Any]) -> list[str]:
    """Every environment name that the table's rows are read from."""
    named = [(key, each.metadata["secret"]) for each in dataclasses.fields(table) for key in each.metadata["env"]]
    return [key for key, _ in named] + [f"{key}_FILE" for key, secret in named if secret]


def _guess(name: str, rows: Mapping[str, Any]) -> str:
    """An unknown name with what it may have meant: a row, a field of a table, or one of all there are."""
    from rag_otel.settings.tables import TABLES, places

    if name in TABLES:
        return f"{name} (a table: write {name}={TABLES[name].__name__}(...))"
    written = dict(places(rows))
    if name in written:
        return f"{name} (did you mean {written[name]}?)"
    if (near := nearest(name, [*rows, *written])) is not None:
        return f"{name} (did you mean {near if near in rows else written[near]}?)"
    return f"{name}; there are: {', '.join(rows)}"


def _convert(name: str, value: Any, wanted: Any, origin: str, *, secret: bool) -> Any:
    """`value` as the type of its row, as pydantic's lax mode reads "0.1", "true" and numbers alike."""
    several = typing.get_origin(wanted) is tuple
    if secret and isinstance(value, str) and value.startswith(_FILE):
        value = _read_secret(name, value.removeprefix(_FILE), origin)
        value = value.replace("\n", ",") if several else value
    if isinstance(value, str) and several:
        value = tuple(part.strip() for part in value.split(",") if part.strip())
    if (plain := plain_value(value, wanted)) is not ODD:
        return plain
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(wanted).validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise ConfigurationError(
            f"{name} ({origin}) = {shown(value, secret) if secret else redacted_text(repr(value))}: {problem}"
        ) from None


def _read_secret(name: str, path: str, origin: str) -> str:
    """The text of a secret's file, without the newline that editors leave at its end."""
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigurationError(f"{name} ({origin}): {path} cannot be read: {reason}") from None
    if not text:
        raise ConfigurationError(f"{name} ({origin}): {path} is empty: put the secret into it, or name no file")
    return text


def secrets_of(values: Any) -> list[str]:
    """The secrets that a filled table holds."""
    given = [getattr(values, each.name) for each in dataclasses.fields(values) if each.metadata.get("secret")]
    return [text for value in given for text in (value if isinstance(value, tuple) else (value,)) if text]
