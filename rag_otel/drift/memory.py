"""What drift monitoring knows: one record with a version, in the state folder of each process; no texts."""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from rag_otel.drift.alarm_groups import AlarmGroups
from rag_otel.drift.alerting import moment
from rag_otel.drift.anchors import Readings, shift
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import DriftSettings, Family, Key
from rag_otel.drift.judge_watch import KnownJudges
from rag_otel.drift.observation import RISK, SCORE
from rag_otel.drift.records import from_record, stored
from rag_otel.errors import InputError
from rag_otel.lazy_dataclass import dataclass

VERSION: Final = 6
FILE: Final = "drift.json"
RELEARN: Final = "drift.relearn"
"""Whoever puts this file beside the state asks for new baselines; a running process takes it at its next save."""


@stored
@dataclass(slots=True, kw_only=True)
class Memory:
    """All that the next process goes on with, and that `rag-otel drift` shows."""

    family: Family
    problems: AlarmGroups = field(default_factory=AlarmGroups)
    to_tell: list[tuple[DriftEvent, Key]] = field(default_factory=list)
    """Noticed, and not known to be in the inbox: the next process tells it, should this one be killed."""
    events: list[DriftEvent] = field(default_factory=list)
    """What was noticed lately."""
    judges: KnownJudges = field(default_factory=KnownJudges)
    readings: Readings = field(default_factory=Readings)
    """What the judge made of the anchors, when it was saved last."""
    judge_problems: set[str] = field(default_factory=set)
    """Series whose judge has moved."""
    read: dict[str, int] = field(default_factory=dict)
    """How far the logs of processes that share a folder were read, when it was saved last."""
    saved_s: float = 0.0

    @classmethod
    def restored(cls, record: Any, settings: DriftSettings) -> Memory:
        """What was saved, to go on with these settings. Raises KeyError, TypeError or ValueError for anything else."""
        memory = from_record(record, cls)
        memory.family.adopt(settings)
        memory.judges.adopt({name.rpartition(".")[0] for (name, _), _ in memory.family})
        return memory


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """One process's memory, and where it stands."""

    path: Path
    memory: Memory


def read_memories(folder: Path, settings: DriftSettings) -> list[StoredMemory]:
    """The memories of all processes of a state folder, or of one part of it. Raises InputError for one that cannot be
    understood; it is left as it is."""
    return [StoredMemory(path=path, memory=_read(path, settings)) for path in _files(folder)]


def ask_to_relearn(folder: Path) -> int:
    """Have every process of the folder learn new baselines; how many were asked. Raises InputError."""
    files = _files(folder)
    if not files:
        raise InputError(f"{folder}: no drift state there")
    for path in files:
        try:
            (path.parent / RELEARN).touch()
        except OSError as error:
            raise InputError(f"{path.parent}: {error.strerror}") from None
    return len(files)


def judge_lines(readings: Readings) -> list[str]:
    """What the anchors say of the judge, in words."""
    lines = []
    for metric, now in readings.latest.items():
        lines.append(f"judge of {metric}: {now.identity}, anchors scored {moment(now.time_s)}")
        for signal in (SCORE, RISK):
            if (moved := shift(readings.references[metric], now, signal)) is not None:
                low, high = moved.interval
                verdict = "moved" if moved.moved else "has not moved"
                lines.append(f"    {signal}: {verdict}, goodness {moved.mean:+.3f} ({low:+.3f} to {high:+.3f})")
    return lines


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / FILE, *folder.glob(f"*/{FILE}")) if path.is_file())


def _read(path: Path, settings: DriftSettings) -> Memory:
    try:
        stored = json.loads(path.read_bytes())
        if stored["version"] != VERSION:
            raise ValueError(f"version {stored['version']}, not {VERSION}")
        return Memory.restored(stored["state"], settings)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: cannot be understood: {type(error).__name__}: {error}") from None
