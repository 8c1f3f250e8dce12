"""How a setting is declared, and how a table of settings is filled.

A table is a frozen dataclass whose fields are `row()`s: default, meaning, environment names, what a value must be. A
field may also be a group, a table inside the table. Values come from arguments, the environment and a file, in this
order.
"""

from __future__ import annotations

import dataclasses
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, get_type_hints

from rag_otel.errors import ConfigurationError
from rag_otel.safety.redaction import MASK, redacted_text
from rag_otel.settings.coercion import ODD, plain_value
from rag_otel.settings.unknown import PREFIX, UnknownSettingError, unknown_setting, with_nearest

_FILE: Final = "file:"
"""Before a path, in place of a secret."""
_PART: Final = "part"
_KNOWN: Final[dict[type[Any], Mapping[str, SettingRow]]] = {}
"""Tables that were asked for -> their rows."""


class Must(NamedTuple):
    """What a value must be. None may stand anywhere; of several values each is asked."""

    words: str
    """As a message says it: `above 0`."""
    holds: Callable[[Any], bool]


ABOVE_0: Final = Must("above 0", lambda value: value > 0)
AT_LEAST_0: Final = Must("0 or more", lambda value: value >= 0)
AT_LEAST_1: Final = Must("at least 1", lambda value: value >= 1)
SHARE: Final = Must("within 0..1", lambda value: 0 <= value <= 1)
ADDRESS: Final = Must("an http(s) address", lambda value: value.startswith(("http://", "https://")))
_STORES: Final = ("memory", "sqlite:", "redis://", "rediss://", "unix://")
STORE: Final = Must(
    "`memory`, `sqlite:/path/to/file` or `redis://host:6379/0`", lambda value: value.startswith(_STORES)
)


def row(
    default: Any,
    meaning: str,
    *env: str,
    name: str | None = None,
    secret: bool = False,
    must: Must | None = None,
    argument: bool = True,
) -> Any:
    """A setting: its default, what it means, where it is read from, whether it is masked when shown.

    `env`: its environment names; without any it is its name behind `RAG_OTEL_`, or behind what the table's
    `environment` says. `name`: its name in files and in the environment, where that is not the group's prefix and the
    field. `argument=False`: for the environment and files alone. A secret may stand in a file:
    `file:/run/secrets/name` as its value, or its environment name with `_FILE` behind.
    """
    metadata = {"meaning": meaning, "env": env, "secret": secret, "name": name, "must": must, "argument": argument}
    return dataclasses.field(default=default, repr=not secret, metadata=metadata)


def part(default: Any, meaning: str, *, kind: type[object] | None = None) -> Any:
    """An object that an application hands over in its code: no text in a file or the environment stands for it.

    `kind`: the protocol of the object, or of each where the default is an empty list.
    """
    return dataclasses.field(default=default, repr=False, metadata={_PART: True, "meaning": meaning, "kind": kind})


def parts_of(table: type[Any], given: Mapping[str, object]) -> dict[str, Any]:
    """What is given for the parts of a table, lists of objects as tuples. None counts as not given.

    Raises ConfigurationError where something is not what its place takes.
    """
    found: dict[str, Any] = {}
    for field in dataclasses.fields(table):
        value, kind = given.get(field.name), field.metadata.get("kind")
        if _PART not in field.metadata or value is None:
            continue
        several = field.default == ()
        objects = _listed(field.name, value) if several else (value,)
        for each in objects:
            if kind is not None and (isinstance(each, type) or not isinstance(each, kind)):
                methods = sorted(name for name in vars(kind) if not name.startswith("_"))
                raise ConfigurationError(f"{field.name}: {each!r} is no object with {', '.join(methods)}")
        found[field.name] = objects if several else value
    return found


def _listed(name: str, given: object) -> tuple[object, ...]:
    if isinstance(given, str):
        names = "; names of metrics go into metrics=" if name == "evaluators" else ""
        raise ConfigurationError(f"{name} must be a list of objects, not {given!r}{names}")
    return tuple(given) if isinstance(given, Iterable) else (given,)


class Group:
    """Base of tables that are arguments of `instrument()`. An object knows which fields it was given."""

    prefix: typing.ClassVar[str]
    """Begins the names of the group's settings in files and in the environment."""
    argument: typing.ClassVar[str]
    """Of `instrument()`."""

    def __new__(cls, **given: Any) -> typing.Self:
        """Raises UnknownSettingError for a name that is no field, with the one that was meant."""
        names = {each.name: each.name for each in dataclasses.fields(cls)}  # type: ignore[arg-type]
        meant = {row.name: row.path[-1] for row in rows_of(cls).values()} | names
        for name in given.keys() - names.keys():
            guess = with_nearest(name, meant, otherwise=f"; there are: {', '.join(names)}")
            raise UnknownSettingError(f"{cls.__name__}: unknown setting {guess}")
        made = super().__new__(cls)
        made.__dict__["_given"] = {name for name, value in given.items() if value is not None}
        return made

    def given(self) -> dict[str, Any]:
        """Name in files -> value, of what the caller wrote; parts are left out."""
        return {
            row.name: getattr(self, row.path[-1]) for row in rows_of(type(self)).values() if self._has(row.path[-1])
        }

    def parts(self) -> dict[str, Any]:
        """Field -> the object given for it. Raises ConfigurationError where it is not what its place takes."""
        return parts_of(type(self), {name: getattr(self, name) for name in self.__dict__["_given"]})

    def _has(self, field: str) -> bool:
        return field in self.__dict__["_given"]


class SettingRow(NamedTuple):
    """One setting of a table, with all that is known about it."""

    name: str
    """In files, and in lower case without `RAG_OTEL_` in the environment: `alert_slack_url`."""
    path: tuple[str, ...]
    """Where its value is in the filled table: `("alerts", "slack_url")`."""
    owner: type[Any]
    default: Any
    meaning: str
    env: tuple[str, ...]
    secret: bool
    must: Must | None
    argument: bool

    @property
    def code(self) -> str:
        """As it is written in code."""
        if len(self.path) > 1:
            return f"{self.path[0]}={self.owner.__name__}({self.path[1]}=...)"
        return f"{self.name}=" if self.argument else f"the environment's {self.env[0]}"

    def of(self, table: Any) -> Any:
        """Its value in a filled table."""
        for name in self.path:
            table = getattr(table, name)
        return table


def rows_of(table: type[Any]) -> Mapping[str, SettingRow]:
    """Every setting of a table and its groups, by name, in the table's order."""
    if table not in _KNOWN:
        _KNOWN[table] = {row.name: row for row in _rows(table)}
    return _KNOWN[table]


def _rows(table: type[Any]) -> Iterator[SettingRow]:
    prefix, inside = (table.prefix, (table.argument,)) if issubclass(table, Group) else ("", ())
    for field in dataclasses.fields(table):
        if isinstance(field.default, Group):
            yield from _rows(type(field.default))
        elif _PART not in field.metadata:
            about = field.metadata
            name = about["name"] or prefix + field.name
            yield SettingRow(
                name=name,
                path=(*inside, field.name),
                owner=table,
                default=field.default,
                meaning=about["meaning"],
                env=about["env"] or (getattr(table, "environment", PREFIX) + name.upper(),),
                secret=about["secret"],
                must=about["must"],
                argument=about["argument"],
            )


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
    """The values that are not the default, and the origin of every value, by the names of the rows.

    Raises ConfigurationError that names the setting, the value and where it came from.
    """
    arguments = {name: value for name, value in (arguments or {}).items() if value is not None}
    environ = os.environ if environ is None else environ
    file, rows = file or {}, rows_of(table)
    if unknown := sorted((set(arguments) | set(file)) - set(rows)):
        raise unknown_setting(unknown, rows.values())
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, row in rows.items():
        env = next((key for key in row.env if environ.get(key)), None)
        env_file = next((f"{key}_FILE" for key in row.env if row.secret and environ.get(f"{key}_FILE")), None)
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
        values[name] = value = _convert(row, given, origins[name])
        for each in value if isinstance(value, tuple) else (value,):
            if row.must is not None and each is not None:
                require(row.must.holds(each), row, each, row.must.words)
    return values, origins


def require(holds: bool, row: SettingRow, value: object, wanted: str) -> None:
    """Raises ConfigurationError, which names the setting and what is wanted, where it does not hold."""
    if not holds:
        found = shown(value, True) if row.secret else redacted_text(repr(value))
        raise ConfigurationError(f"{row.name} (environment: {row.env[0]}) must be {wanted}, not {found}")


def secrets_of(values: Any) -> list[str]:
    """The secrets that a filled table holds."""
    given = [row.of(values) for row in rows_of(type(values)).values() if row.secret]
    return [text for value in given for text in (value if isinstance(value, tuple) else (value,)) if text]


def _convert(row: SettingRow, value: Any, origin: str) -> Any:
    """`value` as the type of its row, as pydantic's lax mode reads "0.1", "true" and numbers alike."""
    wanted = get_type_hints(row.owner)[row.path[-1]]
    several = typing.get_origin(wanted) in (tuple, Sequence)
    wanted = tuple[str, ...] if several else wanted
    if row.secret and isinstance(value, str) and value.startswith(_FILE):
        value = _read_secret(row.name, value.removeprefix(_FILE), origin)
        value = value.replace("\n", ",") if several else value
    if isinstance(value, str) and several:
        value = tuple(each.strip() for each in value.split(",") if each.strip())
    if callable(value):  # a function of the application's: no text stands for it
        return value
    if (plain := plain_value(value, wanted)) is not ODD:
        return plain
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(wanted).validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        found = shown(value, True) if row.secret else redacted_text(repr(value))
        raise ConfigurationError(f"{row.name} ({origin}) = {found}: {problem}") from None


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
