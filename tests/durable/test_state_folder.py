"""A folder of another version is refused, with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_otel.durable.state_folder import FORMAT, StateFolder, check_format, mark_format
from rag_otel.errors import ConfigurationError
from tests.collectors.otlp.test_full_disk import no_file_beyond


@pytest.mark.parametrize("used", ["0/lock", "shared/lock", "journal/0000000001.log", "outbox/log/0000000001.log"])
def test_a_folder_from_before_formats_had_numbers_is_refused(tmp_path: Path, used: str) -> None:
    (tmp_path / used).parent.mkdir(parents=True)
    (tmp_path / used).touch()
    with pytest.raises(ConfigurationError, match=rf"format 1, this one reads {FORMAT}.*rm -r {tmp_path}"):
        check_format(tmp_path, "state_folder")
    mark_format(tmp_path)
    check_format(tmp_path, "state_folder")


def test_a_folder_of_a_version_to_come_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "format").write_text("99\n")
    with pytest.raises(ConfigurationError, match=r"state_folder .*format 99"):
        StateFolder(tmp_path)


def test_foreign_files_prevent_nothing(tmp_path: Path) -> None:
    """A folder that somebody else uses too; what we wrote in it is known again."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").touch()
    for _ in range(2):
        folder = StateFolder(tmp_path)
        assert folder.path == tmp_path / "0"
        folder.close()


def test_a_folder_that_another_process_begins_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first files are not taken for those of another version."""
    glob = Path.glob

    def begun_meanwhile(folder: Path, pattern: str) -> Iterator[Path]:
        mark_format(folder)
        (folder / "shared").mkdir(exist_ok=True)
        (folder / "shared" / "lock").touch()
        return glob(folder, pattern)

    monkeypatch.setattr(Path, "glob", begun_meanwhile)
    check_format(tmp_path, "state_folder")


def test_what_is_interrupted_leaves_no_half_mark(tmp_path: Path) -> None:
    """On a full disk or by a kill: the folder is not taken for one of another version."""
    with no_file_beyond(0), pytest.raises(OSError, match="too large"):
        mark_format(tmp_path)
    check_format(tmp_path, "state_folder")
    assert list(tmp_path.iterdir()) == []
