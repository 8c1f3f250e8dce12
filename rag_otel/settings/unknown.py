"""What somebody may have meant: the nearest name to one that there is not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

PREFIX: Final = "RAG_OTEL_"
_OTHERS: Final = ("RAG_OTEL_RAISE_INTERNAL_ERRORS",)
"""Variables of ours that are no settings."""
_COLLECTOR: Final = "RAG_OTEL_COLLECTOR_"
"""Of the collector's own table: an application's environment may hold them too."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`; None where none is like it."""
    import difflib  # here: a set-up without a misspelling does not need it

    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return found[0] if found else None


def unknown_variables(
    known: Iterable[str], environ: Mapping[str, str] | None = None, *, prefix: str = PREFIX
) -> list[str]:
    """The RAG_OTEL_* variables that nobody reads, each with the nearest real one. `known`: every variable read."""
    environ = os.environ if environ is None else environ
    names = {*known, *_OTHERS}
    ours = (name for name in sorted(environ) if name.startswith(prefix))
    foreign = _COLLECTOR if prefix == PREFIX else None
    unread = [name for name in ours if name not in names and not (foreign and name.startswith(foreign))]
    return [_with_nearest(name, nearest(name, names)) for name in unread]


def _with_nearest(name: str, near: str | None) -> str:
    return name if near is None else f"{name} (did you mean {near}?)"
