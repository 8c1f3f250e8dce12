"""How far a consumer has read each log. It is saved with the consumer's own state, so that both fit together."""

from __future__ import annotations

from collections.abc import Collection, Mapping


class Positions:
    """Bytes from the beginning of each log, by the log's name. Guarded by the lock of the consumer that owns it."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        """What the consumer has taken into account."""
        self._stored: dict[str, int] | None = None

    def advance(self, upto: Mapping[str, int]) -> None:
        """The consumer has taken all records before these positions."""
        for log, position in upto.items():
            if position > self.taken.get(log, 0):
                self.taken[log] = position

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
