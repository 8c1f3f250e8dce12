"""A damaged disk: readable records are delivered, unreadable ones are moved aside, counted and logged."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from rag_otel.cli.demo.phoenix_server import free_port
from rag_otel.durable.record_format import HEADER, pieces
from rag_otel.durable.segments import SegmentLog
from testkit.collector import CollectorProcess, a_backend, a_collector
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from testkit.polling import eventually
from tests.collectors.otlp.test_queues import a_payload, everything
from tests.support.journals import a_journal

PAYLOADS = [f"record {number} ".encode() * (number + 1) for number in range(6)]


def a_file(folder: Path) -> Path:
    """A log file with these payloads."""
    log = SegmentLog(folder, segment_bytes=10**6)
    log.append(PAYLOADS)
    log.close()
    return min(folder.glob("*.log"))


def records_of(path: Path) -> list[tuple[int, int]]:
    """(offset, length after the header) of every record of an undamaged file."""
    content, at, found = path.read_bytes(), 0, []
    while at < len(content):
        length = HEADER.unpack_from(content, at)[0]
        found.append((at, length))
        at += HEADER.size + length
    return found


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 0xFF]))


def test_one_flipped_byte_costs_one_record(tmp_path: Path) -> None:
    """For any byte of the file: in a length, a checksum, a marker or a payload."""
    path = a_file(tmp_path / "log")
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole)
        flip(path, at)
        log = SegmentLog(tmp_path / "log", segment_bytes=10**6)
        found = everything(log)
        assert len(found) == len(PAYLOADS) - 1, f"byte {at}"
        assert [each for each in PAYLOADS if each in found] == found
        assert log.damage.places == 1
        log.close()
        for empty in (each for each in path.parent.glob("*.log") if each != path):
            empty.unlink()


@pytest.mark.parametrize("damaged", [(0,), (1, 2), (1, 3), (0, 2, 4), (5,), (0, 1, 2, 3, 4, 5)])
def test_records_around_damaged_ones_are_read(tmp_path: Path, damaged: tuple[int, ...]) -> None:
    """Also if the lengths of several consecutive records are damaged."""
    path = a_file(tmp_path / "log")
    places = records_of(path)
    for number in damaged:
        with path.open("r+b") as file:
            file.seek(places[number][0])
            file.write(b"\xff" * 12)
    log = SegmentLog(tmp_path / "log", segment_bytes=10**6)
    assert everything(log) == [payload for number, payload in enumerate(PAYLOADS) if number not in damaged]
    assert log.damage.bytes == sum(HEADER.size + places[number][1] for number in damaged)


def test_damaged_bytes_are_set_aside(tmp_path: Path) -> None:
    """Only these bytes are moved aside, once, into a file that only the owner can read."""
    path = a_file(tmp_path / "log")
    at, length = records_of(path)[2]
    flip(path, at + HEADER.size + length // 2)
    for _ in range(2):
        assert len(everything(SegmentLog(tmp_path / "log", segment_bytes=10**6))) == 5
    (kept,) = (tmp_path / "log-damaged").iterdir()
    assert kept.read_bytes() == path.read_bytes()[at : at + HEADER.size + length]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700


def test_a_run_of_zeros_is_no_run_of_empty_records(tmp_path: Path) -> None:
    """After a power failure a file may end with zeros, or contain some."""
    path = a_file(tmp_path / "log")
    at, _ = records_of(path)[4]
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(400))
    assert everything(SegmentLog(tmp_path / "log", segment_bytes=10**6)) == PAYLOADS[:4]


def test_what_looks_like_records_is_searched_within_bounds(tmp_path: Path) -> None:
    """A client may send the marker itself, with valid lengths and invalid checksums."""
    hostile = (struct.pack("<II", 4 * 2**20, 0) + b"".join(pieces(b""))[HEADER.size :]) * (2**20 // 4)
    log = SegmentLog(tmp_path, segment_bytes=10**8)
    log.append([b"first", hostile, b"last"])
    log.close()
    path = tmp_path / "0000000001.log"
    flip(path, records_of(path)[1][0] + 3)  # the length of the hostile one
    found = everything(SegmentLog(tmp_path, segment_bytes=10**8))
    assert found[0] == b"first"
    assert len(found) <= 2


@pytest.mark.parametrize("name", ["notanumber.log", "5.log", "99999999999999999999.log", "0000000007.log", "probe"])
def test_foreign_things_in_the_folder_prevent_no_start(tmp_path: Path, name: str) -> None:
    """Files with other names are ignored, and also folders and pipes with expected names."""
    path = a_file(tmp_path)
    if name == "0000000007.log":
        (tmp_path / name).mkdir()
        os.mkfifo(tmp_path / "0000000006.log")
    else:
        (tmp_path / name).write_text("x")
    log = SegmentLog(tmp_path, segment_bytes=10**6)
    log.append([b"more"])
    assert everything(log) == [*PAYLOADS, b"more"]
    assert (tmp_path / name).exists()
    assert path.exists()


def test_the_journal_passes_over_damage(tmp_path: Path) -> None:
    """The traces before and after the damage are read."""
    journal = a_journal(tmp_path / "journal")
    ids = [bytes([number]) * 16 for number in range(1, 6)]
    for trace_id in ids:
        journal.append({trace_id: a_payload(b"request" * 10)}.items())
    journal.close()
    path = min((tmp_path / "journal").glob("*.log"))
    at, _ = records_of(path)[2]
    flip(path, at + 3)
    assert a_journal(tmp_path / "journal").keys == [each for each in ids if each != ids[2]]


def _write_garbage(path: Path, payload: bytes) -> None:
    """Writes a valid record whose bytes are not a request."""
    path.write_bytes(b"".join(pieces(payload)))


@pytest.mark.server
def test_a_collector_delivers_all_but_the_damaged(tmp_path: Path) -> None:
    """Flipped bytes in several records of both queues, half a record, garbage and unknown files: the other records are
    delivered."""
    port = free_port()
    collector = CollectorProcess(
        tmp_path, "--backend", f"grpc://127.0.0.1:{port}", "--set", "grace=60", "--set", "idle=60"
    )
    collector.start()
    plain, held = [], []
    for number in range(40):
        span = a_span(os.urandom(16), f"plain {number}", attributes={"text": "x" * 200})
        collector.export(a_request(span, scope="http"))
        plain.append(span.span_id)
        if number % 4 == 0:
            child, _ = a_rag_trace()
            collector.export(a_request(child))
            held.append(child.span_id)
    collector.kill()
    outbox = max((tmp_path / "outbox/log").glob("*.log"), key=lambda each: each.stat().st_size)
    journal = max((tmp_path / "journal").glob("*.log"), key=lambda each: each.stat().st_size)
    places = records_of(outbox)
    assert len(places) == 40
    flip(outbox, places[10][0] + 8 + places[10][1] // 2)
    flip(outbox, places[20][0] + 3)
    flip(outbox, places[30][0] + 5)
    os.truncate(outbox, places[39][0] + 20)
    flip(journal, records_of(journal)[4][0] + 60)
    (outbox.parent / "notanumber.log").write_text("x")
    _write_garbage(outbox.parent / "9999999990.log", b"\xff\xff\xff\xff garbage")
    _write_garbage(journal.parent / "9999999990.log", b"H" + os.urandom(16) + b"\xff\xff\xff\xff garbage")
    wanted = {each for n, each in enumerate(plain) if n not in (10, 20, 30, 39)}
    wanted |= {each for n, each in enumerate(held) if n != 4}
    with a_backend(port) as backend, a_collector(tmp_path, "--backend", backend.address) as again:
        eventually(lambda: set(backend.ids()) >= wanted)
        assert set(backend.ids()) == wanted
        assert len(backend.ids()) == len(wanted)
        assert again.metric("damaged_places") == 7
        assert again.metric("unread_files") == 1
        assert sum("is damaged" in line for line in again.lines) == 7
        again.export(a_request(a_span(os.urandom(16), "after"), scope="http"))
        eventually(lambda: backend.attributes("after"))
        assert again.stop() == 0
