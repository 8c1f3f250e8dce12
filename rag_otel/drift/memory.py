"""What drift monitoring knows, kept in the state folder: series, problems, readings of the anchors; no texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from rag_otel.durable.state_folder import read_file, set_aside, write_file

VERSION: Final = 5
FILE: Final = "drift.json"
RELEARN: Final = "drift.relearn"
"""Whoever puts this file beside the state asks for new baselines; a running process takes it at its next save."""


def save(path: Path, parts: Iterator[tuple[str, Any]]) -> bool:
    """Write a state, whole or not at all. `parts` are (key, value) pairs; of a list every item is encoded by itself, so
    that other threads get their turn."""
    pieces = [f'{{"version": {VERSION}']
    for key, value in parts:
        if isinstance(value, list):
            pieces.append(f', "{key}": [' + ",\n".join(json.dumps(item) for item in value) + "]")
        else:
            pieces.append(f', "{key}": {json.dumps(value)}')
    pieces.append("}\n")
    return write_file(path, "".join(pieces).encode("ascii"))


def load(path: Path, use: Callable[[Mapping[str, Any]], None]) -> bool:
    """Hand what stands at `path` to `use`; False where there is nothing or it cannot be understood (then it is set
    aside, and whatever `use` has begun must be undone by the caller)."""
    data = read_file(path)
    if data is None:
        return False
    try:
        use(parse(data))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        set_aside(path, f"{type(error).__name__}: {str(error)[:200]}")
        return False
    return True


def parse(data: bytes) -> Mapping[str, Any]:
    """A state that `save` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    state: Mapping[str, Any] = json.loads(data)
    if state["version"] != VERSION:
        raise ValueError(f"version {state['version']}, not {VERSION}")
    return state
