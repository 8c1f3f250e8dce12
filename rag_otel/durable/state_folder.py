"""The folder for what survives a restart: a part for each process, and one small database for all.

    <state_folder>/0/...           the first process, 1/... the second; a lock in each tells which are taken
    <state_folder>/state.sqlite    see `rag_otel.durable.database`

A restarted process finds the part that it left. A part that no process holds is found with `orphans`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from rag_otel.durable.database import Database

try:
    import fcntl
except ImportError:  # Windows: one process to a folder
    fcntl = None  # type: ignore[assignment]

CAN_LOCK: Final = fcntl is not None
"""Whether processes can share a folder here."""
FORMAT: Final = 4
"""Of everything in a state folder and in a collector's data folder, together."""
_FORMAT_FILE: Final = "format"
_OURS: Final = ("[0-9]*/lock", "shared/lock", "journal/*.log", "outbox/log/*.log")
"""What stands in a folder that was used, also before formats had numbers."""
DATABASE: Final = "state.sqlite"
"""The file in the folder that all parts share."""
_LOCK: Final = "lock"
_MAX_PARTS: Final = 256
_BUSY_S: Final = 2.0
"""Whoever reads a state holds up what it belongs to."""


class StateFolder:
    """This process's part of a folder. Claimed at the first use, released when the process ends or forks."""

    def __init__(self, root: str | os.PathLike[str], *, setting: str = "state_folder") -> None:
        """Raises ConfigurationError, which names the setting, when the folder can neither be found nor be made."""
        self.root = Path(root)
        self._lock = threading.RLock()
        self._claimed: tuple[Path, int] | None = None
        self._database: Database | None = None
        try:
            make_folder(self.root)
        except OSError as error:
            raise ConfigurationError(f"{setting} {str(root)!r} cannot be used: {error.strerror}") from None
        check_format(self.root, setting)

    @property
    def path(self) -> Path:
        """The part of this process; it exists. Raises OSError."""
        with self._lock:
            if self._claimed is None:
                self._claimed = self._claim()
            return self._claimed[0]

    @contextlib.contextmanager
    def held(self) -> Iterator[Path]:
        """The part of this process, which it does not release before the block ends. Raises OSError."""
        with self._lock:
            yield self.path

    @property
    def database(self) -> Database:
        """What all parts share. Opened at its first use."""
        with self._lock:
            if self._database is None:
                from rag_otel.durable.database import Database  # imports sqlite3

                self._database = Database(self.root / DATABASE, busy_timeout_s=_BUSY_S)
            return self._database

    @contextlib.contextmanager
    def orphans(self) -> Iterator[list[Path]]:
        """The other parts that no process holds; they are ours inside the block. None where there are no locks, since
        nobody can tell who is gone."""
        own, held = self.path, []
        try:
            others = [each for each in self.root.iterdir() if each.name.isdigit() and each != own] if CAN_LOCK else []
            for part in sorted(others):
                if (descriptor := hold(part)) is not None:
                    held.append((part, descriptor))
            yield [part for part, _ in held]
        finally:
            for _, descriptor in held:
                os.close(descriptor)

    def after_fork(self) -> None:
        """The part is the parent's; the child claims another when it needs one."""
        self._lock = threading.RLock()
        if self._claimed is not None:
            os.close(self._claimed[1])  # the parent's own descriptor keeps the lock
            self._claimed = None

    def close(self) -> None:
        """Release the part. Safe to call twice; a later use claims again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            if self._claimed is not None:
                os.close(self._claimed[1])
                self._claimed = None

    def _claim(self) -> tuple[Path, int]:
        mark_format(self.root)
        for number in range(_MAX_PARTS):
            part = self.root / str(number)
            private_folder(part)
            if (descriptor := hold(part)) is not None:
                return part, descriptor
        raise OSError(f"{self.root}: all {_MAX_PARTS} parts are taken")


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone: answers stand in its files. One that
    is there keeps its permissions. Raises OSError."""
    missing = [each for each in path.parents if not each.exists()]
    for each in (*reversed(missing), path):
        each.mkdir(mode=0o700, exist_ok=True)


def private_folder(path: Path) -> None:
    """The same, and one that is there becomes this user's alone: nobody else may look into a log. Raises OSError."""
    make_folder(path)
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)


def check_format(root: Path, named: str) -> None:
    """Raises ConfigurationError, which says how to empty it, for a folder with files of another version; `named` says
    which folder that is."""
    used = any(any(root.glob(each)) for each in _OURS)  # first: another process may begin now, with its mark
    try:
        found = (root / _FORMAT_FILE).read_text("ascii", "replace").strip()
    except OSError:
        if not used:
            return
        found = "1"
    if found != str(FORMAT):
        raise ConfigurationError(
            f"{named} {str(root)!r} holds files of another version of rag-otel (format {found:.20}, this one reads "
            f"{FORMAT}). Let that version deliver what is in it, then delete the folder: rm -r {root}"
        )


def mark_format(root: Path) -> None:
    """Note the version of what will be in a folder, before it is. Raises OSError."""
    path = root / _FORMAT_FILE
    if not path.exists():
        write_whole(path, f"{FORMAT}\n".encode())


def write_whole(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whole or not at all. Raises OSError."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
        fresh.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


def hold(folder: Path) -> int | None:
    """A descriptor that holds the folder's lock until it is closed or the process dies; None when another process, or
    another descriptor, has it. Raises OSError."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    if fcntl is None:
        return descriptor
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait until no other process is in this block for the folder. Raises OSError."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
