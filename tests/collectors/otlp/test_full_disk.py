"""A full disk that later has space again: no acknowledged span is lost, and no restart is needed."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from rag_otel.cli.demo.phoenix_server import free_port
from rag_otel_collectors.otlp.assembly.disk import DiskWatch
from rag_otel_collectors.otlp.exporters.outbox import Outbox
from rag_otel_collectors.otlp.metrics import DISK_ERRORS, Metrics
from testkit.collector import a_backend, a_collector
from testkit.otlp_requests import LANGCHAIN, a_rag_trace, a_request, a_span
from testkit.polling import eventually
from tests.collectors.otlp.test_failures import until_refused
from tests.collectors.otlp.test_queues import A, a_payload, taken
from tests.support.journals import a_journal, left

DISK_BYTES = 2 * 2**20


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """The system writes no byte of a file after the first `size` bytes, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB. Skips the test if none can be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("a small file system can only be mounted as root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path) -> None:
    """Writes until the disk is full."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1024))
    with path.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0")


@pytest.mark.server
@pytest.mark.parametrize("rag", [False, True], ids=["plain spans", "held traces"])
def test_a_collector_survives_a_full_disk(small_disk: Path, rag: bool) -> None:
    """The backend is down until the disk is full. It then accepts all other spans while the disk is still full. Later
    there is space again, which held traces may need to move from one queue to the other."""
    port = free_port()
    text = {"text": "x" * 3000}
    folder = small_disk / "state"
    with a_collector(folder, "--backend", f"grpc://127.0.0.1:{port}") as collector:
        make = a_rag_trace if rag else lambda: [a_span(os.urandom(16), "plain", attributes=text)]
        accepted: list[bytes] = []
        for _ in range(10):
            more, _ = until_refused(collector, make, LANGCHAIN if rag else "http", at_most=5000)
            accepted += more
        assert len(accepted) > 100
        fill(small_disk / "ballast")
        with a_backend(port) as backend:
            if not rag:
                eventually(lambda: set(backend.ids()) >= set(accepted), within_s=120)
            (small_disk / "ballast").unlink()
            eventually(lambda: set(backend.ids()) >= set(accepted), within_s=120)
            assert sorted(backend.ids()) == sorted(accepted)
            eventually(lambda: collector.get("/readyz")[0] == 200)
            collector.export(a_request(a_span(os.urandom(16), "after"), scope="http"))
            eventually(lambda: backend.attributes("after"))
            assert collector.metric("tasks_in_trouble") == 0
            told = [line for line in collector.lines if " WARNING " in line or " ERROR " in line]
            assert len(told) < 60, "one line for each failed write would fill the disk of the logs"
            assert collector.stop() == 0


@pytest.mark.server
def test_a_full_disk_shows_and_recovers_by_itself(small_disk: Path) -> None:
    """Another program fills the disk: requests are rejected, `/readyz` has the reason, and no restart is needed."""
    with a_backend() as backend, a_collector(small_disk / "state", "--backend", backend.address) as collector:
        fill(small_disk / "ballast")
        eventually(lambda: collector.get("/readyz")[0] == 503)
        _, error = until_refused(collector, lambda: [a_span(os.urandom(16), "plain")], "http")
        assert "not accepted for now" in str(error.details())
        (small_disk / "ballast").unlink()
        eventually(lambda: collector.get("/readyz")[0] == 200)
        collector.export(a_request(a_span(os.urandom(16), "after"), scope="http"))
        eventually(lambda: backend.attributes("after"))


@pytest.mark.server
@pytest.mark.parametrize("size", [6_000, 60_000])
def test_a_disk_that_its_own_spans_filled_has_room_once_they_are_delivered(small_disk: Path, size: int) -> None:
    """No write failed: the collector refused in time. While it does it is not ready; what is delivered is deleted, also
    from the file that was written last, until requests as large as before are accepted again."""
    port, folder = free_port(), small_disk / "state"
    text = {"text": "x" * size}
    with a_collector(folder, "--backend", f"grpc://127.0.0.1:{port}") as collector:
        accepted, _ = until_refused(
            collector, lambda: [a_span(os.urandom(16), "plain", attributes=text)], "http", at_most=5000
        )
        assert collector.get("/readyz")[0] == 503
        with a_backend(port) as backend:
            eventually(lambda: set(backend.ids()) == set(accepted), within_s=120)
            eventually(lambda: collector.get("/readyz")[0] == 200)
            collector.export(a_request(a_span(os.urandom(16), "after", attributes=text), scope="http"))
            eventually(lambda: backend.attributes("after"))
            assert collector.stop() == 0


async def test_a_place_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    """If a read position cannot be written, delivery continues, and the position is written later."""
    outbox = Outbox(tmp_path, ["one"])
    reader = outbox.readers["one"]
    first, second = a_payload(b"a"), a_payload(b"b")
    outbox.append(first)
    outbox.append(second)
    batch = await taken(outbox, max_bytes=1)
    with no_file_beyond(10):
        reader.delivered(batch.end)
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            outbox.tend()
    assert (await taken(outbox)).requests == (second,)
    outbox.tend()
    assert (await taken(Outbox(tmp_path, ["one"]))).requests == (second,)


def test_a_mark_that_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    """The marker does not apply to spans of its trace that come afterwards."""
    journal = a_journal(tmp_path)
    one, two = a_payload(b"1"), a_payload(b"2")
    other = b"b" * 16
    journal.append({A: one, other: one}.items())
    with no_file_beyond(journal.disk_bytes):
        for trace_id in (A, other):
            with pytest.raises(OSError, match="too large"):
                journal.done(trace_id)
    journal.append({A: two}.items())
    journal.tend()
    assert left(a_journal(tmp_path)) == {A: [one, two]}


def test_a_request_that_is_taken_back_leaves_nothing(tmp_path: Path) -> None:
    """Neither in the file nor in the list of used files."""
    journal = a_journal(tmp_path, segment_bytes=100)
    journal.append({A: a_payload(b"1" * 100)}.items())
    journal.append({b"b" * 16: a_payload(b"2")}.items())
    journal.take_back()
    journal.done(A)
    journal.relieve()
    assert left(a_journal(tmp_path)) == {}
    assert journal.disk_bytes == 0


async def test_the_watch_asks_the_disk_again(tmp_path: Path) -> None:
    """The problem is reported until a write succeeds, and ends without a request from outside."""
    outbox, metrics = Outbox(tmp_path, ["one"]), Metrics()
    watch = DiskWatch({"outbox": outbox}, metrics, lambda: 0)
    with no_file_beyond(0):
        with pytest.raises(OSError, match="too large"):
            outbox.append(a_payload(b"a"))
        watch.look()
        assert watch.trouble is not None
        assert metrics.get(DISK_ERRORS) == 1
    watch.look()
    assert watch.trouble is None
    outbox.append(a_payload(b"b"))
    assert (await taken(outbox)).requests == (a_payload(b"b"),)


async def test_room_is_made_of_what_was_taken(tmp_path: Path) -> None:
    """Files that are not full are deleted too when everything in them is delivered."""
    outbox = Outbox(tmp_path, ["one"])
    for _ in range(1000):
        outbox.append(a_payload(b"x" * 100))
    outbox.readers["one"].delivered((await taken(outbox)).end)
    assert outbox.disk_bytes > 100_000
    outbox.relieve()
    assert outbox.disk_bytes == 0
