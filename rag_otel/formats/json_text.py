"""JSON in texts: in a cell or an attribute, and in a setting or the file that it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag_otel.errors import ConfigurationError


def json_in(text: str) -> Any:
    """The object or list that a text holds as JSON. Any other text is returned as it is."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def object_of(given: str | Mapping[str, Any], setting: str) -> tuple[str, Any]:
    """The value of a setting that is an object, JSON text, or the path of a JSON or TOML file; before it, the place
    where it was written. Raises ConfigurationError that names the setting or the file."""
    if isinstance(given, Mapping):
        return setting, given
    if given.lstrip().startswith("{"):
        return setting, _parsed(given, setting)
    try:
        text = Path(given).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{setting}: {given!r} is neither JSON nor a file: {error}") from None
    return given, _parsed(text, given, toml=given.endswith(".toml"))


def _parsed(text: str, place: str, *, toml: bool = False) -> Any:
    import tomllib  # here: most applications read no such file

    try:
        return tomllib.loads(text) if toml else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{place}: cannot be read: not {'TOML' if toml else 'JSON'}: {error}") from None
