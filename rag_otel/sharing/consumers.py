"""Who watches the results of several processes, and how far each has read their logs.

Positions are saved with the consumer's own state, so that both fit together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import Writer
from rag_otel.safety.guard import guarded


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A result and where it stood."""

    result: EvaluatedTrace
    upto: Mapping[str, int]
    """The position after it in its log; empty where there is none."""


class Consumer(Protocol):
    """Watches results. What it saves holds its positions, so that a result counts once in it, whoever leads."""

    @property
    def read(self) -> Positions: ...

    def take(self, batch: Sequence[Observed]) -> None:
        """Take results into account, each with its position. Never raises."""
        ...


class Positions:
    """How far each log was read, by the log's name: a position as `rag_otel.durable.process_logs` counts them. Guarded
    by the lock of the consumer that owns it."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        """What the consumer has taken into account."""
        self._stored: dict[str, int] | None = None

    def advance(self, upto: Mapping[str, int]) -> None:
        """The consumer has taken all records before these positions."""
        for log, position in upto.items():
            if position > self.taken.get(log, 0):
                self.taken[log] = position

    def results_of(self, batch: Sequence[Observed]) -> list[EvaluatedTrace]:
        """The results of a batch, which the consumer takes now."""
        for each in batch:
            self.advance(each.upto)
        return [each.result for each in batch]

    def stored(self, log: str) -> int:
        """What need not be read again, whatever happens to this process; all that was taken where nothing is saved."""
        return (self.taken if self._stored is None else self._stored).get(log, 0)

    def keep_only(self, logs: Collection[str]) -> None:
        """Forget logs that are deleted."""
        self.taken = {log: position for log, position in self.taken.items() if log in logs}

    def to_state(self) -> dict[str, int]:
        """A copy, to be saved."""
        return dict(self.taken)

    def was_saved(self, state: Mapping[str, int]) -> None:
        """What `to_state` gave is on disk now."""
        self._stored = dict(state)

    def restore(self, state: Mapping[str, int]) -> None:
        """Go on where a process has saved."""
        self.taken = {str(log): int(position) for log, position in state.items()}
        self._stored = dict(self.taken)

    def begin_saving(self) -> None:
        """Nothing is on disk yet, and it will be: no log may be deleted before."""
        if self._stored is None:
            self._stored = {}


class Unsaved:
    """A writer without a state of its own as a consumer: metrics, monitors that count the last minutes. It begins where
    another consumer has read to: what a leader has counted is gone with it."""

    def __init__(self, writer: Writer, begin_with: Positions) -> None:
        self._writer = writer
        self.read = Positions()
        self.read.advance(begin_with.taken)

    def take(self, batch: Sequence[Observed]) -> None:
        """Write them."""
        if results := self.read.results_of(batch):
            with guarded(f"sharing.{self._writer.name}"):
                self._writer.write(results)
