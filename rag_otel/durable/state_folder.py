"""The folder for state that survives a restart: a part for each process, and files that are written atomically.

    <state_folder>/0/...      the first process, 1/... the second; a lock in each tells which are taken

A restarted process finds the part that it left. A part that no process holds is found with `orphans`. A file is written
under another name and renamed: a process that is killed leaves the old file or the new one. A power failure may lose
the last second's files; what cannot be read then is set aside, not raised.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters, logger

try:
    import fcntl
except ImportError:  # Windows: one process to a folder
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
CAN_LOCK: Final = fcntl is not None
"""Whether processes can share a folder here."""
FORMAT: Final = 2
"""Of everything in a state folder and in a collector's data folder, together."""
_FORMAT_FILE: Final = "format"
_OURS: Final = ("[0-9]*/lock", "shared/lock", "journal/*.log", "outbox/log/*.log")
"""What stands in a folder that was used, also before formats had numbers."""
_LOCK: Final = "lock"
_MAX_PARTS: Final = 256


class StateFolder:
    """This process's part of a folder. Claimed at the first use, released when the process ends or forks."""

    def __init__(self, root: str | os.PathLike[str], *, setting: str = "state_folder") -> None:
        """Raises ConfigurationError, which names the setting, when the folder can neither be found nor be made."""
        self.root = Path(root)
        self._lock = threading.RLock()
        self._claimed: tuple[Path, int] | None = None
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


class StateRecord:
    """One state in the folder: a file of JSON with a version, read at the start and written as a whole."""

    def __init__(self, folder: StateFolder, name: str, version: int) -> None:
        self._folder, self._name, self._version = folder, name, version

    def load(self, read: Callable[[Any], T]) -> T | None:
        """What `read` makes of the state; None where there is none. One of another version, or that `read` refuses with
        ValueError, KeyError or TypeError, is set aside."""
        path = self._folder.path / self._name
        data = read_file(path)
        if data is None:
            return None
        try:
            stored = json.loads(data)
            if stored["version"] != self._version:
                raise ValueError(f"version {stored['version']}, not {self._version}")
            return read(stored["state"])
        except (ValueError, KeyError, TypeError) as error:
            set_aside(path, f"{type(error).__name__}: {str(error)[:200]}")
            return None

    def save(self, state: Any) -> bool:
        """False where the disk does not take it."""
        data = json.dumps({"version": self._version, "state": state}).encode()
        try:
            path = self._folder.path / self._name
        except OSError:  # this process has left the folder to another one
            return False
        return write_file(path, data)


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
        _replace(path, f"{FORMAT}\n".encode())


def write_file(path: Path, data: bytes) -> bool:
    """Put `data` at `path`, whole or not at all; False, counted and logged once, when the disk does not take it."""
    try:
        _replace(path, data)
    except OSError as error:
        if counters.add("state.write_failed") == 1:
            logger.warning("rag-otel: %s cannot be written (%s): it is kept in memory alone", path, error)
        return False
    return True


def _replace(path: Path, data: bytes) -> None:
    """Raises OSError."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        make_folder(path.parent)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
        fresh.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


def read_file(path: Path) -> bytes | None:
    """What stands at `path`; None where there is nothing."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.warning("rag-otel: %s cannot be read (%s)", path, error)
        return None


def set_aside(path: Path, why: object) -> None:
    """Rename a file that cannot be read to `*.unreadable`: a newer version may read it, and it fails only once."""
    counters.add("state.unreadable")
    logger.warning("rag-otel: %s is set aside, it cannot be read: %s", path, why)
    with contextlib.suppress(OSError):
        path.replace(path.with_name(f"{path.name}.unreadable"))


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
