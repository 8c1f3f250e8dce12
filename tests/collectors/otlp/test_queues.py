"""The queues on disk: records that were written are read again, also by the next process."""

from __future__ import annotations

import asyncio
import os
import resource
from pathlib import Path

import pytest

from rag_otel.durable.segments import SegmentLog
from rag_otel_collectors.otlp.exporters.outbox import Batch, Outbox
from tests.support.journals import a_journal, left

A, B = b"a" * 16, b"b" * 16


def a_payload(text: bytes) -> bytes:
    """A request with only an unknown field with this text, less than 128 bytes."""
    return bytes([0x7A, len(text)]) + text


def everything(log: SegmentLog) -> list[bytes]:
    return [payload for payload, _ in log.records()]


async def taken(outbox: Outbox, name: str = "one", max_bytes: int = 10**6) -> Batch:
    return await asyncio.wait_for(outbox.readers[name].next(max_bytes), 60)


def test_a_log_is_read_by_the_next_process(tmp_path: Path) -> None:
    """In order, over several files."""
    log = SegmentLog(tmp_path, segment_bytes=100)
    written = [bytes([number]) * 60 for number in range(10)]
    for payload in written:
        log.append([payload])
    assert len(list(tmp_path.iterdir())) > 3
    assert everything(log) == written
    assert everything(SegmentLog(tmp_path, segment_bytes=100)) == written


@pytest.mark.parametrize("cut", [1, 7, 8, 30])
def test_half_a_record_is_cut_off(tmp_path: Path, cut: int) -> None:
    """If a process dies during a write, the earlier records can be read."""
    SegmentLog(tmp_path, segment_bytes=1000).append([b"whole", b"x" * 30])
    (path,) = tmp_path.iterdir()
    os.truncate(path, path.stat().st_size - cut)
    assert everything(SegmentLog(tmp_path, segment_bytes=1000)) == [b"whole"]


def test_a_damaged_record_ends_its_file_only(tmp_path: Path) -> None:
    """Records in later files are still read."""
    log = SegmentLog(tmp_path, segment_bytes=10)
    for payload in (b"first record", b"second record"):
        log.append([payload])
    path = min(tmp_path.iterdir())
    content = bytearray(path.read_bytes())
    content[-1] ^= 0xFF
    path.write_bytes(content)
    assert everything(SegmentLog(tmp_path, segment_bytes=10)) == [b"second record"]


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    """A partial write is undone, and the log can be used afterwards."""
    log = SegmentLog(tmp_path, segment_bytes=1000)
    log.append([b"before"])
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            log.append([b"lost" * 100])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    log.append([b"after"])
    assert everything(log) == [b"before", b"after"]


async def test_every_reader_gets_everything(tmp_path: Path) -> None:
    """Two backends read at different speeds. Records that both have delivered are deleted."""
    outbox = Outbox(tmp_path, ["one", "two"], segment_bytes=50)
    for number in range(20):
        outbox.append(bytes([number]) * 40)
    assert len((await taken(outbox)).requests) == 20
    outbox.readers["one"].delivered((await taken(outbox)).end)
    full = outbox.disk_bytes
    assert len((await taken(outbox, "two")).requests) == 20
    outbox.readers["two"].delivered((await taken(outbox, "two")).end)
    assert outbox.disk_bytes < full / 5
    assert outbox.readers["one"].idle


async def test_what_was_not_reported_delivered_comes_again(tmp_path: Path) -> None:
    """In the same process, and in the next one."""
    outbox = Outbox(tmp_path, ["one"])
    a, b, c = (a_payload(each) for each in (b"a", b"b", b"c"))
    for payload in (a, b, c):
        outbox.append(payload)
    first = await taken(outbox, max_bytes=1)
    assert (await taken(outbox, max_bytes=1)).requests == first.requests == (a,)
    outbox.readers["one"].delivered(first.end)
    again = Outbox(tmp_path, ["one"])
    assert (await taken(again)).requests == (b, c)


async def test_memory_of_recent_records_is_bounded(tmp_path: Path) -> None:
    """Records beyond the bound are read from disk, in order."""
    outbox = Outbox(tmp_path, ["one"], recent_bytes=100)
    written = [bytes([number]) * 60 for number in range(5)]
    for payload in written:
        outbox.append(payload)
    assert (await taken(outbox)).requests == tuple(written)


async def test_what_was_delivered_lately_can_be_taken_back(tmp_path: Path) -> None:
    """For a backend that responds before it has stored, and is then killed."""
    outbox = Outbox(tmp_path, ["one"])
    outbox.append(b"a")
    reader = outbox.readers["one"]
    reader.delivered((await taken(outbox)).end, mark=b"a")
    assert reader.idle
    outbox.append(b"b")
    assert reader.rewind() == 1
    again = await taken(outbox)
    assert again.requests == (b"a",)  # with the bounds that it had
    reader.delivered(again.end)
    assert (await taken(outbox)).requests == (b"b",)


async def test_what_is_delivered_for_good_is_not_taken_back(tmp_path: Path) -> None:
    """A batch that is being sent is not sent again."""
    outbox = Outbox(tmp_path, ["one"])
    reader = outbox.readers["one"]
    outbox.append(b"a")
    reader.delivered((await taken(outbox)).end)
    assert (reader.rewind(), reader.rewinds) == (0, 0)
    assert reader.idle


async def test_what_has_a_mark_waits_for_it(tmp_path: Path) -> None:
    """A stored later record does not confirm an earlier one. The next process starts at the earlier one."""
    outbox = Outbox(tmp_path, ["one"])
    reader = outbox.readers["one"]
    for name in (b"a", b"b", b"c"):
        outbox.append(a_payload(name))
        reader.delivered((await taken(outbox)).end, mark=name)
    assert reader.idle
    assert not reader.confirmed
    assert reader.confirm({b"a", b"c"}) == 1
    assert [each.mark for each in reader.unconfirmed] == [b"b", b"c"]
    outbox.close()
    again = Outbox(tmp_path, ["one"])
    assert (await taken(again)).requests == (a_payload(b"b"), a_payload(b"c"))
    again.readers["one"].delivered((await taken(again)).end, mark=b"c")
    assert again.readers["one"].confirm({b"c"}) == 1
    assert again.readers["one"].confirmed


async def test_a_reader_of_a_log_that_was_deleted_begins_anew(tmp_path: Path) -> None:
    """A read position beyond a deleted log must not hide new records."""
    outbox = Outbox(tmp_path, ["one"], segment_bytes=1)
    for payload in (b"a", b"b"):
        outbox.append(payload)
        outbox.readers["one"].delivered((await taken(outbox)).end)
    outbox.close()
    for path in (tmp_path / "log").iterdir():
        path.unlink()
    again = Outbox(tmp_path, ["one"])
    again.append(b"new")
    assert (await taken(again)).requests == (b"new",)


def test_the_journal_has_what_was_not_done(tmp_path: Path) -> None:
    """Unfinished traces, in order, without finished ones."""
    journal = a_journal(tmp_path)
    one, two, three = (a_payload(each) for each in (b"1", b"2", b"3"))
    journal.append({A: one, B: two}.items())
    journal.append({A: three}.items())
    journal.done(B)
    assert left(a_journal(tmp_path)) == {A: [one, three]}


def test_a_trace_id_that_comes_again_is_open_again(tmp_path: Path) -> None:
    """A marker applies only to spans before it."""
    journal = a_journal(tmp_path)
    one, two = a_payload(b"1"), a_payload(b"2")
    journal.append({A: one}.items())
    journal.done(A)
    journal.append({A: two}.items())
    assert left(a_journal(tmp_path)) == {A: [two]}


def test_files_of_finished_traces_are_deleted(tmp_path: Path) -> None:
    """The oldest files first. An unfinished trace keeps the files after it, because they contain markers."""
    journal = a_journal(tmp_path, segment_bytes=100)
    journal.append({A: b"x" * 200}.items())
    for number in range(20):
        trace_id = bytes([number]) * 16
        journal.append({trace_id: b"x" * 200}.items())
        journal.done(trace_id)
    assert journal.disk_bytes > 20 * 200
    journal.done(A)
    assert journal.disk_bytes < 1000
