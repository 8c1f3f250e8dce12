"""Messages of a topic that were taken are known after a restart."""

from __future__ import annotations

from pathlib import Path

from rag_otel.durable.record_format import pieces
from rag_otel_collectors.otlp.receivers.taken_messages import TakenMessages


def test_messages_are_known_by_place_and_content_after_a_restart(tmp_path: Path) -> None:
    """A note that a kill cut off is passed over, and what is no note."""
    first = TakenMessages(tmp_path, "spans")
    first.add(0, 7, b"seven")
    first.close()
    first.close()
    (file,) = (tmp_path / "spans").glob("*.log")
    with file.open("ab") as log:
        log.write(b"".join(pieces(b"what?")) + b"".join(pieces(bytes(16)))[:-1])
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
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.log")) < 700_000
    again = TakenMessages(tmp_path, "spans")
    assert all(again.has(3, offset, b"x") for offset in range(30_000, 40_000))


def test_restarts_in_a_row_forget_nothing(tmp_path: Path) -> None:
    for offset in range(20):
        taken = TakenMessages(tmp_path, "spans")
        taken.add(0, offset, b"x")
        taken.close()
    again = TakenMessages(tmp_path, "spans")
    assert all(again.has(0, offset, b"x") for offset in range(20))
