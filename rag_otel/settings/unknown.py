"""Names of settings that there are not: what became of them, or what was meant."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.settings.gone import GONE_SETTINGS

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


def unknown_variables(
    known: Iterable[str],
    environ: Mapping[str, str] | None = None,
    *,
    prefix: str = PREFIX,
    guesses: Mapping[str, str] | None = None,
) -> list[str]:
    """The RAG_OTEL_* variables that nobody reads, each with the nearest real one.

    `known`: every variable read. `guesses`: a name that somebody may write -> the variable that is meant.
    """
    environ = os.environ if environ is None else environ
    names = {*known, *_OTHERS}
    written = {**(guesses or {}), **{name: name for name in names}}
    ours = (name for name in sorted(environ) if name.startswith(prefix))
    foreign = _COLLECTOR if prefix == PREFIX else None
    unread = [name for name in ours if name not in names and not (foreign and name.startswith(foreign))]
    return [_variable(name, written) for name in unread]


def _variable(name: str, written: Mapping[str, str]) -> str:
    setting = name.removeprefix(_COLLECTOR).removeprefix(PREFIX).lower()
    if setting in GONE_SETTINGS:
        return f"{name} (gone: {GONE_SETTINGS[setting]})"
    return with_nearest(name, written)
