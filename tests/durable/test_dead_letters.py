"""What a backend refuses for good is kept, listed, and sent again."""

from __future__ import annotations

import gzip
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel.cli.main import main
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.durable.dead_letters import DeadLetter, DeadLetters
from rag_otel.durable.span_codec import decode
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from testkit.collector import a_collector
from testkit.http_receiver import Received, Receiver, http_receiver
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.durable.kit import spans
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import a_result

POISON = b"Question 3?"


def plain(received: Received) -> bytes:
    return gzip.decompress(received.body) if received.body[:2] == b"\x1f\x8b" else received.body


def refusing(received: Received) -> tuple[int, bytes]:
    """400 for a request with a certain span."""
    return (400, b"no such thing") if POISON in plain(received) else (200, b"")


def rejecting(received: Received) -> tuple[int, bytes]:
    """A partial success."""
    answer = ExportTraceServiceResponse()
    if POISON in plain(received):
        answer.partial_success.rejected_spans = 1
        answer.partial_success.error_message = "one is too old"
    return 200, answer.SerializeToString()


@pytest.fixture
def backend() -> Iterator[Receiver]:
    with http_receiver() as receiver:
        yield receiver


def letters(folder: Path) -> list[DeadLetter]:
    return list(DeadLetters(folder / "dead-letters").all())


def names(letter: DeadLetter) -> list[str]:
    return [span.name for span in decode(letter.request)]


def test_retry_needs_an_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DeadLetters(tmp_path / "dead-letters").add(a_letter_request(), backend="gone", reason="no")
    assert main(["dead-letters", "retry", "--folder", str(tmp_path)]) == 2
    assert "--endpoint" in capsys.readouterr().err
    assert len(letters(tmp_path)) == 1


def test_an_unreachable_backend_leaves_the_letters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DeadLetters(tmp_path / "dead-letters").add(a_letter_request(), backend="gone", reason="no")
    assert main(["dead-letters", "retry", "--folder", str(tmp_path), "--endpoint", "http://127.0.0.1:9"]) == 1
    assert "not now" in capsys.readouterr().out
    assert len(letters(tmp_path)) == 1


@pytest.mark.parametrize("before", [0, 1, 3])
def test_names_stand_before_or_behind_options(before: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only these letters are listed."""
    dead = DeadLetters(tmp_path / "dead-letters")
    for number in range(4):
        dead.add(a_letter_request(), backend=f"backend-{number}", reason="no")
    names = [letter.name for letter in letters(tmp_path)][:3]
    options = ["--folder", str(tmp_path)]
    assert main(["dead-letters", "list", *names[:before], *options, *names[before:], "--json"]) == 0
    assert [json.loads(line)["letter"] for line in capsys.readouterr().out.splitlines()] == names


def test_the_folder_is_bounded(tmp_path: Path) -> None:
    """What comes beyond is lost, and what is there stays."""
    dead = DeadLetters(tmp_path, max_bytes=1000)
    kept = [dead.add(a_letter_request(), backend="one", reason="no") for _ in range(10)]
    assert kept[0] is True
    assert kept[-1] is False
    assert len(list(dead.all())) == sum(kept)


def test_a_damaged_letter_is_passed_over(tmp_path: Path) -> None:
    """It stays where it is; the others are listed."""
    dead = DeadLetters(tmp_path / "dead-letters")
    for _ in range(3):
        dead.add(a_letter_request(), backend="one", reason="no")
    path = sorted(tmp_path.rglob("*.letter"))[1]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    (tmp_path / "dead-letters" / "a-file.json").write_text("{garbage")
    first, last = DeadLetters(tmp_path / "dead-letters").all()
    assert path not in (first.path, last.path)


def test_processes_share_a_folder_and_letters_go_one_by_one(tmp_path: Path) -> None:
    """Also while the process that wrote them goes on."""
    first, second = DeadLetters(tmp_path), DeadLetters(tmp_path)
    for number in range(3):
        first.add(a_letter_request(), backend=f"first-{number}", reason="no")
        second.add(a_letter_request(), backend=f"second-{number}", reason="no")
    reader = DeadLetters(tmp_path)
    for letter in list(reader.all()):
        if not letter.backend.endswith("-1"):
            reader.remove(letter)
    assert sorted(letter.backend for letter in reader.all()) == ["first-1", "second-1"]
    first.add(a_letter_request(), backend="first-3", reason="no")
    assert sorted(letter.backend for letter in reader.all()) == ["first-1", "first-3", "second-1"]


def test_a_result_that_phoenix_refuses_is_kept_and_written_again(
    tmp_path: Path, backend: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the application, which keeps no spans. It is listed, stays while it is refused, and goes when it is taken."""
    backend.respond = lambda received: (422, b"no such span") if "annotations" in received.path else (200, b"")
    writer = PhoenixAnnotationWriter(backend.url)
    dispatcher = Dispatcher([writer], dead=DeadLetters(tmp_path / "dead-letters"))
    result = a_result()
    dispatcher.submit(result)
    assert dispatcher.flush(20)
    dispatcher.shutdown(5)
    (letter,) = letters(tmp_path)
    assert letter.result == result
    assert "no such span" in letter.reason
    assert (letter.backend, letter.spans, letter.trace_ids) == (writer.name, 1, (result.trace.target.trace_id,))
    assert letter.path.stat().st_mode & 0o777 == 0o600

    assert main(["dead-letters", "list", "--folder", str(tmp_path), "--json"]) == 0
    (listed,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert listed["trace_ids"] == list(letter.trace_ids)
    assert main(["dead-letters", "list", "--folder", str(tmp_path)]) == 0
    assert "no such span" in capsys.readouterr().out

    retry = ["dead-letters", "retry", "--folder", str(tmp_path), letter.name]
    assert main(retry) == 1
    assert "not configured" in capsys.readouterr().out
    assert main([*retry, "--endpoint", backend.url]) == 1
    assert "refused: " in capsys.readouterr().out
    backend.requests.clear()
    backend.respond = None
    assert main([*retry, "--endpoint", backend.url]) == 0
    assert letters(tmp_path) == []
    rows = json.loads(next(each for each in backend.requests if "span_annotations" in each.path).body)["data"]
    assert [row["span_id"] for row in rows] == [result.trace.target.span_id]


def a_letter_request() -> bytes:
    """A request with one span."""
    return a_request(Span(trace_id=b"t" * 16, span_id=b"s" * 8, name="refused")).SerializeToString()


@pytest.mark.server
def test_the_collector_keeps_what_is_refused(tmp_path: Path, backend: Receiver) -> None:
    """One span is refused, and of another batch one is rejected; all others are forwarded."""
    with a_collector(tmp_path, "--backend", backend.url) as collector:
        backend.respond = refusing
        collector.export(a_request(*[a_span(os.urandom(16), f"Question {n}?") for n in range(5)], scope="http"))
        (letter,) = eventually(lambda: letters(tmp_path))
        assert names(letter) == ["Question 3?"]
        assert letter.backend == "default"
        assert letter.reason == "HTTP 400: no such thing"
        backend.respond = rejecting
        collector.export(a_request(a_span(os.urandom(16), "Question 3?"), a_span(os.urandom(16), "fine"), scope="http"))
        second = eventually(lambda: letters(tmp_path)[1:])[0]
        assert (second.spans, second.rejected, second.reason) == (2, 1, "one is too old")
        assert collector.metric("lost_spans_total") == 2
        assert collector.stop() == 0
    backend.requests.clear()
    backend.respond = None
    env = {"RAG_OTEL_COLLECTOR_DATA_DIR": str(tmp_path), "RAG_OTEL_COLLECTOR_BACKEND": backend.url}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        assert main(["dead-letters", "retry"]) == 0
    assert letters(tmp_path) == []
    assert sorted(span.name for span in spans(backend)) == ["Question 3?", "Question 3?", "fine"]


@pytest.mark.phoenix
def test_what_was_refused_is_sent_to_phoenix(
    tmp_path: Path, backend: Receiver, phoenix_server: SharedPhoenix, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configured Phoenix gets the trace of a letter, once, also where it has some of its spans already."""
    project = f"letters-{uuid.uuid4().hex[:8]}"
    request = a_request(*a_rag_trace())
    request.resource_spans[0].resource.attributes.add(key=semconv.PROJECT_NAME).value.string_value = project
    dead = DeadLetters(tmp_path / "dead-letters")
    dead.add(request.SerializeToString(), backend=backend.url, reason="HTTP 400", rejected=1)
    dead.add(request.SerializeToString(), backend=backend.url, reason="HTTP 400")
    monkeypatch.setenv("RAG_OTEL_PHOENIX_ENDPOINT", phoenix_server.base_url)
    assert main(["dead-letters", "retry", "--folder", str(tmp_path)]) == 0
    assert letters(tmp_path) == []
    api = PhoenixApi(phoenix_server.base_url)
    eventually(lambda: len(api.spans(project)) == 2)
    assert sorted(span["name"] for span in api.spans(project)) == ["answer", "retrieve"]
