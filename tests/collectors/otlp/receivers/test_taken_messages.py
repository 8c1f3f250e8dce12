"""Messages of a topic that were taken are known after a restart."""

from __future__ import annotations

from pathlib import Path

from rag_otel_collectors.otlp.receivers.taken_messages import TakenMessages


def test_messages_are_known_by_place_and_content_after_a_restart(tmp_path: Path) -> None:
    """A line that a kill cut off is passed over."""
    first = TakenMessages(tmp_path, "spans")
    first.add(0, 7, b"seven")
    first.close()
    first.close()
    with (tmp_path / "spans.taken").open("ab") as file:
        file.write(b"0 8 12")
        file.write(b"\n\xff what\n0 9")
    second = TakenMessages(tmp_path, "spans")
    assert second.has(0, 7, b"seven")
    assert not second.has(1, 7, b"seven")
    assert not second.has(0, 7, b"of a topic that was made anew")
    assert not second.has(0, 9, b"nine")


def test_the_files_stay_small_and_the_last_messages_known(tmp_path: Path) -> None:
    taken = TakenMessages(tmp_path, "spans")
    for offset in range(40_000):
        taken.add(3, offset, b"x")
    taken.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 600_000
    again = TakenMessages(tmp_path, "spans")
    assert all(again.has(3, offset, b"x") for offset in range(30_000, 40_000))
