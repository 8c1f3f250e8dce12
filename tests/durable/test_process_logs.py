"""The append log: what was written whole is read once, whatever a kill or a full disk leaves behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel.durable.process_logs import LogReader, LogWriter, logs_in
from rag_otel.durable.record_format import pieces
from rag_otel.safety.guard import counters


def payloads(count: int, *, first: int = 0) -> list[bytes]:
    return [f'{{"n": {number}}}'.encode() for number in range(first, first + count)]


def read(log: LogReader, position: int = 0) -> tuple[list[bytes], int]:
    records, end, _ = log.read(position)
    return [payload for _, payload in records], end


def a_log(folder: Path, *parts: list[bytes], segment_bytes: int = 2**20) -> tuple[LogWriter, LogReader]:
    writer = LogWriter(folder, segment_bytes=segment_bytes)
    for part in parts:
        writer.append(part)
    return writer, LogReader(folder / writer.name)


def test_records_are_read_in_order_and_once(tmp_path: Path) -> None:
    writer, log = a_log(tmp_path, payloads(3))
    found, end = read(log)
    assert found == payloads(3)
    writer.append(payloads(2, first=3))
    assert read(log, end)[0] == payloads(2, first=3)


def test_a_log_goes_over_several_segments_and_positions_go_on(tmp_path: Path) -> None:
    """Segments are read through; those before a position are deleted."""
    writer, log = a_log(tmp_path, *[payloads(1, first=number) for number in range(20)], segment_bytes=100)
    records, end, _ = log.read(0)
    assert [payload for _, payload in records] == payloads(20)
    middle = records[9][0]
    assert not log.forget(middle)
    assert read(log, middle)[0] == payloads(10, first=10)
    assert read(log)[0][-1:] == payloads(1, first=19)
    assert len(list((tmp_path / writer.name).glob("*.log"))) < 10
    assert not log.forget(end)  # the writer lives
    writer.close()
    assert log.forget(end)
    assert logs_in(tmp_path) == []


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_record_that_a_kill_has_cut_is_skipped(tmp_path: Path, cut: int) -> None:
    """Left alone while the writer may be writing it; set aside when the writer is gone."""
    writer, log = a_log(tmp_path / "observed", payloads(2))
    (segment,) = log.path.glob("*.log")
    with segment.open("ab") as file:
        file.write(b"".join(pieces(b'{"n": 2}'))[:-cut])
    found, end = read(log)
    assert found == payloads(2)
    assert read(log, end) == ([], end)
    assert not (tmp_path / "damaged").exists()
    writer.close()
    found, after = read(log, end)
    assert found == []
    assert after > end
    assert log.forget(after)


def test_a_damaged_record_loses_no_other(tmp_path: Path) -> None:
    """It is counted, and told once."""
    damaged = counters.snapshot().get("logs.damaged", 0)
    _, log = a_log(tmp_path / "observed", payloads(3))
    (segment,) = log.path.glob("*.log")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    for _ in range(2):
        assert read(log)[0] == [payloads(3)[0], payloads(3)[2]]
    assert counters.snapshot()["logs.damaged"] == damaged + 1


def test_a_log_that_nobody_reads_is_bounded(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path, segment_bytes=100, max_bytes=300)
    for _ in range(3):
        writer.append([b"x" * 80])
    with pytest.raises(OSError, match="nobody has read the log"):
        writer.append([b"x" * 80])
    assert sum(each.stat().st_size for each in tmp_path.rglob("*.log")) <= 300


def test_a_full_disk_leaves_whole_records(tmp_path: Path) -> None:
    """The disk takes half a record, by the limit of the size of files: it is taken back, and the error is raised."""
    code = """
import resource, sys
from pathlib import Path
from rag_otel.durable.process_logs import LogReader, LogWriter
writer = LogWriter(Path(sys.argv[1]))
writer.append([b"{}"] * 10)
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
try:
    writer.append([b"{}"] * 10)
except OSError as error:
    print(type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.append([b"[]"])
records, _, _ = LogReader(Path(sys.argv[1]) / writer.name).read(0)
print([payload for _, payload in records] == [b"{}"] * 10 + [b"[]"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.split() == ["OSError", "True"]


def test_a_file_that_somebody_has_deleted_is_not_written_to(tmp_path: Path) -> None:
    """What comes then is in a new one; where the folder is gone too, an error says so."""
    writer, log = a_log(tmp_path, payloads(2))
    for path in log.path.glob("*.log"):
        path.unlink()
    writer.append(payloads(1, first=2))
    assert read(log)[0] == payloads(1, first=2)
    shutil.rmtree(log.path)
    with pytest.raises(FileNotFoundError):
        writer.append(payloads(1))
