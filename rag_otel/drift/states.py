"""The states that drift monitoring keeps in a state folder, one for each process, for `rag-otel drift`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_otel.drift import memory
from rag_otel.drift.alerting import moment
from rag_otel.drift.anchors import Reading, shift
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import DriftSettings, Family
from rag_otel.drift.observation import RISK, SCORE
from rag_otel.drift.records import from_record
from rag_otel.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """One process's state, as it was saved last."""

    path: Path
    saved_s: float
    family: Family
    events: tuple[DriftEvent, ...]
    judge: tuple[str, ...]
    """What the anchors say of the judge, in words."""


def read_states(folder: Path, settings: DriftSettings) -> list[StoredState]:
    """The states of all processes of a state folder, or of one part of it. Raises InputError for one that cannot be
    understood; it is left as it is."""
    return [_read(path, settings) for path in _files(folder)]


def ask_to_relearn(folder: Path) -> int:
    """Have every process of the folder learn new baselines; how many were asked. Raises InputError."""
    files = _files(folder)
    if not files:
        raise InputError(f"{folder}: no drift state there")
    for path in files:
        try:
            (path.parent / memory.RELEARN).touch()
        except OSError as error:
            raise InputError(f"{path.parent}: {error.strerror}") from None
    return len(files)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / memory.FILE, *folder.glob(f"*/{memory.FILE}")) if path.is_file())


def _read(path: Path, settings: DriftSettings) -> StoredState:
    try:
        state = memory.parse(path.read_bytes())
        family = Family(settings)
        family.restore(state)
        return StoredState(
            path=path,
            saved_s=float(state["saved_s"]),
            family=family,
            events=tuple(from_record(event, DriftEvent) for event in state["events"]),
            judge=tuple(_judge(state["judge"] or {})),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be understood: {type(error).__name__}: {error}") from None


def _judge(state: Mapping[str, Any]) -> list[str]:
    lines = []
    readings, references = (from_record(state[name], dict) if state else {} for name in ("readings", "references"))
    now: Reading
    for metric, now in readings.items():
        before: Reading = references[metric]
        lines.append(f"judge of {metric}: {now.identity}, anchors scored {moment(now.time_s)}")
        for signal in (SCORE, RISK):
            if (moved := shift(before, now, signal)) is not None:
                low, high = moved.interval
                verdict = "moved" if moved.moved else "has not moved"
                lines.append(f"    {signal}: {verdict}, goodness {moved.mean:+.3f} ({low:+.3f} to {high:+.3f})")
    return lines
