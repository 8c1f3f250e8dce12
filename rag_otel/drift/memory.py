"""What drift monitoring knows: one record with a version, in the state folder of each process; no texts."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import Any, Final

from rag_otel.drift.alarm_groups import AlarmGroups
from rag_otel.drift.alerting import moment
from rag_otel.drift.anchors import Readings, shift
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import Family, FamilySettings, SeriesKey
from rag_otel.drift.judge_watch import KnownJudges
from rag_otel.drift.observation import RISK, SCORE
from rag_otel.drift.records import from_record, stored
from rag_otel.durable.named_states import states_in
from rag_otel.errors import InputError
from rag_otel.lazy_dataclass import dataclass

VERSION: Final = 6
NAME: Final = "drift"
"""Of the state."""
RELEARN: Final = "drift.relearn"
"""Whoever puts this file into a part of the state folder asks for new baselines; a running process takes it at its next
save."""


@stored
@dataclass(slots=True, kw_only=True)
class Memory:
    """All that the next process goes on with, and that `rag-otel drift` shows."""

    family: Family
    problems: AlarmGroups = field(default_factory=AlarmGroups)
    to_tell: list[tuple[DriftEvent, SeriesKey]] = field(default_factory=list)
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
    def restored(cls, record: Any, settings: FamilySettings) -> Memory:
        """What was saved, to go on with these settings. Raises KeyError, TypeError or ValueError for anything else."""
        memory = from_record(record, cls)
        memory.family.adopt(settings)
        memory.judges.adopt({name.rpartition(".")[0] for (name, _), _ in memory.family})
        return memory


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """One process's memory, and its part of the state folder."""

    part: Path
    memory: Memory


def read_memories(folder: Path, settings: FamilySettings) -> list[StoredMemory]:
    """The memories of all processes of a state folder, or of one part of it. Raises InputError for one that cannot be
    understood; it is left as it is."""
    return [
        StoredMemory(part=part, memory=_read(part, record, settings))
        for part, record in states_in(folder, NAME, VERSION).items()
    ]


def ask_to_relearn(folder: Path) -> int:
    """Have every process of the folder learn new baselines; how many were asked. Raises InputError."""
    parts = list(states_in(folder, NAME, VERSION))
    if not parts:
        raise InputError(f"{folder}: no drift state there")
    for part in parts:
        try:
            (part / RELEARN).touch()
        except OSError as error:
            raise InputError(f"{part}: {error.strerror}") from None
    return len(parts)


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


def _read(part: Path, record: Any, settings: FamilySettings) -> Memory:
    try:
        return Memory.restored(record, settings)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{part}: the drift state cannot be understood: {type(error).__name__}: {error}") from None
