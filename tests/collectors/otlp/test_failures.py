"""Acknowledged spans are delivered after any failure."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel.cli.demo.phoenix_server import free_port
from testkit import word_overlap_judge
from testkit.collector import SCORE, Backend, CollectorProcess, a_backend, a_collector
from testkit.http_receiver import http_receiver
from testkit.judge_server import Hang, JudgeServer
from testkit.otlp_requests import LANGCHAIN, a_rag_trace, a_request, a_span
from testkit.polling import eventually

pytestmark = pytest.mark.server


RETRY_INFO = "google.rpc.retryinfo-bin"
RETRY_INFO_TYPE = "google.rpc.RetryInfo"


def send(collector: CollectorProcess, traces: int) -> list[bytes]:
    """Sends one request per trace. Returns the ids of the spans of acknowledged traces."""
    sent: list[Span] = []
    for _ in range(traces):
        trace = a_rag_trace()
        collector.export(a_request(*trace))
        sent += trace
    return [span.span_id for span in sent]


def until_refused(
    collector: CollectorProcess, make: Callable[[], list[Span]], scope: str = LANGCHAIN, *, at_most: int = 200
) -> tuple[list[bytes], grpc.RpcError]:
    """Sends requests until one is rejected. Returns the ids of the acknowledged spans, and the rejection."""
    accepted: list[bytes] = []
    for _ in range(at_most):
        spans = make()
        try:
            collector.export(a_request(*spans, scope=scope))
        except grpc.RpcError as error:
            return accepted, error
        accepted += [span.span_id for span in spans]
    raise AssertionError("nothing was refused")


def evaluation_process(collector: CollectorProcess) -> int:
    """The id of the one process that evaluates."""
    children = Path(f"/proc/{collector.pid}/task/{collector.pid}/children")
    (found,) = map(int, children.read_text().split())
    return found


def scored(backend: Backend) -> int:
    return sum(SCORE in attributes for attributes in backend.attributes("answer"))


def test_a_backend_that_is_away_gets_everything_when_it_comes(tmp_path: Path) -> None:
    """Evaluated traces and other spans, accepted while no backend is available, are each delivered once."""
    port = free_port()
    with a_collector(tmp_path, "--backend", f"grpc://127.0.0.1:{port}") as collector:
        ids = send(collector, 10)
        web = a_span(b"\x21" * 16, "GET /")
        collector.export(a_request(web, scope="http"))
        eventually(lambda: collector.metric("send_retries_total") >= 2)
        assert collector.metric("backends_in_trouble") == 1
        with a_backend(port) as backend:
            eventually(lambda: len(backend.ids()) >= 21)
            assert sorted(backend.ids()) == sorted([*ids, web.span_id])
            assert scored(backend) == 10


@pytest.mark.long
def test_kill_9_of_the_collector_loses_nothing(tmp_path: Path) -> None:
    """The collector is killed with held, evaluated and other spans while its backend is down. The next process
    delivers them."""
    port = free_port()
    with a_collector(tmp_path, "--backend", f"grpc://127.0.0.1:{port}") as collector:
        ids = send(collector, 5)
        eventually(lambda: collector.metric("evaluated_traces_total") == 5)
        collector.kill()
        collector.start()
        # The root has not come: these are in the journal alone.
        child, root = a_rag_trace()
        collector.export(a_request(child))
        web = a_span(b"\x21" * 16, "GET /")
        collector.export(a_request(web, scope="http"))
        collector.kill()
        with a_backend(port) as backend:
            collector.start()
            collector.export(a_request(root))
            wanted = {*ids, child.span_id, root.span_id, web.span_id}
            eventually(lambda: set(backend.ids()) >= wanted)
            assert set(backend.ids()) == wanted
            eventually(lambda: scored(backend) == 6)


def test_sigterm_evaluates_and_forwards_what_is_held(tmp_path: Path) -> None:
    """A trace without a root span is evaluated and forwarded when the collector drains. The exit code is 0."""
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address, "--set", "idle=300") as collector:
        trace = a_rag_trace()
        trace[1].parent_span_id = b"\x01" * 8
        collector.export(a_request(*trace))
        assert collector.stop() == 0
        assert len(backend.ids()) == 2
        assert scored(backend) == 1


def test_sigterm_with_the_backend_away_keeps_it_on_disk(tmp_path: Path) -> None:
    """The exit code says that spans remain. The next process delivers them."""
    port = free_port()
    arguments = ("--backend", f"grpc://127.0.0.1:{port}", "--set", "drain_timeout=2")
    with a_collector(tmp_path, *arguments) as collector:
        ids = send(collector, 3)
        assert collector.stop() == 1
    with a_backend(port) as backend, a_collector(tmp_path, *arguments):
        eventually(lambda: set(backend.ids()) == set(ids))


def test_overload_is_answered_with_a_delay_and_loses_nothing(tmp_path: Path) -> None:
    """Too many traces are rejected with a retry delay that exporters understand, over both protocols. Accepted ones
    are delivered."""
    settings = ("--set", "max_traces=20")
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address, *settings) as collector:
        os.kill(worker := evaluation_process(collector), signal.SIGSTOP)  # traces stay where they are
        accepted, error = until_refused(collector, a_rag_trace)
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        trailing = dict(error.trailing_metadata())
        info = RetryInfo.FromString(trailing[RETRY_INFO])
        assert info.retry_delay.ToMilliseconds() == 2000
        assert RETRY_INFO_TYPE in Status.FromString(trailing["grpc-status-details-bin"]).details[0].type_url
        assert collector.get("/readyz")[0] == 503
        assert collector.metric("refused_requests_total", reason="too_many_traces") >= 1
        os.kill(worker, signal.SIGCONT)
        eventually(lambda: collector.get("/readyz")[0] == 200)
        accepted += send(collector, 1)
        eventually(lambda: len(backend.ids()) >= len(accepted))
        assert sorted(backend.ids()) == sorted(accepted)


def test_what_is_too_large_to_be_held_passes(tmp_path: Path) -> None:
    """A request with more than half of the memory limit is forwarded without evaluation, and counted."""
    settings = ("--set", "max_memory_bytes=100000")
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address, *settings) as collector:
        trace = a_rag_trace(chunk="x" * 60_000)
        collector.export(a_request(*trace))
        eventually(lambda: sorted(backend.ids()) == sorted(span.span_id for span in trace))
        assert scored(backend) == 0
        assert collector.metric("passed_spans_total", reason="too_large") == 2
        assert collector.metric("held_spans_total") == 0


def test_a_full_disk_queue_refuses_and_recovers(tmp_path: Path) -> None:
    """While the backend is down the queue reaches its limit, and rejections are counted. Later all accepted spans are
    delivered."""
    port = free_port()
    small = ("max_memory_bytes=100000", "max_request_bytes=100000", "max_disk_bytes=600000")
    settings = [part for each in small for part in ("--set", each)]
    with a_collector(tmp_path, "--backend", f"grpc://127.0.0.1:{port}", *settings) as collector:
        large = {"text": "x" * 20_000}
        accepted, error = until_refused(collector, lambda: [a_span(os.urandom(16), "large", attributes=large)], "http")
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert len(accepted) > 10
        assert collector.metric("refused_requests_total", reason="disk_queue_full") >= 1
        assert sum(path.stat().st_size for path in tmp_path.rglob("*.log")) <= 600_000
        with a_backend(port) as backend:
            eventually(lambda: sorted(backend.ids()) == sorted(accepted))
            collector.export(a_request(a_span(os.urandom(16), "after"), scope="http"))
            eventually(lambda: backend.attributes("after"))


def test_a_dead_evaluation_process_is_replaced(tmp_path: Path) -> None:
    """Its traces are forwarded without scores. The next ones are scored again."""
    with JudgeServer(answer=word_overlap_judge.answer) as judge, a_backend() as backend:
        judge.fail_next(Hang())
        environment = {
            "OPENAI_API_KEY": "none",
            "RAG_OTEL_JUDGE": "openai/test-judge",
            "RAG_OTEL_JUDGE_API_BASE": judge.url,
            "RAG_OTEL_EVALUATIONS_PER_MINUTE": "600",
        }
        with a_collector(tmp_path, "--backend", backend.address, env=environment) as collector:
            ids = send(collector, 1)
            eventually(lambda: judge.requests)  # the process waits for the judge
            os.kill(evaluation_process(collector), signal.SIGKILL)
            eventually(lambda: sorted(backend.ids()) == sorted(ids))
            eventually(lambda: collector.metric("evaluated_traces_total", status="failed") == 1)
            assert scored(backend) == 0
            send(collector, 1)
            eventually(lambda: scored(backend) == 1)
            assert collector.metric("worker_restarts_total") == 1


def test_a_span_that_the_backend_refuses_does_not_stop_the_others(tmp_path: Path) -> None:
    """A rejected batch is halved until the span is alone. Only that span is lost, and counted."""
    with http_receiver() as receiver, a_collector(tmp_path, "--backend", receiver.url) as collector:
        receiver.answers = [(400, {})] * 3
        spans = [a_span(os.urandom(16), f"span {n}") for n in range(4)]
        collector.export(a_request(*spans, scope="http"))
        # All four, the first two and the first one are refused; the second one and the other two are taken.
        eventually(lambda: len(receiver.exports) == 5)
        eventually(lambda: collector.metric("lost_spans_total") == 1)
        assert [len(request.body) > 0 for request in receiver.exports] == [True] * 5


def test_the_backends_own_delay_is_kept(tmp_path: Path) -> None:
    """RESOURCE_EXHAUSTED with RetryInfo, in both places where servers put it, delays the retry."""
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address) as collector:
        info = RetryInfo(retry_delay=Duration(nanos=50_000_000))
        detail = AnyMessage()
        detail.Pack(info)
        rich = Status(code=8, details=[detail]).SerializeToString()
        backend.answers.put((grpc.StatusCode.RESOURCE_EXHAUSTED, ((RETRY_INFO, info.SerializeToString()),)))
        backend.answers.put((grpc.StatusCode.RESOURCE_EXHAUSTED, (("grpc-status-details-bin", rich),)))
        ids = send(collector, 1)
        eventually(lambda: sorted(backend.ids()) == sorted(ids))
        assert collector.metric("send_retries_total") == 2


def test_several_backends_each_get_everything(tmp_path: Path) -> None:
    """One over gRPC with a header and one over HTTP with gzip, from a file. One that is down does not delay the
    others."""
    with a_backend() as first, http_receiver() as second:
        config = tmp_path / "collector.toml"
        config.write_text(
            f"""
            [[backends]]
            endpoint = "{first.address}"
            headers = {{ authorization = "Bearer s3cret" }}
            [[backends]]
            name = "second"
            endpoint = "{second.url}"
            compression = "gzip"
            [[backends]]
            name = "away"
            endpoint = "grpc://127.0.0.1:{free_port()}"
            """
        )
        with a_collector(tmp_path / "data", "--config", str(config)) as collector:
            ids = send(collector, 2)
            eventually(lambda: sorted(first.ids()) == sorted(ids))
            eventually(lambda: collector.metric("sent_requests_total", backend="second") >= 1)
            assert first.headers[0]["authorization"] == "Bearer s3cret"
            assert second.exports[0].headers["content-encoding"] == "gzip"
            assert not any("s3cret" in line for line in collector.lines)


def test_a_late_result_follows_as_an_evaluation_span(tmp_path: Path) -> None:
    """With hold=0 the target is forwarded with status late, and a linked span brings its scores."""
    arguments = ("--set", "hold=0", "--set", "drain_timeout=10")
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address, *arguments) as collector:
        trace = a_rag_trace()
        collector.export(a_request(*trace))
        (target,) = eventually(lambda: backend.attributes("answer"))
        assert target[semconv.STATUS] == "late"
        eventually(lambda: backend.attributes("evaluation faithfulness"))
        (carrier,) = [span for span in backend.spans() if span.name == "evaluation faithfulness"]
        assert carrier.trace_id == trace[1].trace_id
        assert carrier.links[0].span_id == trace[1].span_id
        assert collector.stop() == 0
