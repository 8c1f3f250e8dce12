"""Who watches for all: the process that holds the lock of `<state_folder>/shared`, until it ends or dies."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import Final

from rag_otel.durable.state_folder import StateFolder, hold, make_folder, mark_format, write_whole

SHARED: Final = "shared"
OBSERVED: Final = "observed"
"""The folder of the logs, inside."""
LEADER: Final = "leader"
"""Holds the number of the process that leads, or has led last."""


class SharedFolder(StateFolder):
    """The part of a state folder that one process has for all of them."""

    def __init__(self, root: str) -> None:
        """Raises ConfigurationError when the folder can neither be found nor be made."""
        super().__init__(root)
        self._part = self.root / SHARED

    @property
    def path(self) -> Path:
        """Raises OSError where this process does not lead."""
        with self._lock:
            if self._claimed is None:
                raise OSError(errno.EACCES, "another process leads", str(self._part))
            return self._part

    @property
    def logs(self) -> Path:
        """Where the processes' logs are; it exists. Raises OSError."""
        mark_format(self.root)
        folder = self._part / OBSERVED
        make_folder(folder)
        return folder

    def lead(self) -> bool:
        """Try to become the leader; True when this process is. Raises OSError where the folder cannot be used."""
        with self._lock:
            if self._claimed is None:
                mark_format(self.root)
                make_folder(self._part)
                descriptor = hold(self._part)
                if descriptor is None:
                    return False
                self._claimed = (self._part, descriptor)
                with contextlib.suppress(OSError):  # a full disk: it leads all the same
                    write_whole(self._part / LEADER, f"{os.getpid()}\n".encode())
            return True
