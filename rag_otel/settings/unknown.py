"""Names of settings that there are not: what became of them, or what was meant."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from rag_otel.errors import ConfigurationError
from rag_otel.settings.gone import GONE_SETTINGS

if TYPE_CHECKING:
    from rag_otel.settings.rows import SettingRow

PREFIX: Final = "RAG_OTEL_"
_OTHERS: Final = ("RAG_OTEL_RAISE_INTERNAL_ERRORS",)
"""Variables of ours that are no settings."""
_COLLECTOR: Final = "RAG_OTEL_COLLECTOR_"
"""Of the collector's own table: an application's environment may hold them too."""


class UnknownSettingError(ConfigurationError, TypeError):
    """An argument that there is not; the message says what to write instead."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`; None where none is like it."""
    import difflib  # here: a set-up without a misspelling does not need it

    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return found[0] if found else None


def with_nearest(name: str, written: Mapping[str, str], *, otherwise: str = "") -> str:
    """An unknown name with what became of it, else with the known name that is most like it, else `otherwise`.

    `written`: known name -> how it is written.
    """
    if name in GONE_SETTINGS:
        return f"{name} (gone: {GONE_SETTINGS[name]})"
    near = name if name in written else nearest(name, written)
    return f"{name}{otherwise}" if near is None else f"{name} (did you mean {written[near]}?)"


def unknown_argument(names: Iterable[str], rows: Collection[SettingRow]) -> UnknownSettingError:
    """The error for arguments that there are not, with what was meant as it is written in code."""
    written = {row.path[-1]: row.code for row in rows} | {row.name: row.code for row in rows}
    guesses = (with_nearest(name, written, otherwise="; docs/settings.md lists every setting") for name in names)
    return UnknownSettingError(f"unknown argument {', '.join(guesses)}")


def unknown_setting(names: Iterable[str], rows: Collection[SettingRow]) -> UnknownSettingError:
    """The error for settings of files and flags that there are not: a row was meant, or a field of a group as it is
    written in code."""
    fields = {row.path[-1]: row.code for row in rows if len(row.path) > 1}
    written = fields | {"_".join(row.path): row.name for row in rows} | {row.name: row.name for row in rows}
    otherwise = f"; there are: {', '.join(row.name for row in rows)}"
    guesses = (with_nearest(name, written, otherwise=otherwise) for name in names)
    return UnknownSettingError(f"unknown setting {', '.join(guesses)}")


def unread_variables(rows: Collection[SettingRow], environ: Mapping[str, str] | None = None) -> list[str]:
    """The RAG_OTEL_* variables that none of the rows is read from, each with the nearest one that is.

    `JudgeSettings(timeout=...)` is read from RAG_OTEL_EVALUATION_TIMEOUT; who writes RAG_OTEL_JUDGE_TIMEOUT means that.
    """
    environ = os.environ if environ is None else environ
    read = [name for row in rows for each in row.env for name in ((each, f"{each}_FILE") if row.secret else (each,))]
    known = {*read, *_OTHERS}
    groups = {PREFIX + "_".join(row.path).upper(): row.env[0] for row in rows if len(row.path) > 1}
    collects = any(name.startswith(_COLLECTOR) for name in read)
    ours = (name for name in sorted(environ) if name.startswith(PREFIX) and name not in known)
    written = groups | {name: name for name in known}
    return [_variable(name, written) for name in ours if collects or not name.startswith(_COLLECTOR)]


def _variable(name: str, written: Mapping[str, str]) -> str:
    setting = name.removeprefix(_COLLECTOR).removeprefix(PREFIX).lower()
    if setting in GONE_SETTINGS:
        return f"{name} (gone: {GONE_SETTINGS[setting]})"
    return with_nearest(name, written)
