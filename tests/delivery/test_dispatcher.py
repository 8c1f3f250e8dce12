"""Dispatcher: nothing blocks, nothing is lost within the bound, every drop is counted."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import counters
from rag_otel.safety.tracing_suppression import is_own, is_suppressed
from testkit.polling import eventually
from tests.support.results import a_result

QUICK = ExportPolicy(linger_s=0.01, backoff_s=0.005, max_backoff_s=0.02, batch_items=4)
PATIENCE_S = 20.0
_numbers: Iterator[int] = iter(range(10_000))


class RecordingWriter:
    """A destination in memory; `fault` is called before each batch is taken and may raise or block."""

    def __init__(self, fault: Callable[[], None] = lambda: None) -> None:
        self.name = f"recording_{next(_numbers)}"
        self.batches: list[list[EvaluatedTrace]] = []
        self.attempts = 0
        self._fault = fault

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        self.attempts += 1
        self._fault()
        self.batches.append(list(batch))

    @property
    def results(self) -> list[EvaluatedTrace]:
        return [result for batch in self.batches for result in batch]

    def count(self, what: str) -> int:
        return counters.get(f"delivery.{self.name}.{what}")


def raising(error: Exception, times: int) -> Callable[[], None]:
    """A fault that happens `times` times and then is over."""
    left = iter(range(times))

    def fault() -> None:
        if next(left, None) is not None:
            raise error

    return fault


def test_results_arrive_in_order_and_in_batches() -> None:
    """What is submitted together goes out together, up to the batch's size."""
    writer = RecordingWriter()
    delivery = Dispatcher([writer], policy=ExportPolicy(linger_s=60, batch_items=4))
    results = [a_result() for _ in range(10)]
    for result in results:
        delivery.submit(result)
    assert delivery.flush(PATIENCE_S)
    assert writer.results == results
    assert max(len(batch) for batch in writer.batches) == 4
    assert writer.count("sent") == 10


def test_a_writer_may_ask_for_bounds_of_its_own() -> None:
    """One that says how its results are to be batched is listened to, unless the set-up says otherwise."""

    class Single(RecordingWriter):
        export_policy = ExportPolicy(batch_items=1)

    own, overruled = Single(), Single()
    for writer, policy in ((own, None), (overruled, ExportPolicy(batch_items=3, linger_s=60))):
        delivery = Dispatcher([writer], policy=policy)
        for _ in range(3):
            delivery.submit(a_result())
        assert delivery.flush(PATIENCE_S)
    assert [len(batch) for batch in own.batches] == [1, 1, 1]
    assert [len(batch) for batch in overruled.batches] == [3]


def test_no_thread_runs_before_the_first_result() -> None:
    """A set-up that never evaluates costs no thread, and its threads keep no process from ending."""
    before = set(threading.enumerate())
    delivery = Dispatcher([RecordingWriter()], policy=QUICK)
    assert set(threading.enumerate()) <= before
    delivery.submit(a_result())
    started = set(threading.enumerate()) - before
    assert all(each.daemon for each in started)
    delivery.shutdown(PATIENCE_S)


def test_two_destinations_that_hang_hold_up_nobody_and_cost_a_thread_each() -> None:
    """A third one gets everything meanwhile; nobody starts a thread for a destination that answers."""
    go_on = threading.Event()
    hanging = [RecordingWriter(lambda: go_on.wait() and None) for _ in range(2)]
    healthy = [RecordingWriter() for _ in range(6)]
    before = set(threading.enumerate())
    delivery = Dispatcher([*hanging, *healthy], policy=QUICK)
    for count in (1, 2, 3):
        delivery.submit(a_result())
        eventually(lambda count=count: all(len(each.results) == count for each in healthy))  # type: ignore[misc]
        # On a busy machine one that answers may be taken for one that hangs; its thread ends soon after.
        eventually(lambda: len(set(threading.enumerate()) - before) <= 4)
    assert not any(each.results for each in hanging)
    go_on.set()
    assert delivery.flush(PATIENCE_S)
    assert all(len(each.results) == 3 for each in hanging)
    delivery.shutdown(PATIENCE_S)


def test_a_destination_that_comes_back_gets_everything_once() -> None:
    """Retried in order until it works; nothing is lost, nothing is doubled."""
    writer = RecordingWriter(raising(RetryableError("down"), 5))
    delivery = Dispatcher([writer], policy=QUICK)
    results = [a_result() for _ in range(9)]
    for result in results:
        delivery.submit(result)
    eventually(lambda: writer.count("sent") == 9)
    assert writer.results == results
    assert writer.count("retries") == 5
    assert writer.count("lost") == 0


def test_the_wait_that_the_other_side_asks_for_is_kept() -> None:
    """A Retry-After far beyond our own backoff holds the batch; a flush asks again at once."""
    writer = RecordingWriter(raising(RetryableError("busy", retry_after_s=3600), 1))
    delivery = Dispatcher([writer], policy=QUICK)
    delivery.submit(a_result())
    eventually(lambda: writer.count("retries") == 1)
    assert writer.attempts == 1
    assert delivery.flush(PATIENCE_S)
    assert writer.attempts == 2


@pytest.mark.parametrize("error", [PermanentError("HTTP 401"), KeyError("bug")])
def test_what_cannot_work_is_counted_logged_once_and_left(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """A refused batch, or a writer's own bug, loses that batch alone."""
    writer = RecordingWriter(raising(error, 2))
    delivery = Dispatcher([writer], policy=QUICK)
    for _ in range(3):
        delivery.submit(a_result())
        assert delivery.flush(PATIENCE_S)
    assert writer.count("lost") == 2
    assert len(writer.results) == 1
    assert len([r for r in caplog.records if writer.name in r.getMessage()]) == 1


def test_a_batch_is_given_up_in_the_end() -> None:
    """One poisonous batch cannot hold up the rest for ever."""
    writer = RecordingWriter(raising(RetryableError("HTTP 500"), 1))
    delivery = Dispatcher([writer], policy=ExportPolicy(linger_s=0, give_up_after_s=-1))
    delivery.submit(a_result())
    eventually(lambda: writer.count("lost") == 1)
    delivery.submit(a_result())
    assert delivery.flush(PATIENCE_S)
    assert len(writer.results) == 1


def test_a_destination_that_hangs_holds_up_nobody() -> None:
    """The others get everything, the caller returns, and flush says that something is left."""
    release = threading.Event()
    hanging, healthy = RecordingWriter(lambda: assert_released(release)), RecordingWriter()
    delivery = Dispatcher([hanging, healthy], policy=QUICK)
    delivery.submit(a_result())
    eventually(lambda: healthy.count("sent") == 1)
    assert not delivery.flush(0.05)
    assert not hanging.results
    release.set()
    assert delivery.flush(PATIENCE_S)
    assert len(hanging.results) == 1


def assert_released(release: threading.Event) -> None:
    """Wait like a server that does not answer."""
    assert release.wait(PATIENCE_S)


@pytest.mark.parametrize("bound", [ExportPolicy(max_items=3, linger_s=60), ExportPolicy(max_bytes=20_000, linger_s=60)])
def test_a_full_queue_refuses_the_newcomer_and_counts_it(bound: ExportPolicy) -> None:
    """Items and bytes are bounded; admitted work stays."""
    writer = RecordingWriter()
    delivery = Dispatcher([writer], policy=bound)
    results = [a_result() for _ in range(50)]
    for result in results:
        delivery.submit(result)
    assert writer.count("refused") > 0
    assert delivery.flush(PATIENCE_S)
    assert writer.results == results[: 50 - writer.count("refused")]


def test_shutdown_delivers_in_its_time_and_counts_the_rest() -> None:
    """What works is delivered, what does not is counted as abandoned, later results are refused."""
    healthy, down = RecordingWriter(), RecordingWriter(raising(RetryableError("down"), 10_000))
    delivery = Dispatcher([healthy, down], policy=ExportPolicy(linger_s=60))
    for _ in range(3):
        delivery.submit(a_result())
    delivery.shutdown(0.2)
    delivery.shutdown(0.2)
    assert len(healthy.results) == 3
    assert down.count("abandoned") == 3
    delivery.submit(a_result())
    assert healthy.count("refused") == 1
    assert delivery.flush(0)


def test_a_flush_does_not_wait_for_what_is_known_to_be_down() -> None:
    """One attempt where it failed before; a healthy destination beside it still gets everything."""
    healthy, down = RecordingWriter(), RecordingWriter(raising(RetryableError("down"), 10_000))
    delivery = Dispatcher([down, healthy], policy=ExportPolicy(linger_s=0, backoff_s=3600, max_backoff_s=3600))
    delivery.submit(a_result())
    eventually(lambda: down.count("retries") == 1)
    attempts = down.attempts
    assert not delivery.flush(24 * 3600)
    assert down.attempts == attempts + 1
    assert healthy.count("sent") == 1


def test_a_flush_tries_a_destination_that_has_just_gone_a_few_times() -> None:
    """A hiccup is waited for, an outage is not."""
    hiccup, outage = (
        RecordingWriter(raising(RetryableError("503"), 2)),
        RecordingWriter(raising(RetryableError("x"), 99)),
    )
    delivery = Dispatcher([hiccup, outage], policy=ExportPolicy(linger_s=60, backoff_s=0.005))
    delivery.submit(a_result())
    assert not delivery.flush(24 * 3600)
    assert hiccup.count("sent") == 1
    assert outage.attempts >= 3


def test_results_that_come_while_the_interpreter_ends_are_sent_by_the_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.12 on no thread can be started then; short scripts finish their evaluations exactly there."""

    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    healthy, down = RecordingWriter(), RecordingWriter(raising(RetryableError("down"), 10))
    delivery = Dispatcher([healthy, down], policy=QUICK)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        for _ in range(5):
            delivery.submit(a_result())
        assert not delivery.flush(0.2)
        delivery.shutdown(0.2)
    assert len(healthy.results) == 5
    assert healthy.count("sent") == 5
    assert down.count("abandoned") == 5


def test_submit_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of ours is counted, not handed to the worker that evaluates."""
    monkeypatch.delenv("RAG_OTEL_RAISE_INTERNAL_ERRORS")
    before = counters.get("internal_error.delivery.submit")
    Dispatcher([RecordingWriter()]).submit(None)  # type: ignore[arg-type]
    assert counters.get("internal_error.delivery.submit") == before + 1


def test_writing_makes_no_spans_in_the_applications_tracing() -> None:
    """Instrumented HTTP clients see a suppressed context on the delivery thread."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    seen: list[bool] = []

    def fault() -> None:
        with provider.get_tracer("http-client").start_as_current_span("POST") as span:
            seen.append(is_suppressed() and (not span.is_recording() or is_own(span.get_span_context())))

    delivery = Dispatcher([RecordingWriter(fault)], policy=QUICK)
    delivery.submit(a_result())
    assert delivery.flush(PATIENCE_S)
    assert seen == [True]
    assert not exporter.get_finished_spans()


def test_a_forked_child_delivers_its_own_results_only() -> None:
    """The parent keeps what it has, the child starts empty, with a thread and locks of its own."""
    reader, sender = os.pipe()

    class PipeWriter:
        name = f"pipe_{next(_numbers)}"

        def write(self, batch: Sequence[EvaluatedTrace]) -> None:
            os.write(sender, b"".join(f"{os.getpid()}:{r.trace.target.span_id}\n".encode() for r in batch))

    delivery = Dispatcher([PipeWriter()], policy=ExportPolicy(linger_s=60))
    parents = a_result()
    delivery.submit(parents)
    child = os.fork()
    if child == 0:
        delivery.after_fork()
        childs = a_result()
        delivery.submit(childs)
        os._exit(0 if delivery.flush(PATIENCE_S) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert delivery.flush(PATIENCE_S)
    lines = os.read(reader, 4096).decode().split()
    assert len(lines) == 2
    assert lines[0].startswith(f"{child}:")
    assert lines[1] == f"{os.getpid()}:{parents.trace.target.span_id}"


def test_submitting_from_many_threads_loses_nothing() -> None:
    """The collector and the in-process worker may share one delivery."""
    writer = RecordingWriter()
    delivery = Dispatcher([writer], policy=QUICK)

    def submit() -> None:
        for _ in range(50):
            delivery.submit(a_result())

    threads = [threading.Thread(target=submit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert delivery.flush(PATIENCE_S)
    assert len({result.trace.target.span_id for result in writer.results}) == 400
