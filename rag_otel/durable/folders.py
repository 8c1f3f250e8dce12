"""The collector's own folders: spans have texts of users in them, so nobody else may look."""

from __future__ import annotations

from pathlib import Path


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter, or make one that is there so. Raises OSError."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o077:
        path.chmod(0o700)
